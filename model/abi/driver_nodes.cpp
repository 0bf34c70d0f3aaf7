// The driver's forms of copy and memset nodes. Sources: HIP's header documentation; catch/unit/graph: hipDrvGraph*.cc;
// clr's hip_graph.cpp for the functions that check the context (only hipDrvGraphAddMemcpyNode refuses a null context).
#include "model/abi/node_place.h"

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipCtxGetCurrent(hipCtx_t* context) {
  return call([&](State& state) { return put(context, context_of(state.thread->device)); });
}

hipError_t hipDrvGraphAddMemcpyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                    size_t count, const HIP_MEMCPY3D* params, hipCtx_t context) {
  return call([&](State& state) {
    if (context == nullptr) return Status::kInvalidValue;
    return as_invalid_value(convert_and_add<CopyParams>(state, {node, graph, dependencies, count}, params));
  });
}

hipError_t hipDrvGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                    size_t count, const hipMemsetParams* params, hipCtx_t) {
  return call([&](State& state) {
    return as_invalid_value(convert_and_add<MemsetParams>(state, {node, graph, dependencies, count}, params));
  });
}

hipError_t hipDrvGraphMemcpyNodeGetParams(hipGraphNode_t node, HIP_MEMCPY3D* params) {
  return call_on(node, [&](State&, const Node& found) {
    const auto* copy = std::get_if<CopyParams>(&found.params());
    return copy == nullptr ? Status::kInvalidValue : put(params, to_driver(*copy));
  });
}

hipError_t hipDrvGraphMemcpyNodeSetParams(hipGraphNode_t node, const HIP_MEMCPY3D* params) {
  return call([&](State& state) { return as_invalid_value(convert_and_set<CopyParams>(state, node, params)); });
}

hipError_t hipDrvGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const HIP_MEMCPY3D* params,
                                              hipCtx_t) {
  return call([&](State& state) { return convert_and_set<CopyParams>(state, exec, node, params); });
}

hipError_t hipDrvGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams* params,
                                              hipCtx_t) {
  return call([&](State& state) { return convert_and_set<MemsetParams>(state, exec, node, params); });
}

HGMODEL_FUNCTIONS_END
