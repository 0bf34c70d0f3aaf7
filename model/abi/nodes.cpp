// Nodes of graphs: adding them, and their parameters. Sources: HIP's header documentation; the *_Negative tests of
// catch/unit/graph (GraphAddNodeCommonNegativeTests, MemcpyWithDirectionCommonNegativeTests, MemsetCommonNegative).
#include "model/abi/node_place.h"

namespace model::abi {
// A list with more entries than the graph has nodes names a node twice, or something that is no node of the graph. It
// is refused before it is read.
static Status find_place(State& state, const Where& where, Graph** graph, std::vector<Node*>* dependencies) {
  *graph = find(state, where.graph);
  if (where.out == nullptr || *graph == nullptr) return Status::kInvalidValue;
  if (where.count > 0 && where.dependencies == nullptr) return Status::kInvalidValue;
  if (where.count > (*graph)->nodes().size()) return Status::kInvalidValue;
  for (std::size_t i = 0; i < where.count; ++i) dependencies->push_back(find(state, where.dependencies[i]));
  return Status::kSuccess;
}

Status add(State& state, const Where& where, NodeParams params) {
  Graph* graph = nullptr;
  std::vector<Node*> dependencies;
  if (const Status status = find_place(state, where, &graph, &dependencies); status != Status::kSuccess) return status;
  Node* node = nullptr;
  const Status status = graph->add(std::move(params), dependencies, &node);
  if (status == Status::kSuccess) *where.out = to_handle<hipGraphNode_t>(node->id());
  return status;
}

namespace {

template <class Params, class HipParams>
Status get(State& state, hipGraphNode_t handle, HipParams* out) {
  const Node* node = find(state, handle);
  const auto* params = node == nullptr ? nullptr : std::get_if<Params>(&node->params());
  return params == nullptr ? Status::kInvalidValue : put(out, to_hip(*params));
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipGraphAddEmptyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                size_t count) {
  return call([&](State& state) { return add(state, {node, graph, dependencies, count}, EmptyParams{}); });
}

hipError_t hipGraphAddKernelNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipKernelNodeParams* params) {
  return call(
      [&](State& state) { return convert_and_add<KernelParams>(state, {node, graph, dependencies, count}, params); });
}

hipError_t hipGraphAddMemcpyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipMemcpy3DParms* params) {
  return call(
      [&](State& state) { return convert_and_add<CopyParams>(state, {node, graph, dependencies, count}, params); });
}

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                   size_t count, void* dst, const void* src, size_t bytes, hipMemcpyKind kind) {
  return call([&](State& state) {
    if (bytes == 0) return Status::kInvalidValue;  // Unit_hipGraphAddMemcpyNode1D_Negative_Parameters: "count == 0"
    return add(state, {node, graph, dependencies, count},
               linear_copy(to_address(dst), to_address(src), bytes, static_cast<CopyKind>(kind)));
  });
}

hipError_t hipGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipMemsetParams* params) {
  return call(
      [&](State& state) { return convert_and_add<MemsetParams>(state, {node, graph, dependencies, count}, params); });
}

hipError_t hipGraphAddHostNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                               const hipHostNodeParams* params) {
  return call(
      [&](State& state) { return convert_and_add<HostParams>(state, {node, graph, dependencies, count}, params); });
}

hipError_t hipGraphAddChildGraphNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                     size_t count, hipGraph_t child) {
  return call([&](State& state) {
    Graph* in = nullptr;
    std::vector<Node*> after;
    const Status status = find_place(state, {node, graph, dependencies, count}, &in, &after);
    if (status != Status::kSuccess) return status;
    const Graph* found = find(state, child);
    if (found == nullptr) return Status::kInvalidValue;
    Node* added = nullptr;
    const Status outcome = in->add_child(*found, after, &added);
    if (outcome == Status::kSuccess) *node = to_handle<hipGraphNode_t>(added->id());
    return outcome;
  });
}

hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t* graph) {
  return call_on(node, [&](State&, const Node& found) {
    return found.child() == nullptr ? Status::kInvalidValue : put(graph, to_handle<hipGraph_t>(found.child()->id()));
  });
}

hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams* params) {
  return call_on(node, [&](State& state, Node& found) {
    if (params == nullptr || found.type() != NodeType::kKernel) return Status::kInvalidValue;
    return put(params, to_hip(state, found));
  });
}

hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams* params) {
  return call_on(node, [&](State& state, const Node& found) {
    if (found.type() != NodeType::kKernel) return Status::kInvalidValue;
    return convert_and_set<KernelParams>(state, node, params);
  });
}

hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms* params) {
  return call([&](State& state) { return get<CopyParams>(state, node, params); });
}

hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms* params) {
  return call([&](State& state) { return convert_and_set<CopyParams>(state, node, params); });
}

// Unit_hipGraphMemcpyNodeSetParams1D: "count == 0" and a copy onto itself are hipErrorInvalidValue.
hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* dst, const void* src, size_t bytes,
                                         hipMemcpyKind kind) {
  return call_on(node, [&](State&, Node& found) {
    if (bytes == 0 || dst == src) return Status::kInvalidValue;
    return found.graph().set_params(found,
                                    linear_copy(to_address(dst), to_address(src), bytes, static_cast<CopyKind>(kind)));
  });
}

hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams* params) {
  return call([&](State& state) { return get<MemsetParams>(state, node, params); });
}

hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams* params) {
  return call([&](State& state) { return convert_and_set<MemsetParams>(state, node, params); });
}

hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams* params) {
  return call([&](State& state) { return get<HostParams>(state, node, params); });
}

hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams* params) {
  return call([&](State& state) { return convert_and_set<HostParams>(state, node, params); });
}

HGMODEL_FUNCTIONS_END
