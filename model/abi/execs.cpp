// Executable graphs. Sources: HIP's header documentation; catch/unit/graph: hipGraphInstantiate.cc,
// hipGraphExecUpdate.cc, hipGraphExec*NodeSetParams.cc, hipGraphNodeSetEnabled.cc; clr's hip_graph.cpp.
#include "model/abi/node_place.h"

namespace model::abi {
namespace {

Status instantiate(State& state, hipGraphExec_t* out, hipGraph_t graph, unsigned long long flags) {
  const Graph* found = find(state, graph);
  if (out == nullptr || found == nullptr) return Status::kInvalidValue;
  constexpr unsigned long long kAllowed =
      hipGraphInstantiateFlagAutoFreeOnLaunch | hipGraphInstantiateFlagUpload | hipGraphInstantiateFlagUseNodePriority;
  if ((flags & ~kAllowed) != 0) return Status::kInvalidValue;
  GraphExec* exec = nullptr;
  const Status status = state.runtime.instantiate(*found, &exec, flags);
  if (status == Status::kSuccess) *out = to_handle<hipGraphExec_t>(exec->id());
  return status;
}

// The two handles that every setter of an executable graph takes.
struct Target {
  GraphExec* exec;
  const Node* node;
  [[nodiscard]] explicit operator bool() const { return exec != nullptr && node != nullptr; }
};
Target find_target(State& state, hipGraphExec_t exec, hipGraphNode_t node) {
  return {find(state, exec), find(state, node)};
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t*, char*, size_t) {
  return call([&](State& state) { return instantiate(state, exec, graph, 0); });
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long flags) {
  return call([&](State& state) { return instantiate(state, exec, graph, flags); });
}

hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  return teardown_on(exec, [](State& state, GraphExec& found) {
    state.runtime.destroy_exec(found);
    return Status::kSuccess;
  });
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  return call_on(exec, [&](State& state, GraphExec& found) {
    Stream* on = find(state, stream);
    return on == nullptr ? Status::kContextIsDestroyed : state.runtime.launch(found, *on);
  });
}

hipError_t hipGraphExecGetFlags(hipGraphExec_t exec, unsigned long long* flags) {
  return call_on(exec, [&](State&, const GraphExec& found) { return put(flags, found.flags()); });
}

// The model has nothing to upload: only the handles are checked.
hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t stream) {
  return call_on(exec, [&](State& state, const GraphExec&) {
    return find(state, stream) == nullptr ? Status::kContextIsDestroyed : Status::kSuccess;
  });
}

hipError_t hipGraphExecUpdate(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* error_node,
                              hipGraphExecUpdateResult* result) {
  return call_on(exec, [&](State& state, GraphExec& found) {
    const Graph* from = find(state, graph);
    if (from == nullptr || error_node == nullptr || result == nullptr) return Status::kInvalidValue;
    const UpdateOutcome outcome = found.update(*from);
    *error_node = to_handle<hipGraphNode_t>(outcome.error_node == nullptr ? 0 : outcome.error_node->id());
    *result = static_cast<hipGraphExecUpdateResult>(outcome.result);
    return outcome.status;
  });
}

hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipKernelNodeParams* params) {
  return call([&](State& state) {
    const Target target = find_target(state, exec, node);
    if (!target || target.node->type() != NodeType::kKernel) return Status::kInvalidValue;
    return convert_and_set<KernelParams>(state, exec, node, params);
  });
}

hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipMemcpy3DParms* params) {
  return call([&](State& state) { return convert_and_set<CopyParams>(state, exec, node, params); });
}

// Unit_hipGraphExecMemcpyNodeSetParams1D: "count == 0" and a copy onto itself are hipErrorInvalidValue.
hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void* dst, const void* src,
                                             size_t bytes, hipMemcpyKind kind) {
  return call([&](State& state) {
    const Target target = find_target(state, exec, node);
    if (!target || bytes == 0 || dst == src) return Status::kInvalidValue;
    return as_invalid_value(target.exec->set_params(
        target.node->id(), linear_copy(to_address(dst), to_address(src), bytes, static_cast<CopyKind>(kind))));
  });
}

hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams* params) {
  return call([&](State& state) { return convert_and_set<MemsetParams>(state, exec, node, params); });
}

hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipHostNodeParams* params) {
  return call([&](State& state) { return convert_and_set<HostParams>(state, exec, node, params); });
}

hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipGraph_t child) {
  return call([&](State& state) {
    const Target target = find_target(state, exec, node);
    const Graph* graph = find(state, child);
    if (!target || graph == nullptr) return Status::kInvalidValue;
    return target.exec->set_child(target.node->id(), *graph);
  });
}

hipError_t hipGraphNodeSetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned int enabled) {
  return call([&](State& state) {
    const Target target = find_target(state, exec, node);
    if (!target) return Status::kInvalidValue;
    return target.exec->set_enabled(target.node->id(), enabled != 0);
  });
}

hipError_t hipGraphNodeGetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned int* enabled) {
  return call([&](State& state) {
    const Target target = find_target(state, exec, node);
    if (!target || enabled == nullptr) return Status::kInvalidValue;
    bool is = false;
    const Status status = target.exec->enabled(target.node->id(), &is);
    if (status == Status::kSuccess) *enabled = is ? 1 : 0;
    return status;
  });
}

HGMODEL_FUNCTIONS_END
