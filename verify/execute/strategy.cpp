#include "verify/execute/strategy.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "hip/kernel_parameters.h"

namespace verify {

namespace {

hip::Status checked(hipError_t code, const char* what) {
  if (code == hipSuccess) return {};
  return hip::Error{code, fmt::format("{} answered {}", what, hip::status_name(code))};
}

void poison_recording(hip::Recording& recording) {
  for (hip::NodeIndex i = 0; i < recording.nodes().size(); ++i) {
    const hip::RecordedNode& node = recording.nodes()[i];
    const auto* kernel = std::get_if<hip::KernelRecord>(&node.record);
    if (kernel == nullptr || kernel->arguments.empty()) continue;
    // In place: whoever kept a pointer to these bytes must read the poison.
    auto& bytes = const_cast<std::vector<std::byte>&>(kernel->arguments);
    std::memset(bytes.data(), static_cast<int>(kPoison), bytes.size());
  }
}

// A patcher is given a recording that dies (or, poisoned, lives on as garbage) as soon as it has been made.
template <class Object>
std::unique_ptr<ExecPatcher> make_patcher(Machine& machine, const Object& object, hipGraphExec_t exec) {
  auto passed = std::make_unique<hip::Recording>(object.recording);
  const PatchTarget target{machine.api, *passed, object.handles, exec, object.addresses, machine.buffer_bytes};
  std::unique_ptr<ExecPatcher> patcher = machine.patchers(target);
  if (machine.poison) poison_recording(*passed);
  machine.passed.push_back(std::move(passed));
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

struct ExecSetter {
  Machine& machine;
  hipGraphExec_t exec;
  hipGraphNode_t node;

  hip::Status operator()(hip::KernelRecord& r) const {
    const hip::KernelParameters params(r, r.style);
    return checked(machine.api.hipGraphExecKernelNodeSetParams(exec, node, params.get()),
                   "hipGraphExecKernelNodeSetParams");
  }
  hip::Status operator()(hip::CopyRecord& r) const {
    if (!r.linear)
      return checked(machine.api.hipGraphExecMemcpyNodeSetParams(exec, node, &r.params),
                     "hipGraphExecMemcpyNodeSetParams");
    return checked(machine.api.hipGraphExecMemcpyNodeSetParams1D(exec, node, r.params.dstPtr.ptr, r.params.srcPtr.ptr,
                                                                 r.params.extent.width, r.params.kind),
                   "hipGraphExecMemcpyNodeSetParams1D");
  }
  hip::Status operator()(hip::MemsetRecord& r) const {
    return checked(machine.api.hipGraphExecMemsetNodeSetParams(exec, node, &r.params),
                   "hipGraphExecMemsetNodeSetParams");
  }
  hip::Status operator()(hip::HostRecord& r) const {
    return checked(machine.api.hipGraphExecHostNodeSetParams(exec, node, &r.params), "hipGraphExecHostNodeSetParams");
  }
  hip::Status operator()(hip::ChildRecord& r) const {
    hip::Result<hip::RecordedGraph> child = hip::record_graph(machine.api, *r.graph, machine.addresses);
    if (!child) return child.error();
    hip::Status set = checked(machine.api.hipGraphExecChildGraphNodeSetParams(exec, node, child.value().graph),
                              "hipGraphExecChildGraphNodeSetParams");
    hip::Status destroyed = checked(machine.api.hipGraphDestroy(child.value().graph), "hipGraphDestroy");
    return set ? destroyed : set;
  }
  hip::Status operator()(hip::EmptyRecord&) const { return {}; }
  hip::Status operator()(hip::OpaqueRecord&) const {
    return hip::Error{hipErrorNotSupported, "an opaque node has no setter"};
  }
};

struct GraphSetter {
  Machine& machine;
  hipGraphNode_t node;

  hip::Status operator()(hip::KernelRecord& r) const {
    const hip::KernelParameters params(r, r.style);
    return checked(machine.api.hipGraphKernelNodeSetParams(node, params.get()), "hipGraphKernelNodeSetParams");
  }
  hip::Status operator()(hip::CopyRecord& r) const {
    if (!r.linear)
      return checked(machine.api.hipGraphMemcpyNodeSetParams(node, &r.params), "hipGraphMemcpyNodeSetParams");
    return checked(machine.api.hipGraphMemcpyNodeSetParams1D(node, r.params.dstPtr.ptr, r.params.srcPtr.ptr,
                                                             r.params.extent.width, r.params.kind),
                   "hipGraphMemcpyNodeSetParams1D");
  }
  hip::Status operator()(hip::MemsetRecord& r) const {
    return checked(machine.api.hipGraphMemsetNodeSetParams(node, &r.params), "hipGraphMemsetNodeSetParams");
  }
  hip::Status operator()(hip::HostRecord& r) const {
    return checked(machine.api.hipGraphHostNodeSetParams(node, &r.params), "hipGraphHostNodeSetParams");
  }
  hip::Status operator()(hip::ChildRecord&) const { return hip::Error{hipErrorNotSupported, "HIP has no such setter"}; }
  hip::Status operator()(hip::EmptyRecord&) const { return {}; }
  hip::Status operator()(hip::OpaqueRecord&) const {
    return hip::Error{hipErrorNotSupported, "an opaque node has no setter"};
  }
};

bool holds_opaque(const hip::NodeRecord& record) {
  return std::holds_alternative<hip::OpaqueRecord>(record);
}

// The recording with one node replaced. Types stay, so this is what Recording::replace is for.
hip::Recording with_node(const hip::Recording& recording, hip::NodeIndex index, const hip::RecordedNode& node) {
  hip::Recording changed = recording;
  changed.replace(index, node.record, node.relocations);
  return changed;
}

// What hipGraphExecUpdate answers, from the documented rules: pairs of nodes in order, same number, same types.
UpdateStatus documented_update(const hip::Recording& from, const hip::Recording& to) {
  if (from.nodes().size() != to.nodes().size()) {
    return {hipErrorGraphExecUpdateFailure, hipGraphExecUpdateErrorTopologyChanged};
  }
  for (std::size_t i = 0; i < from.nodes().size(); ++i) {
    const hip::NodeRecord &a = from.nodes()[i].record, &b = to.nodes()[i].record;
    const auto type = [](const hip::NodeRecord& r) { return holds_opaque(r) ? 0 : r.index(); };  // ours are kernels
    if (type(a) != type(b)) return {hipErrorGraphExecUpdateFailure, hipGraphExecUpdateErrorNodeTypeChanged};
  }
  return {hipSuccess, hipGraphExecUpdateSuccess};
}

class RebuildStrategy final : public Strategy {
 public:
  PatchOutcome patch(Machine& machine, ExecObject& exec, std::span<const hip::Move> moves) override {
    return moves.empty() ? PatchOutcome{} : PatchOutcome{rebuild(machine, exec, exec.recording), {}, {}};
  }
  PatchOutcome patch(Machine& machine, GraphObject& graph, std::span<const hip::Move> moves) override {
    return moves.empty() ? PatchOutcome{} : PatchOutcome{rebuild(machine, graph, graph.recording), {}, {}};
  }
  hip::Status set(Machine& machine, ExecObject& exec, hip::NodeIndex index, const hip::RecordedNode& node) override {
    return rebuild(machine, exec, with_node(exec.recording, index, node));
  }
  hip::Status set(Machine& machine, GraphObject& graph, hip::NodeIndex index, const hip::RecordedNode& node) override {
    return rebuild(machine, graph, with_node(graph.recording, index, node));
  }
  UpdateStatus update(Machine& machine, ExecObject& exec, const GraphObject& graph) override {
    const UpdateStatus status = documented_update(exec.recording, graph.recording);
    if (status.code != hipSuccess) return status;
    const hip::Status rebuilt = rebuild(machine, exec, graph.recording);
    return rebuilt ? status : UpdateStatus{rebuilt.error().code, hipGraphExecUpdateError};
  }
};

UpdateStatus call_update(Machine& machine, ExecObject& exec, hipGraph_t graph) {
  hipGraphNode_t error_node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
  const hipError_t code = machine.api.hipGraphExecUpdate(exec.exec, graph, &error_node, &result);
  return {code, code == hipSuccess || code == hipErrorGraphExecUpdateFailure ? result : hipGraphExecUpdateError};
}

class PatchStrategy final : public Strategy {
 public:
  PatchOutcome patch(Machine& machine, ExecObject& exec, std::span<const hip::Move> moves) override {
    if (!exec.patcher) exec.patcher = make_patcher(machine, exec, exec.exec);
    PatchOutcome outcome = outcome_of(exec.patcher->patch(moves));
    if (outcome.status) exec.addresses = machine.addresses;
    return outcome;
  }
  PatchOutcome patch(Machine& machine, GraphObject& graph, std::span<const hip::Move> moves) override {
    if (!graph.patcher) graph.patcher = make_patcher(machine, graph, nullptr);
    PatchOutcome outcome = outcome_of(graph.patcher->patch(moves));
    if (outcome.status) graph.addresses = machine.addresses;
    return outcome;
  }
  hip::Status set(Machine& machine, ExecObject& exec, hip::NodeIndex index, const hip::RecordedNode& node) override {
    if (holds_opaque(node.record)) return rebuild(machine, exec, with_node(exec.recording, index, node));
    hip::NodeRecord record = node.record;
    if (hip::Status s = std::visit(ExecSetter{machine, exec.exec, exec.handles.nodes[index]}, record); !s) return s;
    return note(machine, exec, index, node);
  }
  hip::Status set(Machine& machine, GraphObject& graph, hip::NodeIndex index, const hip::RecordedNode& node) override {
    if (holds_opaque(node.record)) return rebuild(machine, graph, with_node(graph.recording, index, node));
    hip::NodeRecord record = node.record;
    if (hip::Status s = std::visit(GraphSetter{machine, graph.handles.nodes[index]}, record); !s) return s;
    return note(machine, graph, index, node);
  }
  UpdateStatus update(Machine& machine, ExecObject& exec, const GraphObject& graph) override {
    const UpdateStatus status = call_update(machine, exec, graph.handles.graph);
    if (status.code != hipSuccess) return status;
    exec.recording = graph.recording;
    exec.addresses = machine.addresses;
    if (exec.patcher) exec.patcher->replace_all(exec.recording, exec.addresses);
    return status;
  }

 private:
  // The patcher may not know buffers that the node names at their current place yet: tell it (no node holds them).
  template <class Object>
  hip::Status note(Machine& machine, Object& object, hip::NodeIndex index, const hip::RecordedNode& node) {
    std::vector<hip::Move> moves;
    for (const hip::Relocation& relocation : node.relocations) add_move(machine, object, relocation.buffer, moves);
    const auto* child = std::get_if<hip::ChildRecord>(&node.record);
    for (Id b = 0; child != nullptr && b < child->graph->buffer_count(); ++b) add_move(machine, object, b, moves);
    object.recording.replace(index, node.record, node.relocations);
    for (const hip::Move& move : moves) object.addresses[move.buffer] = move.to;
    if (!object.patcher) return {};
    object.patcher->replace(index, node.record, node.relocations);
    // Everything is at the current addresses already, so a patcher starts over rather than patching.
    if (!moves.empty()) object.patcher->replace_all(object.recording, object.addresses);
    return {};
  }
  template <class Object>
  static void add_move(const Machine& machine, const Object& object, Id buffer, std::vector<hip::Move>& moves) {
    if (object.addresses[buffer] == machine.addresses[buffer]) return;
    for (const hip::Move& move : moves) {
      if (move.buffer == buffer) return;
    }
    moves.push_back({buffer, object.addresses[buffer], machine.addresses[buffer]});
  }
};

class UpdateStrategy final : public Strategy {
 public:
  PatchOutcome patch(Machine& machine, ExecObject& exec, std::span<const hip::Move> moves) override {
    PatchOutcome outcome;
    if (!moves.empty()) outcome.status = update_to(machine, exec, exec.recording);
    return outcome;
  }
  PatchOutcome patch(Machine& machine, GraphObject& graph, std::span<const hip::Move> moves) override {
    return moves.empty() ? PatchOutcome{} : PatchOutcome{rebuild(machine, graph, graph.recording), {}, {}};
  }
  hip::Status set(Machine& machine, ExecObject& exec, hip::NodeIndex index, const hip::RecordedNode& node) override {
    return update_to(machine, exec, with_node(exec.recording, index, node));
  }
  hip::Status set(Machine& machine, GraphObject& graph, hip::NodeIndex index, const hip::RecordedNode& node) override {
    return rebuild(machine, graph, with_node(graph.recording, index, node));
  }
  UpdateStatus update(Machine& machine, ExecObject& exec, const GraphObject& graph) override {
    const UpdateStatus status = call_update(machine, exec, graph.handles.graph);
    if (status.code != hipSuccess) return status;
    exec.recording = graph.recording;
    exec.addresses = machine.addresses;
    return status;
  }

 private:
  static hip::Status update_to(Machine& machine, ExecObject& exec, const hip::Recording& recording) {
    hip::Result<hip::RecordedGraph> fresh = hip::record_graph(machine.api, recording, machine.addresses);
    if (!fresh) return fresh.error();
    const UpdateStatus status = call_update(machine, exec, fresh.value().graph);
    hip::Status destroyed = checked(machine.api.hipGraphDestroy(fresh.value().graph), "hipGraphDestroy");
    if (status.code != hipSuccess) {
      return hip::Error{status.code, fmt::format("hipGraphExecUpdate answered {}", hip::status_name(status.code))};
    }
    exec.recording = recording;
    exec.addresses = machine.addresses;
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
    case StrategyKind::kPatch:
      break;
  }
  return std::make_unique<PatchStrategy>();
}

hip::Status rebuild(Machine& machine, ExecObject& exec, const hip::Recording& recording) {
  hip::Result<hip::RecordedGraph> fresh = hip::record_graph(machine.api, recording, machine.addresses);
  if (!fresh) return fresh.error();
  hipGraphExec_t instantiated = nullptr;
  hip::Status status = checked(machine.api.hipGraphInstantiate(&instantiated, fresh.value().graph, nullptr, nullptr, 0),
                               "hipGraphInstantiate");
  if (!status) {
    const hip::Status destroyed = checked(machine.api.hipGraphDestroy(fresh.value().graph), "hipGraphDestroy");
    return destroyed ? status : destroyed;
  }
  hip::Recording kept = recording;  // `recording` may be exec's own
  // Destroying an executable graph under a launch is not documented as safe: let its work end first.
  hip::Status waited = checked(machine.api.hipDeviceSynchronize(), "hipDeviceSynchronize");
  hip::Status destroyed = destroy(machine, exec);
  exec.alive = exec.owned = true;
  exec.exec = instantiated;
  exec.handles = std::move(fresh).value();
  exec.recording = std::move(kept);
  exec.addresses = machine.addresses;
  return waited ? destroyed : waited;
}

hip::Status rebuild(Machine& machine, GraphObject& graph, const hip::Recording& recording) {
  hip::Result<hip::RecordedGraph> fresh = hip::record_graph(machine.api, recording, machine.addresses);
  if (!fresh) return fresh.error();
  hip::Recording kept = recording;  // `recording` may be graph's own
  graph.patcher.reset();
  machine.retired.push_back(graph.handles.graph);
  graph.handles = std::move(fresh).value();
  graph.recording = std::move(kept);
  graph.addresses = machine.addresses;
  return {};
}

hip::Status destroy(Machine& machine, ExecObject& exec) {
  exec.patcher.reset();  // before what it refers to
  exec.alive = false;
  hip::Status destroyed = checked(machine.api.hipGraphExecDestroy(exec.exec), "hipGraphExecDestroy");
  if (!exec.owned) return destroyed;
  hip::Status graph = checked(machine.api.hipGraphDestroy(exec.handles.graph), "hipGraphDestroy");
  return destroyed ? graph : destroyed;
}

hip::Status destroy(Machine& machine, GraphObject& graph) {
  graph.patcher.reset();
  graph.alive = false;
  return checked(machine.api.hipGraphDestroy(graph.handles.graph), "hipGraphDestroy");
}

}  // namespace verify
