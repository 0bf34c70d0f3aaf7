// Whole graphs: creation, clones, edges and queries. Sources: HIP's header documentation; catch/unit/graph; clr's
// hip_graph.cpp for how lists are returned (null: the number only; a longer list is filled up with nulls).
#include <algorithm>

#include "model/abi/convert.h"

namespace model::abi {
namespace {

Status hand_out(const std::vector<Node*>& nodes, hipGraphNode_t* list, std::size_t* count) {
  if (list == nullptr || count == nullptr) {
    return put(count, nodes.size());
  }
  for (std::size_t i = 0; i < *count; ++i) {
    list[i] = i < nodes.size() ? to_handle<hipGraphNode_t>(nodes[i]->id()) : nullptr;
  }
  return put(count, std::min(*count, nodes.size()));
}

// A list with more edges than the graph has pairs of nodes names an edge twice; it is refused before it is read.
Status find_edges(State& state, const Graph& graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                  std::size_t count, std::vector<Node*>* sources, std::vector<Node*>* targets) {
  if (count == 0) return Status::kSuccess;
  const std::size_t nodes = graph.nodes().size();
  if (from == nullptr || to == nullptr || count > nodes * nodes) return Status::kInvalidValue;
  if (const Status status = find_nodes(state, from, count, sources); status != Status::kSuccess) return status;
  return find_nodes(state, to, count, targets);
}

hipError_t change_edges(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to, std::size_t count,
                        Status (Graph::*change)(std::span<Node* const>, std::span<Node* const>)) {
  return call_on(graph, [&](State& state, Graph& found) {
    std::vector<Node*> sources, targets;
    const Status status = find_edges(state, found, from, to, count, &sources, &targets);
    return status != Status::kSuccess ? status : (found.*change)(sources, targets);
  });
}

hipGraphNodeType to_hip(NodeType type) {
  switch (type) {
    case NodeType::kKernel:
      return hipGraphNodeTypeKernel;
    case NodeType::kCopy:
      return hipGraphNodeTypeMemcpy;
    case NodeType::kMemset:
      return hipGraphNodeTypeMemset;
    case NodeType::kHost:
      return hipGraphNodeTypeHost;
    case NodeType::kBatch:
      return static_cast<hipGraphNodeType>(14);  // hipGraphNodeTypeBatchMemOp, which HIP 6.4 does not name
    case NodeType::kChild:
      return hipGraphNodeTypeGraph;
    case NodeType::kEventRecord:
      return hipGraphNodeTypeEventRecord;
    case NodeType::kEventWait:
      return hipGraphNodeTypeWaitEvent;
    case NodeType::kAllocate:
      return hipGraphNodeTypeMemAlloc;
    case NodeType::kFree:
      return hipGraphNodeTypeMemFree;
    case NodeType::kSemaphoreSignal:
      return hipGraphNodeTypeExtSemaphoreSignal;
    case NodeType::kSemaphoreWait:
      return hipGraphNodeTypeExtSemaphoreWait;
    case NodeType::kEmpty:
      break;
  }
  return hipGraphNodeTypeEmpty;
}

}  // namespace

Status find_nodes(State& state, const hipGraphNode_t* handles, std::size_t count, std::vector<Node*>* nodes) {
  if (count > 0 && handles == nullptr) return Status::kInvalidValue;
  for (std::size_t i = 0; i < count; ++i) {
    Node* node = find(state, handles[i]);
    if (node == nullptr) return Status::kInvalidValue;
    nodes->push_back(node);
  }
  return Status::kSuccess;
}

}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipGraphCreate(hipGraph_t* graph, unsigned int flags) {
  return call([&](State& state) {
    if (graph == nullptr || flags != 0) return Status::kInvalidValue;
    return put(graph, to_handle<hipGraph_t>(state.runtime.create_graph().id()));
  });
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  return teardown_on(graph, [](State& state, Graph& found) { return state.runtime.destroy_graph(found); });
}

hipError_t hipGraphClone(hipGraph_t* clone, hipGraph_t original) {
  return call_on(original, [&](State& state, const Graph& found) {
    if (clone == nullptr) return Status::kInvalidValue;
    if (found.has_memory_nodes()) return Status::kNotSupported;
    return put(clone, to_handle<hipGraph_t>(state.runtime.clone_graph(found).id()));
  });
}

hipError_t hipGraphNodeFindInClone(hipGraphNode_t* node, hipGraphNode_t original, hipGraph_t clone) {
  return call_on(original, [&](State& state, const Node& first) {
    const Graph* in = find(state, clone);
    const Node* found = in == nullptr ? nullptr : in->find_clone_of(first.id());
    return found == nullptr ? Status::kInvalidValue : put(node, to_handle<hipGraphNode_t>(found->id()));
  });
}

hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* count) {
  return call_on(graph, [&](State&, const Graph& found) {
    std::vector<Node*> all;
    for (const auto& node : found.nodes()) all.push_back(node.get());
    return hand_out(all, nodes, count);
  });
}

hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* count) {
  return call_on(graph, [&](State&, const Graph& found) { return hand_out(found.roots(), nodes, count); });
}

hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t* from, hipGraphNode_t* to, size_t* count) {
  return call_on(graph, [&](State&, const Graph& found) {
    if (count == nullptr || (from == nullptr) != (to == nullptr)) return Status::kInvalidValue;
    std::vector<Node*> sources, targets;
    for (const auto& [source, target] : found.edges()) {
      sources.push_back(source);
      targets.push_back(target);
    }
    std::size_t same = *count;
    (void)hand_out(sources, from, &same);  // succeeds, as the next call does
    return hand_out(targets, to, count);
  });
}

hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t* dependencies, size_t* count) {
  return call_on(node, [&](State&, const Node& found) {
    return hand_out(found.graph().dependencies(found), dependencies, count);
  });
}

hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t* dependents, size_t* count) {
  return call_on(
      node, [&](State&, const Node& found) { return hand_out(found.graph().dependents(found), dependents, count); });
}

hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                   size_t count) {
  return change_edges(graph, from, to, count, &Graph::add_edges);
}

hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                      size_t count) {
  return change_edges(graph, from, to, count, &Graph::remove_edges);
}

hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type) {
  return call_on(node, [&](State&, const Node& found) { return put(type, to_hip(found.type())); });
}

hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
  return teardown_on(node, [](State&, Node& found) {
    if (found.graph().has_memory_nodes()) return Status::kNotSupported;
    found.graph().remove(found);
    return Status::kSuccess;
  });
}

HGMODEL_FUNCTIONS_END
