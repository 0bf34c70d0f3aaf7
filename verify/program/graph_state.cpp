// Questions that concern one graph only; the contract is in the header.
#include "verify/program/graph_state.h"

#include <algorithm>

namespace verify {

void GraphState::add(NodeState node) {
  above = std::max(above, node.id + 1);
  nodes.push_back(std::move(node));
}

const NodeState* GraphState::find(Id node) const {
  const int index = index_of(node);
  return index < 0 ? nullptr : &nodes[static_cast<std::size_t>(index)];
}

NodeState& GraphState::at(Id node) {
  return nodes[static_cast<std::size_t>(index_of(node))];
}

std::vector<ByteRange> GraphState::ranges() const {
  std::vector<ByteRange> all;
  for (const NodeState& node : nodes) all.insert(all.end(), node.ranges.begin(), node.ranges.end());
  return all;
}

bool GraphState::frees(Id buffer) const {
  return has_memory && std::ranges::any_of(nodes, [buffer](const NodeState& node) {
           const auto* freed = std::get_if<MemoryFreeParams>(&node.params);
           return freed != nullptr && freed->buffer == buffer;
         });
}

std::set<Id> GraphState::disabled() const {
  std::set<Id> found;
  for (const NodeState& node : nodes) {
    if (!node.enabled) found.insert(node.id);
  }
  return found;
}

int GraphState::index_of(Id node) const {
  // Ids mostly equal indices; look there first.
  if (node < nodes.size() && nodes[node].id == node) return static_cast<int>(node);
  if (node >= above) return -1;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].id == node) return static_cast<int>(i);
  }
  return -1;
}

const GraphState& GraphsState::of(Target target, Id id) const {
  return target == Target::kGraph ? graphs.at(id) : execs.at(id).graph;
}

GraphState& GraphsState::of(Target target, Id id) {
  return target == Target::kGraph ? graphs.at(id) : execs.at(id).graph;
}

void mark_descendants(const GraphState& graph, std::uint32_t index, std::vector<char>& marked) {
  std::vector<std::vector<std::uint32_t>> dependents(graph.nodes.size());
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::uint32_t before : graph.nodes[i].after) dependents[before].push_back(i);
  }
  std::vector<char> seen(graph.nodes.size(), 0);  // `marked` may hold marks of other nodes
  std::vector<std::uint32_t> stack = {index};
  while (!stack.empty()) {
    const std::uint32_t at = stack.back();
    stack.pop_back();
    if (seen[at] != 0) continue;
    seen[at] = marked[at] = 1;
    stack.insert(stack.end(), dependents[at].begin(), dependents[at].end());
  }
}

std::vector<char> mark_ancestors(const GraphState& graph, std::vector<std::uint32_t> from) {
  std::vector<char> marked(graph.nodes.size(), 0);
  while (!from.empty()) {
    const std::uint32_t index = from.back();
    from.pop_back();
    if (marked[index] != 0) continue;
    marked[index] = 1;
    from.insert(from.end(), graph.nodes[index].after.begin(), graph.nodes[index].after.end());
  }
  return marked;
}

bool waits_for(const GraphState& graph, std::uint32_t from, std::uint32_t to) {
  std::vector<char> below(graph.nodes.size(), 0);
  mark_descendants(graph, to, below);
  return below[from] != 0;
}

bool has_cycle(const GraphState& graph) {
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::uint32_t before : graph.nodes[i].after) {
      if (waits_for(graph, before, i)) return true;
    }
  }
  return false;
}

bool same_devices(const GraphState& a, const GraphState& b) {
  for (std::size_t i = 0; i < std::min(a.nodes.size(), b.nodes.size()); ++i) {
    const NodeState &x = a.nodes[i], &y = b.nodes[i];
    if (x.params.index() != y.params.index()) continue;
    if (x.devices != y.devices) return false;
    if (x.child && y.child && !same_devices(*x.child, *y.child)) return false;
  }
  return true;
}

// HIP's generic parameters of a copy are the parameters of its 3D form, and so are the driver's.
bool has_form(const NodeParams& params, NodeForm form) {
  const auto* copy = std::get_if<CopyParams>(&params);
  const auto* kernel = std::get_if<KernelParams>(&params);
  if (form == NodeForm::kTyped) return true;
  if (copy != nullptr) return !copy->linear;
  if (std::holds_alternative<BatchParams>(params)) return false;  // hipGraphNodeParams has no member for batches
  if (form == NodeForm::kGeneric) return kernel == nullptr || !kernel->opaque;
  return std::holds_alternative<MemsetParams>(params) || std::holds_alternative<MemoryFreeParams>(params);
}

bool same_operations(const BatchParams& a, const BatchParams& b) {
  return std::ranges::equal(a.operations, b.operations, [](const MemoryOperation& x, const MemoryOperation& y) {
    return x.waits == y.waits && x.bytes == y.bytes;
  });
}

bool fills(const NodeParams& params, Id buffer, std::uint64_t bytes) {
  const auto* memset = std::get_if<MemsetParams>(&params);
  return memset != nullptr && memset->dst == BufferRef{buffer, 0} && memset->height == 1 &&
         memset->width * memset->element == bytes;
}

}  // namespace verify
