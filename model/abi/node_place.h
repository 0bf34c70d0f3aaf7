// Adding nodes and setting their parameters, for the implementation of model/abi only. The place, or the node, is
// checked before the parameters.
#pragma once

#include "model/abi/convert.h"

namespace model::abi {

// The arguments that all hipGraphAdd*Node share.
struct Where {
  hipGraphNode_t* out;
  hipGraph_t graph;
  const hipGraphNode_t* dependencies;
  std::size_t count;
};

[[nodiscard]] Status add(State& state, const Where& where, NodeParams params);

// Parameters that convert without the state.
template <class Params, class From>
[[nodiscard]] Status from_hip(State&, const From* from, Params* out) {
  return from_hip(from, out);
}

template <class Params, class From>
[[nodiscard]] Status convert_and_add(State& state, const Where& where, const From* from) {
  Params converted;
  if (where.out == nullptr || find(state, where.graph) == nullptr) return Status::kInvalidValue;
  if (const Status status = from_hip(state, from, &converted); status != Status::kSuccess) return status;
  return add(state, where, std::move(converted));
}

template <class Params, class From>
[[nodiscard]] Status convert_and_set(State& state, hipGraphNode_t handle, const From* from) {
  Params converted;
  Node* node = find(state, handle);
  if (node == nullptr) return Status::kInvalidValue;
  if (const Status status = from_hip(state, from, &converted); status != Status::kSuccess) return status;
  return node->graph().set_params(*node, std::move(converted));
}

template <class Params, class From>
[[nodiscard]] Status convert_and_set(State& state, hipGraphExec_t handle, hipGraphNode_t in_graph, const From* from) {
  Params converted;
  GraphExec* exec = find(state, handle);
  const Node* node = find(state, in_graph);
  if (exec == nullptr || node == nullptr) return Status::kInvalidValue;
  if (const Status status = from_hip(state, from, &converted); status != Status::kSuccess) return status;
  return as_invalid_value(exec->set_params(node->id(), std::move(converted)));
}

}  // namespace model::abi
