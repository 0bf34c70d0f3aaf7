// The driver's forms of copy and memset nodes. Sources: HIP's header documentation; catch/unit/graph: hipDrvGraph*.cc;
// clr's hip_graph.cpp for the functions that check the context (only hipDrvGraphAddMemcpyNode refuses a null context).
#include "model/abi/convert.h"

namespace model::abi {
namespace {

Status find_dependencies(State& state, const hipGraphNode_t* list, std::size_t count, const Graph& graph,
                         std::vector<Node*>* out) {
  if (count > 0 && list == nullptr) return Status::kInvalidValue;
  if (count > graph.nodes().size()) return Status::kInvalidValue;
  for (std::size_t i = 0; i < count; ++i) out->push_back(find(state, list[i]));
  return Status::kSuccess;
}

template <class Params, class HipParams>
Status add(State& state, hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, std::size_t count,
           const HipParams* params) {
  Graph* found = find(state, graph);
  if (node == nullptr || found == nullptr) return Status::kInvalidValue;
  Params converted;
  if (const Status status = from_hip(params, &converted); status != Status::kSuccess) return status;
  std::vector<Node*> after;
  const Status status = find_dependencies(state, dependencies, count, *found, &after);
  if (status != Status::kSuccess) return status;
  Node* added = nullptr;
  const Status outcome = as_invalid_value(found->add(std::move(converted), after, &added));
  if (outcome == Status::kSuccess) *node = to_handle<hipGraphNode_t>(added->id());
  return outcome;
}

template <class Params, class HipParams>
Status set(State& state, hipGraphExec_t exec, hipGraphNode_t node, const HipParams* params) {
  GraphExec* found = find(state, exec);
  const Node* of = find(state, node);
  if (found == nullptr || of == nullptr) return Status::kInvalidValue;
  Params converted;
  if (const Status status = from_hip(params, &converted); status != Status::kSuccess) return status;
  return as_invalid_value(found->set_params(of->id(), std::move(converted)));
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipCtxGetCurrent(hipCtx_t* context) {
  return call([&](State& state) {
    if (context == nullptr) return Status::kInvalidValue;
    return put(context, context_of(state.thread->device));
  });
}

hipError_t hipDrvGraphAddMemcpyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                    size_t count, const HIP_MEMCPY3D* params, hipCtx_t context) {
  return call([&](State& state) {
    if (context == nullptr) return Status::kInvalidValue;
    return add<CopyParams>(state, node, graph, dependencies, count, params);
  });
}

hipError_t hipDrvGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                    size_t count, const hipMemsetParams* params, hipCtx_t) {
  return call([&](State& state) { return add<MemsetParams>(state, node, graph, dependencies, count, params); });
}

hipError_t hipDrvGraphMemcpyNodeGetParams(hipGraphNode_t node, HIP_MEMCPY3D* params) {
  return call([&](State& state) {
    const Node* found = find(state, node);
    if (found == nullptr || params == nullptr || found->type() != NodeType::kCopy) return Status::kInvalidValue;
    return put(params, to_driver(std::get<CopyParams>(found->params())));
  });
}

hipError_t hipDrvGraphMemcpyNodeSetParams(hipGraphNode_t node, const HIP_MEMCPY3D* params) {
  return call([&](State& state) {
    Node* found = find(state, node);
    if (found == nullptr) return Status::kInvalidValue;
    CopyParams converted;
    if (const Status status = from_hip(params, &converted); status != Status::kSuccess) return status;
    return as_invalid_value(found->graph().set_params(*found, std::move(converted)));
  });
}

hipError_t hipDrvGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const HIP_MEMCPY3D* params,
                                              hipCtx_t) {
  return call([&](State& state) { return set<CopyParams>(state, exec, node, params); });
}

hipError_t hipDrvGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams* params,
                                              hipCtx_t) {
  return call([&](State& state) { return set<MemsetParams>(state, exec, node, params); });
}

HGMODEL_FUNCTIONS_END
