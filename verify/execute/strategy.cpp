#include "verify/execute/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hip/batch_nodes.h"
#include "hip/driver_nodes.h"
#include "hip/errors.h"
#include "hip/generic_nodes.h"
#include "hip/kernel_parameters.h"
#include "hip/semaphore_nodes.h"
#include "hip/symbol_nodes.h"
#include "verify/execute/careful.h"
#include "verify/execute/command_buffers.h"
#include "verify/execute/devices.h"
#include "verify/execute/rebuild.h"
#include "verify/execute/remap.h"
#include "verify/execute/stabilise.h"

namespace verify {

namespace {

void poison_recording(hip::Recording& recording) {
  for (hip::NodeIndex i = 0; i < recording.nodes().size(); ++i) {
    const hip::RecordedNode& node = recording.nodes()[i];
    const auto* kernel = std::get_if<hip::KernelRecord>(&node.record);
    if (kernel == nullptr || kernel->arguments.empty()) continue;
    // Overwrites the bytes in place: a patcher that kept a pointer to them must read the poison.
    auto& bytes = const_cast<std::vector<std::byte>&>(kernel->arguments);
    std::memset(bytes.data(), static_cast<int>(kPoison), bytes.size());
  }
}

void append_buffers(const hip::RecordedNode& node, std::vector<hip::BufferIndex>& buffers) {
  for (const hip::Relocation& relocation : node.relocations) buffers.push_back(relocation.buffer);
  if (const auto* opaque = std::get_if<hip::OpaqueRecord>(&node.record)) {
    buffers.insert(buffers.end(), opaque->buffers.begin(), opaque->buffers.end());
  }
  const auto* child = std::get_if<hip::ChildRecord>(&node.record);
  if (child == nullptr) return;
  for (const hip::RecordedNode& inner : child->graph->nodes()) append_buffers(inner, buffers);
}

// Returns the recording that a patcher gets for an executable graph. A node whose original was removed from the graph,
// or destroyed with it, has no valid handle and cannot be set any more, so it is opaque here.
hip::Recording patchable(const ExecObject& exec) {
  hip::Recording recording = exec.recording;
  if (exec.owned) return recording;
  for (const hip::NodeIndex index : exec.removed) {
    const hip::RecordedNode& node = recording.nodes()[index];
    hip::OpaqueRecord record;
    append_buffers(node, record.buffers);
    record.reason = "the node that it was instantiated from is gone";
    record.device = hip::device_of(node.record);
    record.record = [node](const hip::Api& api, hipGraph_t graph, std::span<const hipGraphNode_t> dependencies,
                           std::span<const hip::DeviceAddress> addresses, hip::Kept& kept) {
      hip::NodeExtras extras;
      const auto added = hip::record_node(api, graph, node, dependencies, addresses, extras);
      kept.take(std::move(extras.kept));
      return added;
    };
    recording.replace(index, std::move(record), {});
  }
  return recording;
}

const hip::Recording& patchable(const GraphObject& graph) {
  return graph.recording;
}

// Gives the patcher a copy of the recording. The copy is kept, and with poison it is overwritten, as soon as the
// patcher has been made.
template <class Object>
std::unique_ptr<ExecPatcher> make_patcher(StrategyContext& context, const Object& object, hipGraphExec_t exec) {
  auto passed = std::make_unique<hip::Recording>(patchable(object));
  const PatchTarget target{context.api,          *passed,       object.handles, exec, object.addresses,
                           context.buffer_bytes, context.poison};
  std::unique_ptr<ExecPatcher> patcher = context.patchers(target);
  if (context.poison) poison_recording(*passed);
  context.passed.push_back(std::move(passed));
  return patcher;
}

PatchOutcome outcome_of(const hip::PatchResult& result) {
  PatchOutcome outcome;
  if (result.ok()) {
    outcome.report = result.report();
  } else {
    outcome.failure = result.error().failure;
    outcome.status = hip::Error{result.error().code == 0 ? static_cast<int>(hipErrorUnknown) : result.error().code,
                                result.error().message};
  }
  return outcome;
}

// ---- setters, as a client of HIP calls them

hip::Status no_setter() {
  return hip::Error{hipErrorNotSupported, "HIP has no such setter"};
}

struct ExecSetter {
  StrategyContext& context;
  hipGraphExec_t exec;
  hipGraphNode_t node;

  hip::Status operator()(hip::KernelRecord& r) const {
    const hip::KernelParameters params(r, r.style);
    return hip::called(context.api.hipGraphExecKernelNodeSetParams(exec, node, params.get()),
                       "hipGraphExecKernelNodeSetParams");
  }
  hip::Status operator()(hip::CopyRecord& r) const {
    if (r.symbol.symbol != nullptr)
      return hip::called(hip::call_symbol_setter(context.api, exec, node, r), hip::symbol_setter_name(r, true));
    if (!r.linear)
      return hip::called(context.api.hipGraphExecMemcpyNodeSetParams(exec, node, &r.params),
                         "hipGraphExecMemcpyNodeSetParams");
    return hip::called(context.api.hipGraphExecMemcpyNodeSetParams1D(
                           exec, node, r.params.dstPtr.ptr, r.params.srcPtr.ptr, r.params.extent.width, r.params.kind),
                       "hipGraphExecMemcpyNodeSetParams1D");
  }
  hip::Status operator()(hip::MemsetRecord& r) const {
    return hip::called(context.api.hipGraphExecMemsetNodeSetParams(exec, node, &r.params),
                       "hipGraphExecMemsetNodeSetParams");
  }
  hip::Status operator()(hip::HostRecord& r) const {
    return hip::called(context.api.hipGraphExecHostNodeSetParams(exec, node, &r.params),
                       "hipGraphExecHostNodeSetParams");
  }
  hip::Status operator()(hip::ChildRecord& r) const {
    hip::Result<hip::RecordedGraph> child = hip::record_graph(context.api, *r.graph, context.addresses);
    if (!child) return child.error();
    hip::Status set = hip::called(context.api.hipGraphExecChildGraphNodeSetParams(exec, node, child.value().graph),
                                  "hipGraphExecChildGraphNodeSetParams");
    hip::Status destroyed = hip::called(context.api.hipGraphDestroy(child.value().graph), "hipGraphDestroy");
    return set ? destroyed : set;
  }
  hip::Status operator()(hip::EventSignalRecord& r) const {
    return hip::called(context.api.hipGraphExecEventRecordNodeSetEvent(exec, node, r.event),
                       "hipGraphExecEventRecordNodeSetEvent");
  }
  hip::Status operator()(hip::EventWaitRecord& r) const {
    return hip::called(context.api.hipGraphExecEventWaitNodeSetEvent(exec, node, r.event),
                       "hipGraphExecEventWaitNodeSetEvent");
  }
  hip::Status operator()(hip::BatchRecord& r) const {
    return hip::called(hip::call_batch_setter(context.api, exec, node, r), hip::batch_setter_name(true));
  }
  template <OneOf<hip::SemaphoreSignalRecord, hip::SemaphoreWaitRecord> R>
  hip::Status operator()(R& r) const {
    return hip::set_semaphore_node(context.api, exec, node, r);
  }
  hip::Status operator()(hip::MemoryAllocRecord&) const { return no_setter(); }
  hip::Status operator()(hip::MemoryFreeRecord&) const { return no_setter(); }
  hip::Status operator()(hip::EmptyRecord&) const { return {}; }
  hip::Status operator()(hip::OpaqueRecord&) const {
    return hip::Error{hipErrorNotSupported, "an opaque node has no setter"};
  }
};

struct GraphSetter {
  StrategyContext& context;
  hipGraphNode_t node;

  hip::Status operator()(hip::KernelRecord& r) const {
    const hip::KernelParameters params(r, r.style);
    return hip::called(context.api.hipGraphKernelNodeSetParams(node, params.get()), "hipGraphKernelNodeSetParams");
  }
  hip::Status operator()(hip::CopyRecord& r) const {
    if (r.symbol.symbol != nullptr)
      return hip::called(hip::call_symbol_setter(context.api, nullptr, node, r), hip::symbol_setter_name(r, false));
    if (!r.linear)
      return hip::called(context.api.hipGraphMemcpyNodeSetParams(node, &r.params), "hipGraphMemcpyNodeSetParams");
    return hip::called(context.api.hipGraphMemcpyNodeSetParams1D(node, r.params.dstPtr.ptr, r.params.srcPtr.ptr,
                                                                 r.params.extent.width, r.params.kind),
                       "hipGraphMemcpyNodeSetParams1D");
  }
  hip::Status operator()(hip::MemsetRecord& r) const {
    return hip::called(context.api.hipGraphMemsetNodeSetParams(node, &r.params), "hipGraphMemsetNodeSetParams");
  }
  hip::Status operator()(hip::HostRecord& r) const {
    return hip::called(context.api.hipGraphHostNodeSetParams(node, &r.params), "hipGraphHostNodeSetParams");
  }
  hip::Status operator()(hip::EventSignalRecord& r) const {
    return hip::called(context.api.hipGraphEventRecordNodeSetEvent(node, r.event), "hipGraphEventRecordNodeSetEvent");
  }
  hip::Status operator()(hip::EventWaitRecord& r) const {
    return hip::called(context.api.hipGraphEventWaitNodeSetEvent(node, r.event), "hipGraphEventWaitNodeSetEvent");
  }
  hip::Status operator()(hip::BatchRecord& r) const {
    return hip::called(hip::call_batch_setter(context.api, nullptr, node, r), hip::batch_setter_name(false));
  }
  template <OneOf<hip::SemaphoreSignalRecord, hip::SemaphoreWaitRecord> R>
  hip::Status operator()(R& r) const {
    return hip::set_semaphore_node(context.api, nullptr, node, r);
  }
  hip::Status operator()(hip::ChildRecord&) const { return no_setter(); }
  hip::Status operator()(hip::MemoryAllocRecord&) const { return no_setter(); }
  hip::Status operator()(hip::MemoryFreeRecord&) const { return no_setter(); }
  hip::Status operator()(hip::EmptyRecord&) const { return {}; }
  hip::Status operator()(hip::OpaqueRecord&) const {
    return hip::Error{hipErrorNotSupported, "an opaque node has no setter"};
  }
};

// Calls a setter that takes any type, of the executable graph `exec` or (null) of the graph's own node.
hip::Status set_by(hip::NodeForm form, StrategyContext& context, hipGraphExec_t exec, hipGraphNode_t node,
                   hip::NodeRecord& record) {
  const hip::Api& api = context.api;
  if (form == hip::NodeForm::kDriver) {
    if (const char* function = hip::missing_driver_setter(api, exec, record)) return lacking(context, function);
    return hip::set_driver_node(api, exec, node, record);
  }
  if (exec != nullptr && api.hipGraphExecNodeSetParams == nullptr) return lacking(context, "hipGraphExecNodeSetParams");
  if (exec == nullptr && api.hipGraphNodeSetParams == nullptr) return lacking(context, "hipGraphNodeSetParams");
  return hip::set_generic_node(api, exec, node, record, context.addresses);
}

// With the node's device current, as it was when the node was recorded.
template <class Set>
hip::Status set_there(StrategyContext& context, const hip::NodeRecord& record, const Set& set) {
  return on_device(context.api, static_cast<Id>(hip::device_of(record)), set);
}

bool holds_opaque(const hip::NodeRecord& record) {
  return std::holds_alternative<hip::OpaqueRecord>(record);
}

// The recording with one node replaced. The node's type stays, as Recording::replace requires.
hip::Recording with_node(const hip::Recording& recording, hip::NodeIndex index, const hip::RecordedNode& node) {
  hip::Recording changed = recording;
  changed.replace(index, node.record, node.relocations);
  return changed;
}

// Whether hipGraphExecUpdate of `exec` from `graph` is documented to succeed. Where it is not and the runtime still
// reports success, the status is observed and the recording stays.
bool fits(const ExecObject& exec, const GraphObject& graph) {
  return documented_update(exec.recording, graph.recording).code == hipSuccess;
}

class RebuildStrategy final : public Strategy {
 public:
  PatchOutcome patch(StrategyContext& context, ExecObject& exec, std::span<const hip::Move> moves) override {
    return moves.empty() ? PatchOutcome{} : PatchOutcome{rebuild(context, exec, exec.recording), {}, {}};
  }
  PatchOutcome patch(StrategyContext& context, GraphObject& graph, std::span<const hip::Move> moves) override {
    return moves.empty() ? PatchOutcome{} : PatchOutcome{rebuild(context, graph, graph.recording), {}, {}};
  }
  hip::Status set(StrategyContext& context, ExecObject& exec, hip::NodeIndex index,
                  const hip::RecordedNode& node) override {
    return rebuild(context, exec, with_node(exec.recording, index, node));
  }
  hip::Status set(StrategyContext& context, GraphObject& graph, hip::NodeIndex index,
                  const hip::RecordedNode& node) override {
    return rebuild(context, graph, with_node(graph.recording, index, node));
  }
  UpdateStatus update(StrategyContext& context, ExecObject& exec, const GraphObject& graph) override {
    const DocumentedUpdate documented = documented_update(exec.recording, graph.recording);
    const UpdateStatus status{documented.code, documented.result,
                              documented.node ? graph.handles.nodes[*documented.node] : nullptr};
    if (status.code != hipSuccess) return status;
    const hip::Status rebuilt = rebuild(context, exec, graph.recording);
    return rebuilt ? status : UpdateStatus{rebuilt.error().code, hipGraphExecUpdateError, nullptr};
  }
};

UpdateStatus call_update(StrategyContext& context, ExecObject& exec, hipGraph_t graph) {
  hipGraphNode_t error_node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
  // An update keeps the devices of the executable graph.
  const hip::Status updated = on_device(context.api, hip::home_of(exec.recording), [&]() -> hip::Status {
    const hipError_t status = context.api.hipGraphExecUpdate(exec.exec, graph, &error_node, &result);
    return status == hipSuccess ? hip::Status() : hip::Error{status, "hipGraphExecUpdate"};
  });
  const int code = updated ? hipSuccess : updated.error().code;
  const bool answered = code == hipSuccess || code == hipErrorGraphExecUpdateFailure;
  return {code, answered ? result : hipGraphExecUpdateError, error_node};
}

class PatchStrategy final : public Strategy {
 public:
  PatchOutcome patch(StrategyContext& context, ExecObject& exec, std::span<const hip::Move> moves) override {
    if (!exec.patcher) exec.patcher = make_patcher(context, exec, exec.exec);
    PatchOutcome outcome = outcome_of(exec.patcher->patch(moves));
    if (outcome.status) exec.addresses = context.addresses;
    return outcome;
  }
  PatchOutcome patch(StrategyContext& context, GraphObject& graph, std::span<const hip::Move> moves) override {
    if (!graph.patcher) graph.patcher = make_patcher(context, graph, nullptr);
    PatchOutcome outcome = outcome_of(graph.patcher->patch(moves));
    if (outcome.status) graph.addresses = context.addresses;
    return outcome;
  }
  hip::Status set(StrategyContext& context, ExecObject& exec, hip::NodeIndex index,
                  const hip::RecordedNode& node) override {
    return set_by_call(context, exec, exec.exec, index, node,
                       ExecSetter{context, exec.exec, exec.handles.nodes[index]});
  }
  hip::Status set(StrategyContext& context, GraphObject& graph, hip::NodeIndex index,
                  const hip::RecordedNode& node) override {
    return set_by_call(context, graph, nullptr, index, node, GraphSetter{context, graph.handles.nodes[index]});
  }
  UpdateStatus update(StrategyContext& context, ExecObject& exec, const GraphObject& graph) override {
    const UpdateStatus status = call_update(context, exec, graph.handles.graph);
    if (status.code != hipSuccess || !fits(exec, graph)) return status;
    exec.recording = graph.recording;
    exec.addresses = context.addresses;
    if (exec.patcher) exec.patcher->replace_all(patchable(exec), exec.addresses);
    return status;
  }

 private:
  // `typed` is the setter for nodes that are set through the function of their type.
  template <class Object, class Setter>
  hip::Status set_by_call(StrategyContext& context, Object& object, hipGraphExec_t exec, hip::NodeIndex index,
                          const hip::RecordedNode& node, const Setter& typed) {
    if (holds_opaque(node.record)) return rebuild(context, object, with_node(object.recording, index, node));
    hip::NodeRecord record = node.record;
    const hip::Status set = set_there(context, record, [&]() -> hip::Status {
      if (node.form == hip::NodeForm::kTyped) return std::visit(typed, record);
      return set_by(node.form, context, exec, object.handles.nodes[index], record);
    });
    return set ? note(context, object, index, node) : set;
  }
  // Notes that the node was set. The patcher may not know the current addresses of buffers that the node names; no node
  // named them before, so the patcher is told here.
  template <class Object>
  hip::Status note(StrategyContext& context, Object& object, hip::NodeIndex index, const hip::RecordedNode& node) {
    std::vector<hip::Move> moves;
    // Only the buffers that this node names: other nodes may still have their buffers at old addresses.
    std::vector<hip::BufferIndex> buffers;
    append_buffers(node, buffers);
    std::sort(buffers.begin(), buffers.end());
    buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
    for (const hip::BufferIndex buffer : buffers) add_move(context, object, buffer, moves);
    object.recording.replace(index, node.record, node.relocations);
    for (const hip::Move& move : moves) object.addresses[move.buffer] = move.to;
    if (!object.patcher) return {};
    object.patcher->replace(index, node.record, node.relocations);
    // The object already has the current addresses of these buffers, so the patcher starts over instead of patching.
    if (moves.empty()) return {};
    object.patcher->replace_all(patchable(object), object.addresses);
    return {};
  }
  template <class Object>
  static void add_move(const StrategyContext& context, const Object& object, Id buffer, std::vector<hip::Move>& moves) {
    if (object.addresses[buffer] == context.addresses[buffer]) return;
    for (const hip::Move& move : moves) {
      if (move.buffer == buffer) return;
    }
    moves.push_back({buffer, object.addresses[buffer], context.addresses[buffer]});
  }
};

class UpdateStrategy final : public StrategyForExecs {
 public:
  using StrategyForExecs::patch;
  using StrategyForExecs::set;
  UpdateStrategy() : StrategyForExecs(std::make_unique<RebuildStrategy>()) {}

  PatchOutcome patch(StrategyContext& context, ExecObject& exec, std::span<const hip::Move> moves) override {
    PatchOutcome outcome;
    if (!moves.empty()) outcome.status = update_to(context, exec, exec.recording);
    return outcome;
  }
  hip::Status set(StrategyContext& context, ExecObject& exec, hip::NodeIndex index,
                  const hip::RecordedNode& node) override {
    return update_to(context, exec, with_node(exec.recording, index, node));
  }
  UpdateStatus update(StrategyContext& context, ExecObject& exec, const GraphObject& graph) override {
    const UpdateStatus status = call_update(context, exec, graph.handles.graph);
    if (status.code != hipSuccess || !fits(exec, graph)) return status;
    exec.recording = graph.recording;
    exec.addresses = context.addresses;
    return status;
  }

 private:
  // The memory nodes of a new graph make new allocations, and no update makes an executable graph use these.
  static hip::Status update_to(StrategyContext& context, ExecObject& exec, const hip::Recording& recording) {
    if (recording.has_memory_nodes()) return rebuild(context, exec, recording);
    hip::Result<hip::RecordedGraph> fresh = hip::record_graph(context.api, recording, context.addresses);
    if (!fresh) return fresh.error();
    const UpdateStatus status = call_update(context, exec, fresh.value().graph);
    hip::Status destroyed = hip::called(context.api.hipGraphDestroy(fresh.value().graph), "hipGraphDestroy");
    if (status.code != hipSuccess) {
      return hip::Error{status.code, fmt::format("hipGraphExecUpdate answered {}", hip::status_name(status.code))};
    }
    exec.recording = recording;
    exec.addresses = context.addresses;
    return destroyed;
  }
};

}  // namespace

std::unique_ptr<Strategy> make_strategy(StrategyKind kind) {
  switch (kind) {
    case StrategyKind::kRebuild:
      return std::make_unique<RebuildStrategy>();
    case StrategyKind::kUpdate:
      return std::make_unique<UpdateStrategy>();
    case StrategyKind::kStabilise:
      return make_stabilise_strategy();
    case StrategyKind::kRemap:
      return make_remap_strategy();
    case StrategyKind::kCareful:
      return make_careful_strategy();
    case StrategyKind::kCommandBuffer:
      return make_command_buffer_strategy();
    case StrategyKind::kPatch:
      break;
  }
  return std::make_unique<PatchStrategy>();
}

hip::Status Strategy::instantiate(StrategyContext& context, const GraphObject& graph, ExecObject& exec,
                                  std::string* said) {
  const hip::Result<hipGraphExec_t> instantiated =
      verify::instantiate(context, graph.handles.graph, exec.form, exec.flags, said);
  if (!instantiated) return instantiated.error();
  exec.alive = true;
  exec.exec = instantiated.value();
  exec.recording = graph.recording;
  exec.handles = graph.handles;
  exec.addresses = graph.addresses;
  return {};
}

hip::Status Strategy::record_again(StrategyContext& context, ExecObject& exec) {
  return rebuild(context, exec, exec.recording);
}

hip::RecordedNode Strategy::as_added(StrategyContext&, const hip::Recording&, hip::RecordedNode node) {
  return node;
}
hip::Status Strategy::launch(StrategyContext& context, const ExecObject& exec, const hip::StreamRef& stream) {
  ExecPatcher* const patcher = exec.stable ? exec.stable.get() : exec.patcher.get();
  const hipError_t code = patcher != nullptr ? patcher->launch(context.api, exec.exec, stream.handle())
                                             : context.api.hipGraphLaunch(exec.exec, stream.handle());
  return hip::called(code, "hipGraphLaunch");
}
hip::Result<unsigned> Strategy::enable(StrategyContext& context, ExecObject& exec, hip::NodeIndex index, bool on) {
  return switch_node(context, exec, index, on);
}

}  // namespace verify
