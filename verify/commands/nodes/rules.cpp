// The rules of the commands about nodes; node_rules.h has the rules for the parameters of a node.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <set>

#include "verify/commands/captures/answers.h"
#include "verify/commands/define_rules.h"
#include "verify/commands/nodes/node_rules.h"
#include "verify/commands/stream_memory/placed_memory.h"
#include "verify/program/graph_events.h"

namespace verify {

// ---- AddNode

template <>
constexpr Traits kTraits<AddNode>{kCheckInCapture, kSucceeds, kNeverRefused, kNothingSeen,
                                  kNamesDevices,   kTwice,    kOnce};

namespace {

Reason check_dependencies(const GraphState& graph, const AddNode& c) {
  const std::set<Id> distinct(c.after.begin(), c.after.end());
  if (distinct.size() != c.after.size()) return "a dependency is named twice";
  for (const Id id : c.after) {
    if (graph.find(id) == nullptr) return fmt::format("g{}.n{} does not exist", c.graph, id);
  }
  return {};
}

Reason check_added_node(const State& state, const AddNode& c) {
  if (Reason reason = state.missing_graph(c.graph)) return reason;
  const GraphState& graph = *state.graph(c.graph);
  if (graph.find(c.node) != nullptr || graph.removed.contains(c.node))
    return fmt::format("g{}.n{} exists already", c.graph, c.node);
  if (Reason reason = check_dependencies(graph, c)) return reason;
  if (Reason reason = flaw_of_fan(c.params, c.fan)) return reason;
  if (!has_form(c.params, c.form)) return "this node has no such form";
  if (const auto* memory = std::get_if<MemoryAllocParams>(&c.params)) {
    if (Reason reason = state.flaw_of_buffer(memory->buffer, memory->bytes)) return reason;
    if (state.parts().memory.left_free) return kNoMemoryOfItsOwn;
  } else if (Reason reason = flaw_of_params(state, c.params, c.fan)) {
    return reason;
  }
  if (Reason reason = too_many_instances(state, graph, c.params, c.fan)) return reason;
  if (Reason reason = event_conflict(graph, c.params, child_named(state, c.params), -1)) return reason;
  return newer_address(state, graph, c.params, -1);
}

Reason check_free_node(const State& state, const MemoryFreeParams& freed, Id id,
                       const std::vector<std::uint32_t>& after) {
  const BufferState* buffer = graph_memory(state, freed.buffer);
  if (buffer == nullptr) return fmt::format("no graph allocates b{}", freed.buffer);
  if (state.has_free_node(freed.buffer)) return fmt::format("a node frees b{} already", freed.buffer);
  if (buffer->graph != id) return not_there(state, freed.buffer);
  for (const auto& [exec_id, exec] : state.execs()) {
    if (exec.alive && exec.origin == id) return fmt::format("e{} leaves b{} to others to free", exec_id, freed.buffer);
  }
  return freed_early(*state.graph(id), after, freed.buffer);
}

std::vector<std::uint32_t> indices(const GraphState& graph, const std::vector<Id>& nodes) {
  std::vector<std::uint32_t> found;
  for (const Id id : nodes) found.push_back(static_cast<std::uint32_t>(graph.index_of(id)));
  return found;
}

Reason check_added_memory(const State& state, const AddNode& c) {
  const auto* freed = std::get_if<MemoryFreeParams>(&c.params);
  if (is_memory_node(c.params) && !state.captures().empty()) return kMemoryInCapture;
  if (freed == nullptr && !state.parts().memory.runtime_allocates) return {};
  const GraphState& graph = *state.graph(c.graph);
  std::vector<std::uint32_t> after = indices(graph, c.after);
  if (freed != nullptr) return check_free_node(state, *freed, c.graph, after);
  return names_memory(state, c.params, {graph, c.graph, std::move(after), -1});
}

}  // namespace

template <>
Reason check(const State& state, const AddNode& c) {
  if (Reason reason = check_added_node(state, c)) return reason;
  if (Reason reason = check_added_memory(state, c)) return reason;
  return flaw_of_devices(state, c.params);
}

template <>
Reason check_in_capture(const State& state, const AddNode& c) {
  if (Reason reason = child_captured_into(state, c.params)) return reason;
  return captured_into(state, c.graph);
}

template <>
Id highest_device(const AddNode& c) {
  if (const auto* memory = std::get_if<MemoryAllocParams>(&c.params))
    return memory->access == 0 ? 0 : static_cast<Id>(std::bit_width(memory->access) - 1);
  const auto* kernel = std::get_if<KernelParams>(&c.params);
  return kernel == nullptr ? 0 : kernel->device;
}

static void note_memory_node(MemoryState& memory, GraphState& graph, const AddNode& c) {
  graph.has_memory = memory.runtime_allocates = true;
  if (const auto* allocation = std::get_if<MemoryAllocParams>(&c.params)) {
    BufferState& buffer = memory.buffers[allocation->buffer];
    buffer = {allocation->bytes, allocation->bytes, MemoryKind::kDevice, 0, true};
    buffer.graph = c.graph;
    buffer.access = allocation->access;
    graph.addresses[allocation->buffer] = 0;
  }
}

template <>
void apply(State& state, const AddNode& c) {
  StateParts& parts = state.change();
  GraphState& graph = parts.graphs.graphs.at(c.graph);
  NodeState node;
  node.id = c.node;
  node.fan = c.fan;
  node.form = c.form;
  node.after = indices(graph, c.after);
  state.fill(node, c.params);
  const bool of_a_device =
      std::holds_alternative<KernelParams>(c.params) || std::holds_alternative<MemsetParams>(c.params);
  if (of_a_device && !node.devices.empty()) node.added_on = node.devices.front();
  parts.memory.note_addresses(graph, node);
  count_node(graph, node);
  if (is_memory_node(c.params)) note_memory_node(parts.memory, graph, c);
  graph.add(std::move(node));
}

// ---- SetNode

template <>
constexpr Traits kTraits<SetNode>{kGraphChange,  kSucceeds, kNeverRefused,  kNothingSeen,
                                  kNamesDevices, kTwice,    kSometimesAgain};

namespace {

// A setter of a node in a graph may not change the node's kind; everything else is a parameter.
bool same_kind(const NodeParams& a, const NodeParams& b) {
  if (a.index() != b.index()) return false;
  // HIP names its setters of copies to and from symbols after the form in which the node is added; AMD's runtime keeps
  // each form as a node type of its own. A new symbol is a parameter change (graph_memcpy_to_from_symbol_common.hh).
  const auto* copy = std::get_if<CopyParams>(&a);
  if (copy != nullptr && copy->symbol != std::get<CopyParams>(b).symbol) return false;
  const auto* kernel = std::get_if<KernelParams>(&a);
  return kernel == nullptr || kernel->opaque == std::get<KernelParams>(b).opaque;
}

bool same_topology(const GraphState& a, const GraphState& b);

// A setter of an executable graph may not change a node's shape (HIP documents that only parameters may change).
bool same_shape(const NodeState& a, const NodeParams& params, const GraphState* child) {
  if (a.params.index() != params.index()) return false;
  if (const auto* kernel = std::get_if<KernelParams>(&params)) {
    const auto& old = std::get<KernelParams>(a.params);
    return old.opaque == kernel->opaque;  // the function may change
  }
  if (const auto* copy = std::get_if<CopyParams>(&params)) {
    const auto& old = std::get<CopyParams>(a.params);
    if (old.linear != copy->linear || old.kind != copy->kind || old.symbol != copy->symbol) return false;
    return copy->linear || (old.width == copy->width && old.height == copy->height && old.depth == copy->depth);
  }
  if (const auto* memset = std::get_if<MemsetParams>(&params)) {
    const auto& old = std::get<MemsetParams>(a.params);
    if (old.element != memset->element || old.height != memset->height) return false;
    return memset->height == 1 || (old.width == memset->width && old.pitch == memset->pitch);
  }
  if (const auto* batch = std::get_if<BatchParams>(&params)) {
    return same_operations(std::get<BatchParams>(a.params), *batch);
  }
  if (const SemaphoreParams* semaphores = semaphores_in(params)) {
    return semaphores_in(a.params)->list.size() == semaphores->list.size();
  }
  if (std::holds_alternative<ChildParams>(params)) {
    return child != nullptr && std::get<ChildParams>(a.params).nest == std::get<ChildParams>(params).nest &&
           same_topology(*a.child, *child);
  }
  return true;
}

bool same_topology(const GraphState& a, const GraphState& b) {
  if (a.nodes.size() != b.nodes.size()) return false;
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    const NodeState &x = a.nodes[i], &y = b.nodes[i];
    if (x.after != y.after || x.fan != y.fan || !same_shape(x, y.params, y.child.get())) return false;
  }
  return true;
}

Reason missing_target(const State& state, const SetNode& c) {
  if (c.target == Target::kGraph) return state.missing_graph(c.id);
  if (Reason reason = state.missing_exec(c.id)) return reason;
  return state.missing_origin(c.id);
}

// A setter may not change everything about a node.
Reason check_setter(const State& state, const SetNode& c, const NodeState& node) {
  const bool on_graph = c.target == Target::kGraph;
  const bool settable = c.form != NodeForm::kDriver || !on_graph || std::holds_alternative<CopyParams>(c.params);
  if (!settable || !has_form(c.params, c.form)) return "this node has no such form";
  const GraphState* child = child_named(state, c.params);
  if (on_graph && std::holds_alternative<ChildParams>(c.params))
    return "HIP has no setter for the child of a graph's own node";
  if (on_graph && !same_kind(node.params, c.params)) return "a setter keeps the node's type";
  if (!on_graph && !same_shape(node, c.params, child))
    return "an exec setter keeps the node's type, kernel, direction, shape and topology";
  if (std::holds_alternative<EmptyParams>(c.params)) return "an empty node has no parameters";
  return {};
}

Reason check_set_node(const State& state, const SetNode& c) {
  if (Reason reason = missing_target(state, c)) return reason;
  const GraphState& graph = state.parts().graphs.of(c.target, c.id);
  if (Reason reason = holds_objects(graph)) return reason;
  const int index = graph.index_of(c.node);
  if (index < 0) return fmt::format("n{} does not exist there", c.node);
  if (c.target == Target::kExec && state.exec(c.id)->gone.contains(c.node))
    return fmt::format("n{} was removed", c.node);
  const NodeState& node = graph.nodes[static_cast<std::size_t>(index)];
  if (Reason reason = names_freed_buffer(state, graph)) return reason;
  if (Reason reason = flaw_of_params(state, c.params, node.fan)) return reason;
  if (Reason reason = flaw_of_fan(c.params, node.fan)) return reason;
  if (Reason reason = check_setter(state, c, node)) return reason;
  if (Reason reason = event_conflict(graph, c.params, child_named(state, c.params), index)) return reason;
  return newer_address(state, graph, c.params, index);
}

Reason check_set_memory(const State& state, const SetNode& c) {
  const GraphState& graph = state.parts().graphs.of(c.target, c.id);
  const NodeState& node = *graph.find(c.node);
  if (is_memory_node(node.params)) return "HIP has no setter for memory nodes";
  const bool exec = c.target == Target::kExec;
  if (exec && state.unfreed_memory(graph)) return kFreedFirst;
  if (Reason reason = freed_elsewhere(state, graph)) return reason;
  if (Reason reason = fills_memory(state, node, &c.params)) return reason;
  return names_memory(state, c.params,
                      {graph, exec ? state.exec(c.id)->origin : c.id, node.after, graph.index_of(c.node)});
}

// CUDA, cudaGraphExecKernelNodeSetParams: the function stays in its context; cudaGraphExecMemcpyNodeSetParams and
// cudaGraphExecMemsetNodeSetParams: memory from the same contexts as the original.
Reason check_set_devices(const State& state, const SetNode& c) {
  if (Reason reason = flaw_of_devices(state, c.params)) return reason;
  const NodeState& before = *state.parts().graphs.of(c.target, c.id).find(c.node);
  const bool keeps = c.target == Target::kExec || std::holds_alternative<KernelParams>(c.params);
  if (keeps && before.devices != state.devices_of(c.params)) return "a setter keeps the devices of its node";
  const GraphState* child = child_named(state, c.params);
  if (child == nullptr || same_devices(*before.child, *child)) return {};
  return "a child that is set keeps the devices of its nodes";
}

}  // namespace

template <>
Reason check(const State& state, const SetNode& c) {
  if (Reason reason = check_set_node(state, c)) return reason;
  if (Reason reason = check_set_memory(state, c)) return reason;
  return check_set_devices(state, c);
}

template <>
Id highest_device(const SetNode& c) {
  const auto* kernel = std::get_if<KernelParams>(&c.params);
  return kernel == nullptr ? 0 : kernel->device;
}

template <>
void apply(State& state, const SetNode& c) {
  StateParts& parts = state.change();
  GraphState& graph = parts.graphs.of(c.target, c.id);
  NodeState& node = graph.at(c.node);
  state.fill(node, c.params);
  // Under the strategy `update` a setter is an update, which sets every node.
  for (NodeState& each : graph.nodes) each.set_disabled |= !each.enabled;
  node.set_disabled = !node.enabled;
  parts.memory.renew_addresses(graph);
  graph.edited = true;
}

// ---- EnableNode

template <>
constexpr Traits kTraits<EnableNode>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen,
                                     kNoDevice,       kTwice,    kAgain};

template <>
Reason check(const State& state, const EnableNode& c) {
  if (Reason reason = state.missing_exec(c.exec, kNeverCameToBe)) return reason;
  const ExecState& exec = *state.exec(c.exec);
  const NodeState* node = exec.graph.find(c.node);
  if (node == nullptr) return fmt::format("e{} has no n{}", c.exec, c.node);
  if (exec.gone.contains(c.node)) return fmt::format("n{} was removed", c.node);
  if (Reason reason = state.missing_origin(c.exec)) return reason;
  const bool can = std::holds_alternative<KernelParams>(node->params) ||
                   std::holds_alternative<CopyParams>(node->params) ||
                   std::holds_alternative<MemsetParams>(node->params);
  if (!can) return "only kernel, copy and memset nodes can be disabled";
  if (Reason reason = state.unmapped(exec.graph)) return reason;  // a strategy may record it again
  return fills_memory(state, *node, nullptr);
}

template <>
void apply(State& state, const EnableNode& c) {
  state.change().graphs.execs.at(c.exec).graph.at(c.node).enabled = c.enabled;
}

// ---- SetAttributes

template <>
constexpr Traits kTraits<SetAttributes>{kCheckInCapture, kSucceeds, kNeverRefused, kNothingSeen,
                                        kNoDevice,       kTwice,    kOnce};

static Reason no_attributes(const State& state, Id graph, Id node) {
  if (Reason reason = state.missing_node(graph, node)) return reason;
  const auto* kernel = std::get_if<KernelParams>(&state.graph(graph)->find(node)->params);
  if (kernel == nullptr) return fmt::format("g{}.n{} is no kernel", graph, node);
  if (kernel->opaque) return fmt::format("nobody knows how to record g{}.n{} but who did", graph, node);
  return {};
}

template <>
Reason check(const State& state, const SetAttributes& c) {
  if (Reason reason = no_attributes(state, c.graph, c.node)) return reason;
  const std::optional<std::int32_t>& priority = c.attributes.priority;
  if (priority && std::abs(*priority) > kMaxNodePriority)
    return fmt::format("a node's priority is {} to {}", -kMaxNodePriority, kMaxNodePriority);
  if (c.attributes == NodeAttributes{}) return "no attribute is named";
  return {};
}

template <>
Reason check_in_capture(const State& state, const SetAttributes& c) {
  return captured_into(state, c.graph);
}

template <>
void apply(State& state, const SetAttributes& c) {
  NodeAttributes& attributes = state.change().graphs.graphs.at(c.graph).at(c.node).attributes;
  if (c.attributes.priority) attributes.priority = c.attributes.priority;
  if (c.attributes.cooperative) attributes.cooperative = c.attributes.cooperative;
  if (c.attributes.window) attributes.window = c.attributes.window;
}

// ---- CopyAttributes

template <>
constexpr Traits kTraits<CopyAttributes>{kCheckInCapture, kSucceeds, kNeverRefused, kNothingSeen,
                                         kNoDevice,       kTwice,    kOnce};

template <>
Reason check(const State& state, const CopyAttributes& c) {
  if (Reason reason = no_attributes(state, c.graph, c.node)) return reason;
  if (Reason reason = no_attributes(state, c.from, c.source)) return reason;
  if (c.graph == c.from && c.node == c.source) return "a node has its own attributes already";
  return {};
}

template <>
Reason check_in_capture(const State& state, const CopyAttributes& c) {
  if (Reason reason = captured_into(state, c.graph)) return reason;
  return captured_into(state, c.from);
}

template <>
void apply(State& state, const CopyAttributes& c) {
  std::map<Id, GraphState>& graphs = state.change().graphs.graphs;
  graphs.at(c.graph).at(c.node).attributes = graphs.at(c.from).at(c.source).attributes;
}

template struct Rules<AddNode>;
// A strategy that records a graph with memory nodes again reserves memory anew and keeps the old definition.
template <>
bool may_stand_again(const State& state, const SetNode& c) {
  return c.target == Target::kExec || !state.graph(c.id)->has_memory;
}

template struct Rules<SetNode>;
template struct Rules<EnableNode>;
template struct Rules<SetAttributes>;
template struct Rules<CopyAttributes>;

}  // namespace verify
