// The answer of hipGraphExecUpdate, from the documented rules. Sources: CUDA's documentation of cudaGraphExecUpdate,
// which HIP's mirrors (pairs of nodes in order of insertion; another number of nodes, other dependencies: topology;
// another type: type; a change that updates forbid: parameters), and hipGraphExecUpdate.cc of AMD's public tests.
#include <algorithm>
#include <set>

#include "verify/program/graph_state.h"

namespace verify {

namespace {

// The number of nodes as the runtime counts them: only the nodes of this level.
std::uint64_t nodes_in(const GraphState& graph) {
  std::uint64_t count = 0;
  for (const NodeState& node : graph.nodes) count += node.fan;
  return count;
}

UpdateOutcome compare(const KernelParams& a, const KernelParams& b) {
  // The function may change (Functional_KernelFunction_Changed).
  return a.opaque == b.opaque ? UpdateOutcome::kSuccess : UpdateOutcome::kUndefinedHere;
}

// Negative_Functional_ParametersChanged: the kind of a copy is kept.
UpdateOutcome compare(const CopyParams& a, const CopyParams& b) {
  if (a.linear != b.linear || a.symbol != b.symbol) return UpdateOutcome::kUndefinedHere;
  if (a.kind != b.kind) return UpdateOutcome::kParametersChanged;
  const bool same_extent = a.width == b.width && a.height == b.height && a.depth == b.depth;
  return a.linear || same_extent ? UpdateOutcome::kSuccess : UpdateOutcome::kUndefinedHere;
}

// CUDA: only memsets of one row can be changed.
UpdateOutcome compare(const MemsetParams& a, const MemsetParams& b) {
  if (b.height > 1 && (a.height != b.height || a.width * a.element != b.width * b.element)) {
    return UpdateOutcome::kParametersChanged;
  }
  if (a.element != b.element || a.height != b.height) return UpdateOutcome::kUndefinedHere;
  return b.height == 1 || a.pitch == b.pitch ? UpdateOutcome::kSuccess : UpdateOutcome::kUndefinedHere;
}

UpdateOutcome compare(const NodeState& a, const NodeState& b) {
  if (const auto* kernel = std::get_if<KernelParams>(&a.params))
    return compare(*kernel, std::get<KernelParams>(b.params));
  if (const auto* copy = std::get_if<CopyParams>(&a.params)) return compare(*copy, std::get<CopyParams>(b.params));
  if (const auto* memset = std::get_if<MemsetParams>(&a.params))
    return compare(*memset, std::get<MemsetParams>(b.params));
  if (const auto* batch = std::get_if<BatchParams>(&a.params)) {
    const bool same = same_operations(*batch, std::get<BatchParams>(b.params));
    return same ? UpdateOutcome::kSuccess : UpdateOutcome::kUndefinedHere;
  }
  // CUDA, cudaGraphExecUpdate: "Changing the number of semaphores is not supported."
  if (const SemaphoreParams* semaphores = semaphores_in(a.params)) {
    const bool same = semaphores->list.size() == semaphores_in(b.params)->list.size();
    return same ? UpdateOutcome::kSuccess : UpdateOutcome::kUndefinedHere;
  }
  const auto* child = std::get_if<ChildParams>(&a.params);
  if (child == nullptr) return UpdateOutcome::kSuccess;
  const bool same_nest = child->nest == std::get<ChildParams>(b.params).nest;
  return same_nest ? update_outcome(*a.child, *b.child) : UpdateOutcome::kUndefinedHere;
}

}  // namespace

UpdateOutcome update_outcome(const GraphState& exec, const GraphState& graph) {
  if (nodes_in(exec) != nodes_in(graph)) return UpdateOutcome::kTopologyChanged;
  // To the runtime a node with fan=N is N nodes, so graphs with different lists of nodes may still have the same size.
  if (exec.nodes.size() != graph.nodes.size()) return UpdateOutcome::kUndefinedHere;
  std::set<UpdateOutcome> found;
  for (std::size_t i = 0; i < exec.nodes.size(); ++i) {
    const NodeState &x = exec.nodes[i], &y = graph.nodes[i];
    if (x.fan != y.fan) return UpdateOutcome::kUndefinedHere;
    if (x.after != y.after) {
      // Edges have to be added in the same order as well; no documentation says that an update detects another order.
      const bool same = std::is_permutation(x.after.begin(), x.after.end(), y.after.begin(), y.after.end());
      found.insert(same ? UpdateOutcome::kUndefinedHere : UpdateOutcome::kTopologyChanged);
    }
    found.insert(x.params.index() == y.params.index() ? compare(x, y) : UpdateOutcome::kNodeTypeChanged);
  }
  found.erase(UpdateOutcome::kSuccess);
  if (found.empty()) return UpdateOutcome::kSuccess;
  return found.size() == 1 ? *found.begin() : UpdateOutcome::kUndefinedHere;
}

}  // namespace verify
