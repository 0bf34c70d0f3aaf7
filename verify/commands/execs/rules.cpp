// The rules of the commands about executable graphs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "verify/commands/captures/answers.h"
#include "verify/commands/define_rules.h"
#include "verify/commands/nodes/node_rules.h"
#include "verify/commands/stream_memory/placed_memory.h"
#include "verify/program/graph_events.h"

namespace verify {

// ---- Instantiate

template <>
constexpr Traits kTraits<Instantiate>{kCheckInCapture, kSucceeds, kSometimesRefusable, kNothingSeen, kNoDevice,
                                      kTwice,          kOnce};

static Reason flaw_of_flags(const Instantiate& c) {
  if (c.form == InstantiateForm::kPlain && c.flags != 0) return "the plain form takes no flags";
  // CUDA, cudaGraphInstantiateFlagUpload: only supported by cudaGraphInstantiateWithParams.
  if (c.form == InstantiateForm::kFlags && (c.flags & kUploadAtOnce) != 0) return "only form=params uploads";
  if ((c.flags & ~(kAutoFreeOnLaunch | kUploadAtOnce | kUseNodePriority)) != 0) return "there is no such flag";
  return {};
}

template <>
Reason check(const State& state, const Instantiate& c) {
  if (Reason reason = state.missing_graph(c.graph)) return reason;
  if (state.exec(c.exec) != nullptr) return fmt::format("e{} was instantiated already", c.exec);
  const GraphState& graph = *state.graph(c.graph);
  if (!state.current(graph)) return fmt::format("g{} has buffers at old addresses: patch it first", c.graph);
  if (Reason reason = state.unmapped(graph)) return reason;
  if (Reason reason = flaw_of_flags(c)) return reason;
  if (!graph.has_memory) return {};
  for (const auto& [id, exec] : state.execs()) {
    if (exec.alive && exec.origin == c.graph) return "a graph with memory nodes has one executable graph at a time";
  }
  // Recorded again, the graph could have other memory than the executable graph that is gone.
  return state.unfreed_memory(graph) ? Reason(kFreedFirst) : Reason();
}

template <>
Reason check_in_capture(const State& state, const Instantiate& c) {
  return captured_into(state, c.graph);
}

template <>
bool may_be_refused(const State& state, const Instantiate& c) {
  const GraphState* graph = state.graph(c.graph);
  return graph != nullptr && graph->cyclic;
}

template <>
void apply(State& state, const Instantiate& c) {
  GraphsState& graphs = state.change().graphs;
  const GraphState& graph = graphs.graphs.at(c.graph);
  graphs.execs[c.exec] = {!graph.cyclic, c.graph, graph, c.flags, {}, {}};  // instantiating a cycle is refused
}

// ---- Launch

template <>
constexpr Traits kTraits<Launch>{kLegalInCapture, kAnswers, kSometimesRefusable, kNothingSeen,
                                 kNoDevice,       kTwice,   kSometimesAgain};

template <>
CaptureAnswer answer(const State& state, const Launch& c) {
  return answer_to_work(state, c.stream);
}

namespace {

// A launch on a stream that captures becomes a child graph node.
Reason check_captured_launch(const State& state, const Launch& c) {
  const CaptureState* capture = state.capture_of(c.stream);
  if (capture == nullptr) return {};
  const GraphState& inner = state.exec(c.exec)->graph;
  const auto disabled = [](const NodeState& node) { return !node.enabled; };
  if (std::ranges::any_of(inner.nodes, disabled)) return "what a capture makes of a disabled node is not documented";
  if (inner.depth + 1 > kMaxNest) return fmt::format("graphs nest at most {} deep", kMaxNest);
  if (capture->graph.instances + inner.instances >= kMaxInstances) return "a graph of so many nodes is too large";
  for (const auto& [buffer, version] : inner.addresses) {
    const auto known = capture->graph.addresses.find(buffer);
    if (known != capture->graph.addresses.end() && known->second != state.buffer(buffer)->version)
      return fmt::format("b{} moved since the graph was recorded: patch it first", buffer);
  }
  return {};
}

// CUDA, cudaGraphAddMemFreeNode: memory of another graph is freed where it is there.
Reason frees_missing_memory(const State& state, const ExecState& exec) {
  if (!exec.graph.has_memory) return {};
  for (const NodeState& node : exec.graph.nodes) {
    const auto* freed = std::get_if<MemoryFreeParams>(&node.params);
    if (freed == nullptr || state.buffer(freed->buffer)->graph == exec.origin) continue;
    if (Reason reason = not_there(state, freed->buffer)) return reason;
  }
  return {};
}

Reason old_address(const State& state, Id exec) {
  const std::vector<Id> stale = state.stale_buffers(state.exec(exec)->graph);
  if (stale.empty()) return {};
  if (!state.buffer(stale.front())->alive) return fmt::format("e{} uses b{}, which was freed", exec, stale.front());
  return fmt::format("e{} has b{} at an old address: patch it first", exec, stale.front());
}

}  // namespace

template <>
Reason check(const State& state, const Launch& c) {
  if (Reason reason = state.missing_exec(c.exec)) return reason;
  if (Reason reason = state.missing_stream(c.stream)) return reason;
  if (Reason reason = old_address(state, c.exec)) return reason;
  if (Reason reason = state.unmapped(state.exec(c.exec)->graph)) return reason;
  if (Reason reason = check_captured_launch(state, c)) return reason;
  const GraphState& graph = state.exec(c.exec)->graph;
  if (graph.has_memory && !state.captures().empty()) return kMemoryInCapture;
  if (Reason reason = frees_missing_memory(state, *state.exec(c.exec))) return reason;
  if (graph.has_memory && state.device_of_stream(c.stream) != 0)
    return "what graphs allocate is device 0's, and so are the streams that they are launched on";
  return state.capture_of(c.stream) != nullptr ? Reason{} : state.unreachable(graph);
}

template <>
bool may_be_refused(const State& state, const Launch& c) {
  const ExecState* exec = state.exec(c.exec);
  return exec != nullptr && state.unfreed_memory(exec->graph);
}

namespace {

void add_child(const StateParts& parts, CaptureState& capture, const ExecState& exec) {
  NodeState& node = capture.graph.nodes.back();
  node.params = ChildParams{exec.origin, 1};
  node.child = std::make_shared<const GraphState>(exec.graph);
  node.ranges = exec.graph.ranges();
  parts.memory.note_addresses(capture.graph, node);
  count_node(capture.graph, node);
}

void allocate_and_free(MemoryState& memory, const ExecState& exec) {
  const GraphState& graph = exec.graph;
  for (const NodeState& node : graph.nodes) {
    if (const auto* freed = std::get_if<MemoryFreeParams>(&node.params)) {
      BufferState& buffer = memory.buffers.at(freed->buffer);
      buffer.unfreed = false;
      buffer.freed_by_program = buffer.graph != exec.origin;
    }
    const auto* allocation = std::get_if<MemoryAllocParams>(&node.params);
    if (allocation == nullptr) continue;
    BufferState& buffer = memory.buffers.at(allocation->buffer);
    buffer.unfreed = !graph.frees(allocation->buffer);
    buffer.freed_by_program = false;
  }
}

// A launch takes one tick for each group of nodes (LaunchOrder::groups).
void launch_with_events(StateParts& parts, const Launch& c) {
  const GraphState& graph = parts.graphs.execs.at(c.exec).graph;
  const LaunchOrder order = launch_order(graph);
  const Clock before = parts.streams.launch_clock(c.stream);
  const auto found = before.find(c.stream);
  const std::uint64_t first = (found == before.end() ? 0 : found->second) + 1;
  const std::size_t groups = order.records.size() + 1;
  std::vector<Pending> pending(groups);
  Clock after = before;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    std::vector<ByteRange>& ranges = pending[order.groups[i]].ranges;
    ranges.insert(ranges.end(), graph.nodes[i].ranges.begin(), graph.nodes[i].ranges.end());
    after = parts.events.behind(after, order.behind[i]);
  }
  std::vector<Clock> recorded;
  for (std::size_t k = 0; k + 1 < groups; ++k) {
    recorded.push_back(parts.events.behind(before, order.records_behind[k]));
    recorded.back()[c.stream] = first + k;
  }
  for (std::size_t k = 0; k < groups; ++k) {
    pending[k].stream = c.stream;
    pending[k].exec = c.exec;
    pending[k].tick = first + k;
    parts.streams.pending.push_back(std::move(pending[k]));
  }
  for (std::size_t k = 0; k + 1 < groups; ++k) {
    parts.events.known.at(order.records[k].event).record(c.stream, std::move(recorded[k]), first + groups - 1);
  }
  after[c.stream] = first + groups - 1;
  parts.streams.occupy(c.stream).clock = std::move(after);
}

}  // namespace

template <>
void apply(State& state, const Launch& c) {
  StateParts& parts = state.change();
  ExecState& exec = parts.graphs.execs.at(c.exec);
  if (CaptureState* capture = parts.captures.push_node(c.stream, state.device_of_stream(c.stream)))
    return add_child(parts, *capture, exec);
  if (exec.graph.has_memory) {
    if (state.unfreed_memory(exec.graph) && (exec.flags & kAutoFreeOnLaunch) == 0) return;  // the launch is refused
    allocate_and_free(parts.memory, exec);
  }
  if (std::set<Id> disabled = exec.graph.disabled(); !disabled.empty())
    exec.launched_without.insert(std::move(disabled));
  if (exec.graph.has_events) return launch_with_events(parts, c);
  // No documentation says that a graph without nodes orders anything; 7.2 and 6.4 give the stream no work.
  if (exec.graph.nodes.empty()) {
    parts.streams.occupy(c.stream);
    return;
  }
  parts.streams.give_work(c.stream, exec.graph.ranges(), c.exec);
}

// ---- Patch

template <>
constexpr Traits kTraits<Patch>{kGraphChange, kSucceeds, kNeverRefused,  kNothingSeen,
                                kNoDevice,    kTwice,    kSometimesAgain};

template <>
Reason check(const State& state, const Patch& c) {
  const bool exec = c.target != Target::kGraph;
  if (Reason reason = exec ? state.missing_exec(c.id) : state.missing_graph(c.id)) return reason;
  const GraphState& graph = state.parts().graphs.of(c.target, c.id);
  if (Reason reason = holds_objects(graph)) return reason;
  if (Reason reason = names_freed_buffer(state, graph)) return reason;
  if (Reason reason = freed_elsewhere(state, graph)) return reason;
  if (!exec) return {};
  return state.unfreed_memory(graph) ? Reason(kFreedFirst) : Reason();
}

template <>
void apply(State& state, const Patch& c) {
  StateParts& parts = state.change();
  GraphState& graph = parts.graphs.of(c.target, c.id);
  for (auto& [buffer, version] : graph.addresses) version = parts.memory.buffers.at(buffer).version;
  for (NodeState& node : graph.nodes) node.set_disabled |= !node.enabled;
  graph.edited = true;
}

// ---- Update

template <>
constexpr Traits kTraits<Update>{kGraphChange, kSucceeds, kAlwaysRefusable, kNothingSeen, kNoDevice, kTwice, kAgain};

template <>
Reason check(const State& state, const Update& c) {
  if (Reason reason = state.missing_exec(c.exec)) return reason;
  if (Reason reason = state.missing_graph(c.graph)) return reason;
  const GraphState &graph = *state.graph(c.graph), &exec = state.exec(c.exec)->graph;
  if (!state.current(graph)) return fmt::format("g{} has buffers at old addresses: patch it first", c.graph);
  if (Reason reason = state.unmapped(graph)) return reason;
  if (Reason reason = holds_objects(exec)) return reason;
  if (Reason reason = holds_objects(graph)) return reason;
  if (graph.cyclic) return fmt::format("g{} has a circle of dependencies", c.graph);
  if (update_outcome(exec, graph) == UpdateOutcome::kUndefinedHere)
    return "what an update does with these two graphs is not documented";
  if (exec.has_memory || graph.has_memory) return "what an update does with memory nodes is not documented";
  // CUDA, cudaGraphExecUpdate: neither the context of a function nor the device of an operand can change. The
  // documentation does not give the status when one does.
  if (!same_devices(exec, graph))
    return "what an update does with memory or kernels of another device is not documented";
  return {};
}

template <>
void apply(State& state, const Update& c) {
  GraphsState& graphs = state.change().graphs;
  GraphState& exec = graphs.execs.at(c.exec).graph;
  const GraphState& graph = graphs.graphs.at(c.graph);
  if (update_outcome(exec, graph) != UpdateOutcome::kSuccess) return;
  for (std::size_t i = 0; i < exec.nodes.size(); ++i) {
    exec.nodes[i].params = graph.nodes[i].params;
    exec.nodes[i].child = graph.nodes[i].child;
    exec.nodes[i].ranges = graph.nodes[i].ranges;
    exec.nodes[i].attributes = graph.nodes[i].attributes;
    exec.nodes[i].devices = graph.nodes[i].devices;
    exec.nodes[i].set_disabled = !exec.nodes[i].enabled;
  }
  exec.addresses = graph.addresses;
}

// ---- Upload

template <>
constexpr Traits kTraits<Upload>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kAgain};

template <>
Reason check(const State& state, const Upload& c) {
  if (Reason reason = state.missing_exec(c.exec, kNeverCameToBe)) return reason;
  return state.missing_stream(c.stream);
}

template <>
void apply(State&, const Upload&) {}

// ---- AskFlags

template <>
constexpr Traits kTraits<AskFlags>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kAgain};

template <>
Reason check(const State& state, const AskFlags& c) {
  return state.missing_exec(c.exec, kNeverCameToBe);
}

template <>
void apply(State&, const AskFlags&) {}

template struct Rules<Instantiate>;
template <>
bool may_stand_again(const State& state, const Launch& c) {
  return !state.launch_races(c.exec, c.stream);
}

template struct Rules<Launch>;
// As for SetNode: a graph with memory nodes that is recorded again reserves memory anew.
template <>
bool may_stand_again(const State& state, const Patch& c) {
  return c.target == Target::kExec || !state.graph(c.id)->has_memory;
}

template struct Rules<Patch>;
template struct Rules<Update>;
template struct Rules<Upload>;
template struct Rules<AskFlags>;

}  // namespace verify
