// Questions about whole programs, which State answers step by step: whether a program is valid, which steps may be
// refused, whether a host function may race.
#include <fmt/format.h>

#include <algorithm>

#include "verify/program/rules.h"
#include "verify/program/state.h"

namespace verify {

std::uint32_t repeats_that_matter(const Step& step) {
  return std::visit([&]<class C>(const C&) { return Rules<C>::repeats_that_matter(step.repeat); }, step.command);
}

std::optional<Invalid> validate(const Program& program) {
  State state;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) {
      if (Reason reason = state.check(step.command)) return Invalid{i, step.line, *reason};
      state.apply(step.command);
    }
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
