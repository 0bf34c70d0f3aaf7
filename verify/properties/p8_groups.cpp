// P8 on groups of commands: what a runtime keeps by a group (begin, work, end; instantiate, launch, destroy) and not by
// any single command. The contract is in cycles.h.
#include <algorithm>
#include <utility>

#include "verify/program/blocks.h"
#include "verify/program/state.h"
#include "verify/properties/cycles.h"

namespace verify {

namespace {

constexpr int kMostRepairs = 64;                 // steps that are left out one by one
constexpr std::uint64_t kMostGroupSteps = 1024;  // in all rounds
constexpr std::uint64_t kMostVisits = 1 << 17;   // of nodes, if each command of each round visits the largest graph
constexpr std::uint64_t kMostGroupNodes =
    4096;  // of the largest graph, in all rounds: the executor keeps notes of each

// Whether the command names something that is always there, and that cannot be given back.
bool is_for_good(const Command& command) {
  if (const auto* stream = std::get_if<DeclareStream>(&command)) return stream->per_thread;
  const auto* pool = std::get_if<DeclarePool>(&command);
  return pool != nullptr && pool->of_device;
}

bool declares_memory_or_stream(const Step& step) {
  return std::holds_alternative<DeclareBuffer>(step.command) || std::holds_alternative<DeclareStream>(step.command);
}

// Whether the command ends something that was there before the group, so that no later round has it, or leaves a
// reference with it.
bool changes_for_good(const State& before, const Command& command) {
  const auto alone = [&before](Id buffer) { return before.buffer(buffer) != nullptr && !before.buffer(buffer)->graph; };
  if (const auto* freed = std::get_if<Free>(&command)) return alone(freed->buffer);
  if (const auto* freed = std::get_if<FreeAsync>(&command)) return alone(freed->buffer);
  if (const auto* kept = std::get_if<RetainUserObject>(&command)) return before.graph(kept->graph) != nullptr;
  if (const auto* removed = std::get_if<RemoveNode>(&command)) return before.graph(removed->graph) != nullptr;
  const auto* destroyed = std::get_if<Destroy>(&command);
  if (destroyed == nullptr) return false;
  switch (destroyed->target) {
    case Target::kGraph:
      return before.graph(destroyed->id) != nullptr;
    case Target::kExec:
      return before.exec(destroyed->id) != nullptr;
    case Target::kStream:
      return before.parts().streams.find(destroyed->id) != nullptr;
    case Target::kEvent:
      return before.parts().events.find(destroyed->id) != nullptr;
    case Target::kDevice:
      break;
  }
  return false;
}

// Whether a group may hold the step at all. Systems, modules and places that are handed on keep more with each round.
bool may_stand_in_group(const State& before, const State& state, const Command& command) {
  if (is_for_good(command) || changes_for_good(before, command)) return false;
  if (arms_failure(command) || std::holds_alternative<SystemAction>(command)) return false;
  if (std::holds_alternative<LoadModule>(command)) return false;
  // A graph whose capture failed is left alone to the end.
  if (const auto* capture = std::get_if<BeginCapture>(&command)) return !capture->into;
  if (const auto* move = std::get_if<MoveBuffers>(&command))
    return std::ranges::none_of(move->moves, [](const BufferMove& each) { return each.onto.has_value(); });
  // A graph with memory nodes that is recorded again reserves memory anew.
  if (std::holds_alternative<SetNode>(command) || std::holds_alternative<Patch>(command))
    return !state.check(command) && state.may_stand_again(command);
  return true;
}

// Whether the command launches nodes that allocate. AMD's 7.2 keeps something of each executable graph that did, after
// all of it was given back, and whether that is a leak or the graphs' cache is open.
bool launches_allocations(const State& state, const Command& command) {
  const auto* launch = std::get_if<Launch>(&command);
  const ExecState* exec = launch == nullptr ? nullptr : state.exec(launch->exec);
  return exec != nullptr && std::ranges::any_of(exec->graph.nodes, [](const NodeState& node) {
           return std::holds_alternative<MemoryAllocParams>(node.params);
         });
}

// The commands that give back what is there in `after` and was not in `before`.
std::vector<Command> give_back(const State& before, const State& after) {
  std::vector<Command> commands{Synchronize{}};
  for (const auto& [id, exec] : after.execs()) {
    if (exec.alive && before.exec(id) == nullptr) commands.emplace_back(Destroy{Target::kExec, id});
  }
  for (const auto& [id, buffer] : after.buffers()) {
    if (before.buffer(id) == nullptr && (buffer.graph ? buffer.unfreed : buffer.alive)) commands.emplace_back(Free{id});
  }
  for (const auto& [id, graph] : after.graphs()) {
    if (graph.alive && before.graph(id) == nullptr) commands.emplace_back(Destroy{Target::kGraph, id});
  }
  for (const auto& [id, references] : after.user_objects()) {
    if (!before.user_objects().contains(id))
      commands.insert(commands.end(), references, Command(ReleaseUserObject{id, {}}));
  }
  for (const Id id : after.live_events()) {
    if (before.parts().events.find(id) == nullptr) commands.emplace_back(Destroy{Target::kEvent, id});
  }
  for (const Id id : after.live_streams()) {
    if (id != kNullStream && before.parts().streams.find(id) == nullptr)
      commands.emplace_back(Destroy{Target::kStream, id});
  }
  for (const auto& [id, pool] : after.pools()) {
    if (pool.alive && !before.pools().contains(id)) commands.emplace_back(DestroyPool{id});
  }
  commands.emplace_back(Synchronize{});
  return commands;
}

std::uint64_t nodes_of_largest(const State& state) {
  std::uint64_t most = 1;
  for (const auto& [id, graph] : state.graphs()) most = std::max(most, graph.instances);
  for (const auto& [id, exec] : state.execs()) most = std::max(most, exec.graph.instances);
  return most;
}

std::uint64_t nodes_of_all(const State& state) {
  std::uint64_t nodes = 0;
  for (const auto& [id, graph] : state.graphs()) nodes += graph.instances;
  for (const auto& [id, exec] : state.execs()) nodes += exec.graph.instances;
  return nodes;
}

// The steps before `begin`, and the group in a block of `times` rounds. Its buffers are declared before the block: an
// arena is as large as all buffers of a program. No value where the rounds would run for long, or launch allocations.
std::optional<Program> written_group(const Program& program, std::size_t begin, std::uint32_t times) {
  Program written;
  written.setting = program.setting;
  std::vector<Step> group;
  State state, before;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (i == begin) before = state;
    Step step = program.steps[i];
    step.in = {};
    if (i < begin ? arms_failure(step.command) : !may_stand_in_group(before, state, step.command)) continue;
    if (state.check(step.command)) continue;
    if (i >= begin && launches_allocations(state, step.command)) return {};
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) state.apply(step.command);
    if (i >= begin && !std::holds_alternative<DeclareBuffer>(step.command)) {
      step.in = {1, times, 0};
      group.push_back(std::move(step));
    } else {
      if (i >= begin) before.apply(step.command);
      written.steps.push_back(std::move(step));
    }
  }
  std::uint64_t steps = 0;
  for (const Step& step : group) steps += std::uint64_t{times} * step.repeat;
  if (steps > kMostGroupSteps || steps * nodes_of_largest(state) > kMostVisits) return {};
  if (times * nodes_of_all(state) > kMostGroupNodes) return {};
  written.steps.insert(written.steps.end(), group.begin(), group.end());
  for (Command& command : give_back(before, state)) written.steps.push_back({std::move(command), 1, 0, {1, times, 0}});
  return written;
}

}  // namespace

std::vector<std::size_t> groups_of(const Program& program) {
  // Where little memory is free, programs allocate tens of megabytes.
  const bool little = std::ranges::any_of(
      program.steps, [](const Step& step) { return std::holds_alternative<DeviceMemory>(step.command); });
  if (little || has_blocks(program)) return {};
  const auto begin = std::ranges::find_if_not(program.steps, declares_memory_or_stream);
  const auto first = std::find_if(begin, program.steps.end(),
                                  [](const Step& step) { return std::holds_alternative<Instantiate>(step.command); });
  std::vector<std::size_t> groups;
  if (begin != program.steps.end()) groups.push_back(static_cast<std::size_t>(begin - program.steps.begin()));
  if (program.steps.end() - first > 1) groups.push_back(static_cast<std::size_t>(first - program.steps.begin()) + 1);
  return groups;
}

std::optional<Program> grouped(const Program& program, std::size_t begin, std::uint32_t times) {
  std::optional<Program> written = written_group(program, begin, times);
  for (int repairs = 0; written && repairs < kMostRepairs; ++repairs) {
    std::optional<Program> all = all_rounds(*written);
    if (!all) return {};
    const std::optional<Invalid> invalid = validate(*all);
    if (!invalid) return all;
    const std::size_t at = in_first_round(*all, invalid->step);
    if (all->steps[at].in.block == 0 || at + 1 == written->steps.size()) return {};  // the round keeps something
    written->steps.erase(written->steps.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return {};
}

}  // namespace verify
