// Questions about whole programs, which State answers step by step: whether a program is valid, which steps may be
// refused, whether a host function may race.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>
#include <vector>

#include "verify/program/names.h"
#include "verify/program/rules.h"
#include "verify/program/state.h"
#include "verify/program/state_devices.h"
#include "verify/program/threads.h"

namespace verify {

std::uint32_t repeats_that_matter(const Step& step) {
  return std::visit([&]<class C>(const C&) { return Rules<C>::repeats_that_matter(step.repeat); }, step.command);
}

namespace {

// How a program knows the objects of one letter.
struct ObjectsOfLetter {
  char letter;
  bool (*known)(const State& state, Id id);
  bool (*held)(const State& state, Id id);  // a known object that the program has not given back
};

// Memory that a graph allocates goes with the graph, where it was freed.
bool holds_memory(const State& state, Id id) {
  const BufferState& buffer = *state.buffer(id);
  return buffer.alive && (!buffer.graph || buffer.unfreed || state.graph(*buffer.graph)->alive);
}

constexpr std::array kObjects{
    ObjectsOfLetter{'b', [](const State& state, Id id) { return state.buffer(id) != nullptr; }, holds_memory},
    ObjectsOfLetter{'g', [](const State& state, Id id) { return state.graph(id) != nullptr; },
                    [](const State& state, Id id) { return state.graph(id)->alive; }},
    ObjectsOfLetter{'e', [](const State& state, Id id) { return state.exec(id) != nullptr; },
                    [](const State& state, Id id) { return state.exec(id)->alive; }},
    ObjectsOfLetter{'s', [](const State& state, Id id) { return state.parts().streams.find(id) != nullptr; },
                    [](const State& state, Id id) { return state.parts().streams.alive(id); }},
    ObjectsOfLetter{'v', [](const State& state, Id id) { return state.parts().events.find(id) != nullptr; },
                    [](const State& state, Id id) { return state.parts().events.find(id)->alive; }},
    ObjectsOfLetter{'p', [](const State& state, Id id) { return state.pools().contains(id); },
                    [](const State& state, Id id) { return state.pools().at(id).alive; }},
    ObjectsOfLetter{'r', [](const State& state, Id id) { return state.ranges().contains(id); },
                    [](const State& state, Id id) { return state.ranges().at(id).alive; }},
    ObjectsOfLetter{'h', [](const State& state, Id id) { return state.memories().contains(id); },
                    [](const State& state, Id id) { return state.memories().at(id).alive; }},
    ObjectsOfLetter{'m', [](const State& state, Id id) { return state.parts().modules.contains(id); },
                    [](const State& state, Id id) { return state.parts().modules.at(id); }},
    ObjectsOfLetter{'u', [](const State& state, Id id) { return state.user_objects().contains(id); },
                    [](const State& state, Id id) { return state.user_objects().at(id) != 0; }}};

const ObjectsOfLetter& objects_of(char letter) {
  const auto* found = std::ranges::find(kObjects, letter, &ObjectsOfLetter::letter);
  assert(found != kObjects.end());
  return *found;
}

// The names that one round of a block makes.
class NamesOfRound {
 public:
  void begin_step(const State& state, const Step& step) {
    if (step.in.block == 0 || step.in.thread != 0) return;
    Command command = step.command;
    for_each_name(command, [&](char letter, const Id& id, bool is_made) {
      if (is_made && !objects_of(letter).known(state, id)) made_.emplace_back(letter, id);
    });
  }
  // Why the round may not end here, or nothing.
  [[nodiscard]] Reason end_round(const State& state) {
    for (const auto& [letter, id] : std::exchange(made_, {})) {
      const ObjectsOfLetter& objects = objects_of(letter);
      if (objects.known(state, id) && objects.held(state, id))
        return fmt::format("the round ends and does not give back {}{}", letter, id);
    }
    return {};
  }

 private:
  std::vector<std::pair<char, Id>> made_;
};

bool ends_round(const Program& program, std::size_t step) {
  const InBlock& in = program.steps[step].in;
  if (in.block == 0 || in.thread != 0) return false;
  if (step + 1 == program.steps.size()) return true;
  const InBlock& next = program.steps[step + 1].in;
  return next.block != in.block || next.round != in.round;
}

Invalid invalid(const Program& program, std::size_t at, const std::string& reason) {
  const Step& step = program.steps[at];
  return {at, step.line, step.in.round == 0 ? reason : fmt::format("{} (in round {})", reason, step.in.round + 1)};
}

}  // namespace

std::optional<Invalid> validate(const Program& program) {
  State state;
  NamesOfRound names;
  ThreadRules threads(devices_needed(program));
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    names.begin_step(state, step);
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) {
      if (Reason reason = state.check(step.command)) return invalid(program, i, *reason);
      if (Reason reason = threads.check(state, step)) return invalid(program, i, *reason);
      state.apply(step.command);
    }
    if (Reason reason = threads.check_after(state, step)) return invalid(program, i, *reason);
    if (!ends_round(program, i)) continue;
    if (Reason reason = names.end_round(state)) return invalid(program, i, *reason);
  }
  return {};
}

std::vector<bool> refusable_steps(const Program& program) {
  State state;
  std::vector<bool> steps;
  for (const Step& step : program.steps) {
    bool refusable = false;  // in any repetition: a second launch may be refused if memory is not freed
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) {
      refusable = refusable || state.may_be_refused(step.command);
      state.apply(step.command);
    }
    steps.push_back(refusable);
  }
  return steps;
}

namespace {

bool has_host_memory(const GraphState& graph) {
  return std::ranges::any_of(graph.nodes, [](const NodeState& node) {
    const auto* host = std::get_if<HostParams>(&node.params);
    return (host != nullptr && host->memory) || (node.child && has_host_memory(*node.child));
  });
}

// Whether some node of `graph` races with an unordered one; only asked of graphs with host functions in them.
bool has_race(const State& state, const GraphState& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeState& node = graph.nodes[i];
    if (state.node_races(graph, node.ranges, node.after, static_cast<int>(i))) return true;
    if (node.child && has_host_memory(*node.child) && has_race(state, *node.child)) return true;
  }
  return false;
}

// Follows a program, and notes whether a host function with memory of a program may still be running.
class HostRaces {
 public:
  [[nodiscard]] Reason find(const State& state, const Enqueue& work) {
    const auto* host = std::get_if<HostParams>(&work.params);
    launched_ = launched_ || (host != nullptr && host->memory);
    std::vector<ByteRange> ranges;
    append_ranges(work.params, 1, ranges);
    if (!launched_ || !state.work_races(ranges, work.stream)) return {};
    return fmt::format("a host function races with work of s{}", work.stream);
  }
  [[nodiscard]] Reason find(const State& state, const Launch& launch) {
    const GraphState& graph = state.exec(launch.exec)->graph;
    const bool host = has_host_memory(graph);
    launched_ = launched_ || host;
    if (host && has_race(state, graph))
      return fmt::format("a host function of e{} races with another node", launch.exec);
    if (!launched_ || !state.launch_races(launch.exec, launch.stream)) return {};
    return fmt::format("a host function races with a launch of e{}", launch.exec);
  }

 private:
  bool launched_ = false;
};

}  // namespace

Reason host_race(const Program& program) {
  State state;
  HostRaces races;
  for (const Step& step : program.steps) {
    if (const auto* work = std::get_if<Enqueue>(&step.command)) {
      if (Reason reason = races.find(state, *work)) return reason;
    }
    if (const auto* launch = std::get_if<Launch>(&step.command)) {
      if (Reason reason = races.find(state, *launch)) return reason;
    }
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) state.apply(step.command);
  }
  return {};
}

}  // namespace verify
