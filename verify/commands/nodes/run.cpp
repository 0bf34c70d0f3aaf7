// How commands about nodes run. Each command succeeds or reports an error and can be tried again: a fan that a failure
// interrupted goes on where it stopped.
#include <fmt/format.h>

#include <algorithm>

#include "hip/driver_nodes.h"
#include "hip/errors.h"
#include "hip/kernel_attributes.h"
#include "verify/execute/inspector.h"
#include "verify/execute/records.h"
#include "verify/run/run_command.h"

namespace verify {

namespace {

// The k-th node of a fan, ready to be added to, or set in, a graph or executable graph with this `recording`.
hip::RecordedNode record_of(Run& run, const NodeParams& params, NodeForm form, std::uint32_t k,
                            const hip::Recording& recording) {
  hip::RecordedNode node = run.records.make(fan_instance(params, k));
  node.form = form;
  return run.strategy.as_added(run.context, recording, std::move(node));
}

// P2 within one graph or executable graph: a setter changes its node and no other. A strategy that records the object
// again instead of calling a setter brings every node to the buffers' present addresses.
template <class Object, class Handle, class Operation>
hip::Status setting_one_node(Run& run, const Object& object, Handle handle, const std::string& name,
                             const NodePlace& place, const Operation& operation) {
  if (!run.options.isolation) return operation();
  const std::vector<std::uint64_t> before = run.detectors.node_prints(handle);
  const Detectors::Calls calls = run.detectors.calls();
  hip::Status status = operation();
  const Detectors::Calls after = run.detectors.calls();
  if (after.exec_setters == calls.exec_setters && after.graph_setters == calls.graph_setters) return status;
  run.detectors.check_node_prints(run.step, name, before, run.detectors.node_prints(handle), place);
  if (status) run.detectors.check_set(run.step, name, object, handle, place, run.context.buffer_bytes);
  return status;
}

// ---- adding

// The function that adding this node needs and the runtime lacks, or null.
const char* missing_adder(const hip::Api& api, const hip::RecordedNode& node) {
  if (node.form == hip::NodeForm::kDriver) return hip::missing_driver_adder(api, node.record);
  return node.form == hip::NodeForm::kGeneric && api.hipGraphAddNode == nullptr ? "hipGraphAddNode" : nullptr;
}

// The nodes that a new node waits for: by index in the recording, and by handle.
struct Dependencies {
  std::vector<hip::NodeIndex> indices;
  std::vector<hipGraphNode_t> handles;
};

Dependencies dependencies_of(const AddNode& c, const GraphObject& graph) {
  Dependencies found;
  for (const Id id : c.after) {
    const NodePlace place = place_of(graph.places, id);
    for (std::uint32_t k = 0; k < place.fan; ++k) {
      found.indices.push_back(place.first + k);
      found.handles.push_back(graph.handles.nodes[place.first + k]);
    }
  }
  return found;
}

bool allocates(const GraphObject& graph, Id buffer) {
  return std::ranges::any_of(graph.recording.nodes(), [buffer](const hip::RecordedNode& node) {
    const auto* memory = std::get_if<hip::MemoryAllocRecord>(&node.record);
    return memory != nullptr && memory->buffer == buffer;
  });
}

hip::Status add_node(Run& run, GraphObject& graph, const AddNode& c, hip::RecordedNode node,
                     const Dependencies& dependencies) {
  if (const char* function = missing_adder(run.context.api, node)) return lacking(run.context, function);
  hip::NodeExtras extras;
  const hip::Result<hipGraphNode_t> handle = hip::record_node(run.context.api, graph.handles.graph, node,
                                                              dependencies.handles, run.memory.addresses(), extras);
  if (!handle) return handle.error();
  if (const auto* memory = std::get_if<MemoryAllocParams>(&c.params)) {
    run.graph_memory.added(memory->buffer, memory->bytes, extras.allocated);
    graph.addresses[memory->buffer] = extras.allocated;
  }
  note_addresses(graph, node, run.memory.addresses());
  node.dependencies = dependencies.indices;
  graph.recording.add(std::move(node));
  graph.handles.nodes.push_back(handle.value());
  return {};
}

hip::Status add_nodes(Run& run, GraphObject& graph, const AddNode& c) {
  const Dependencies dependencies = dependencies_of(c, graph);
  if (graph.places.empty() || graph.places.back().id != c.node)
    graph.places.push_back({c.node, static_cast<hip::NodeIndex>(graph.recording.nodes().size()), 0});
  NodePlace& place = graph.places.back();
  for (std::uint32_t k = place.fan; k < c.fan; ++k) {
    hip::RecordedNode node = record_of(run, c.params, c.form, k, graph.recording);
    if (hip::Status status = add_node(run, graph, c, std::move(node), dependencies); !status) return status;
    place.fan = k + 1;
  }
  graph.patcher.reset();
  return {};
}

// ---- setting

// A setter leaves a kernel's attributes as they are (hip-tests, hipGraphKernelNodeSetAttribute.cc).
void keep_attributes(const hip::NodeRecord& from, hip::NodeRecord& to) {
  const auto* before = std::get_if<hip::KernelRecord>(&from);
  auto* now = std::get_if<hip::KernelRecord>(&to);
  if (before != nullptr && now != nullptr) now->attributes = before->attributes;
}

template <class Object>
hip::Status set_nodes(Run& run, Object& object, const SetNode& c) {
  const NodePlace place = place_of(object.places, c.node);
  for (std::uint32_t k = 0; k < place.fan; ++k) {
    hip::RecordedNode node = record_of(run, c.params, c.form, k, object.recording);
    keep_attributes(object.recording.nodes()[place.first + k].record, node.record);
    if (hip::Status status = run.strategy.set(run.context, object, place.first + k, node); !status) return status;
  }
  return {};
}

hip::Status set_in_graph(Run& run, GraphObject& graph, const SetNode& c) {
  run.graph_memory.show_as_in(graph.addresses);
  graph.edited = true;
  return setting_one_node(run, graph, graph.handles.graph, fmt::format("g{}", c.id), place_of(graph.places, c.node),
                          [&] { return run.changing(nullptr, &graph, [&] { return set_nodes(run, graph, c); }); });
}

hip::Status set_in_exec(Run& run, ExecObject& exec, const SetNode& c) {
  run.graph_memory.show_as_in(exec.addresses);
  return setting_one_node(run, exec, exec.exec, fmt::format("e{}", c.id), place_of(exec.places, c.node),
                          [&] { return run.changing(&exec, nullptr, [&] { return set_nodes(run, exec, c); }); });
}

hip::Status enable(Run& run, ExecObject& exec, const EnableNode& c) {
  const hip::Api& api = run.context.api;
  if (api.hipGraphNodeSetEnabled == nullptr) return lacking(run.context, "hipGraphNodeSetEnabled");
  if (api.hipGraphNodeGetEnabled == nullptr) return lacking(run.context, "hipGraphNodeGetEnabled");
  const NodePlace place = place_of(exec.places, c.node);
  std::string states;
  for (std::uint32_t k = 0; k < place.fan; ++k) {
    const hip::Result<unsigned> enabled = run.strategy.enable(run.context, exec, place.first + k, c.enabled);
    if (!enabled) return enabled.error();
    states += enabled.value() == 0 ? '-' : enabled.value() == 1 ? '+' : '?';
  }
  run.attempt.seen = std::move(states);
  return {};
}

// ---- attributes of kernels

const hip::KernelAttributes& attributes_at(const GraphObject& graph, const NodePlace& place) {
  return std::get<hip::KernelRecord>(graph.recording.nodes()[place.first].record).attributes;
}

// Stores `attributes` in the recording, which sets them when it is recorded again. Then reads the attributes of `asked`
// from the runtime.
hip::Status note_attributes(Run& run, GraphObject& graph, const NodePlace& place,
                            const hip::KernelAttributes& attributes, const hip::KernelAttributes& asked) {
  for (std::uint32_t k = 0; k < place.fan; ++k) {
    const hip::RecordedNode& node = graph.recording.nodes()[place.first + k];
    hip::KernelRecord record = std::get<hip::KernelRecord>(node.record);
    record.attributes = attributes;
    graph.recording.replace(place.first + k, std::move(record), std::vector(node.relocations));
  }
  const hip::Result<hip::KernelAttributes> now =
      hip::attributes_of(run.context.api, graph.handles.nodes[place.first], asked);
  if (!now) return now.error();
  run.attempt.seen = describe(run.context.api, now.value(), asked);
  return {};
}

// AMD's devices have no room for a window (hipDeviceProp_t::accessPolicyMaxWindowSize is 0), so it has no bytes.
hipAccessPolicyWindow window_of(std::uint32_t percent) {
  hipAccessPolicyWindow window{};
  window.hitRatio = static_cast<float>(percent) / 100;
  window.hitProp = hipAccessPropertyPersisting;
  window.missProp = hipAccessPropertyStreaming;
  return window;
}

hip::Status set_attributes(Run& run, GraphObject& graph, const SetAttributes& c) {
  const NodePlace place = place_of(graph.places, c.node);
  if (place.fan == 0) return missing_object();
  hip::KernelAttributes wanted{c.attributes.priority, c.attributes.cooperative, {}};
  if (c.attributes.window) wanted.window = window_of(*c.attributes.window);
  if (const char* function = hip::missing_for_attributes(run.context.api, wanted))
    return lacking(run.context, function);
  for (std::uint32_t k = 0; k < place.fan; ++k) {
    hip::Status status = hip::set_attributes(run.context.api, graph.handles.nodes[place.first + k], wanted);
    if (!status) return status;
  }
  hip::KernelAttributes merged = attributes_at(graph, place);
  if (wanted.priority) merged.priority = wanted.priority;
  if (wanted.cooperative) merged.cooperative = wanted.cooperative;
  if (wanted.window) merged.window = wanted.window;
  return note_attributes(run, graph, place, merged, wanted);
}

hip::Status copy_attributes(Run& run, GraphObject& graph, const CopyAttributes& c) {
  const GraphObject* from = run.live_graph(c.from);
  if (from == nullptr) return missing_object();
  const NodePlace place = place_of(graph.places, c.node), source = place_of(from->places, c.source);
  if (place.fan == 0 || source.fan == 0) return missing_object();
  const hip::Api& api = run.context.api;
  if (api.hipGraphKernelNodeCopyAttributes == nullptr) return lacking(run.context, "hipGraphKernelNodeCopyAttributes");
  for (std::uint32_t k = 0; k < place.fan; ++k) {
    hip::Status status = hip::call<&hip::Api::hipGraphKernelNodeCopyAttributes>(api, from->handles.nodes[source.first],
                                                                                graph.handles.nodes[place.first + k]);
    if (!status) return status;
  }
  const hip::KernelAttributes copied = attributes_at(*from, source);
  return note_attributes(run, graph, place, copied, copied);
}

}  // namespace

template <>
hip::Status run_command(Run& run, const AddNode& c) {
  GraphObject* graph = run.live_graph(c.graph);
  if (graph == nullptr) return missing_object();
  if (const char* function = missing_function(run.context.api, c.params)) {
    run.observation.unsupported = function;
    return missing_object();
  }
  const auto* freed = std::get_if<MemoryFreeParams>(&c.params);
  if (freed != nullptr && !run.graph_memory.has(freed->buffer)) return missing_object();
  if (freed != nullptr && !allocates(*graph, freed->buffer))
    graph->addresses[freed->buffer] = run.graph_memory.live(freed->buffer);
  run.graph_memory.show_as_in(graph->addresses);
  if (!run.options.isolation) return add_nodes(run, *graph, c);
  // P2 within the graph: adding a node changes no other node.
  const std::vector<std::uint64_t> before = run.detectors.node_prints(graph->handles.graph);
  hip::Status status = add_nodes(run, *graph, c);
  run.detectors.check_node_prints(run.step, fmt::format("g{}", c.graph), before,
                                  run.detectors.node_prints(graph->handles.graph), {c.node, 0, 0});
  return status;
}

template <>
hip::Status run_command(Run& run, const SetNode& c) {
  if (c.target == Target::kGraph) {
    GraphObject* graph = run.live_graph(c.id);
    return graph == nullptr ? missing_object() : set_in_graph(run, *graph, c);
  }
  ExecObject* exec = run.live_exec(c.id);
  return exec == nullptr ? missing_object() : set_in_exec(run, *exec, c);
}

template <>
hip::Status run_command(Run& run, const EnableNode& c) {
  ExecObject* exec = run.live_exec(c.exec);
  if (exec == nullptr) return missing_object();
  return run.changing(exec, nullptr, [&] { return enable(run, *exec, c); });
}

template <>
hip::Status run_command(Run& run, const SetAttributes& c) {
  GraphObject* graph = run.live_graph(c.graph);
  if (graph == nullptr) return missing_object();
  return run.changing(nullptr, graph, [&] { return set_attributes(run, *graph, c); });
}

template <>
hip::Status run_command(Run& run, const CopyAttributes& c) {
  GraphObject* graph = run.live_graph(c.graph);
  if (graph == nullptr) return missing_object();
  return run.changing(nullptr, graph, [&] { return copy_attributes(run, *graph, c); });
}

template struct FamilyRun<NodesCommands>;

}  // namespace verify
