// The rules of memory that the runtime places; the contract is in the header.
#include "verify/commands/stream_memory/placed_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace verify {

namespace {

bool touches(const NodeState& node, Id buffer) {
  return std::ranges::any_of(node.ranges, [buffer](const ByteRange& range) { return range.buffer == buffer; });
}

Reason names_graph_memory(const State& state, const NodeParams& params, Id id, const NodePlace& place) {
  const BufferState& buffer = *graph_memory(state, id);
  if (buffer.capture && buffer.capture != place.capture)
    return fmt::format("only what is captured with it names b{}", id);
  if (buffer.graph && buffer.graph != place.id) return fmt::format("only nodes of g{} name b{}", *buffer.graph, id);
  const std::vector<char> earlier = mark_ancestors(place.graph, place.after);
  bool allocated = false, filled = fills(params, id, buffer.bytes), late = false;
  for (std::size_t i = 0; i < place.graph.nodes.size(); ++i) {
    const NodeState& node = place.graph.nodes[i];
    if (const auto* freed = std::get_if<MemoryFreeParams>(&node.params); freed != nullptr && freed->buffer == id) {
      late = place.self < 0 || mark_ancestors(place.graph, node.after)[static_cast<std::size_t>(place.self)] == 0;
    }
    if (earlier[i] == 0) continue;
    const auto* allocation = std::get_if<MemoryAllocParams>(&node.params);
    allocated = allocated || (allocation != nullptr && allocation->buffer == id);
    filled = filled || fills(node.params, id, buffer.bytes);
  }
  if (!allocated) return fmt::format("a node that names b{} comes behind the one that allocates it", id);
  if (late) return fmt::format("a node that names b{} comes before the one that frees it", id);
  if (!filled) return fmt::format("a memset of all of b{} comes first: new memory holds anything", id);
  return {};
}

}  // namespace

const BufferState* graph_memory(const State& state, Id id) {
  const BufferState* buffer = state.buffer(id);
  return buffer != nullptr && (buffer->graph || buffer->capture) ? buffer : nullptr;
}

Reason names_memory(const State& state, const NodeParams& params, const NodePlace& place) {
  Reason reason = frozen_placed(state, params);
  const auto* child = std::get_if<ChildParams>(&params);
  if (child != nullptr && state.graph(child->graph)->has_memory)
    return fmt::format("g{} has memory nodes, which CUDA documents as refused in child graphs", child->graph);
  for_each_ref(params, [&](const BufferRef& ref) {
    if (reason) return;
    const bool of_graph = graph_memory(state, ref.buffer) != nullptr;
    reason = of_graph ? names_graph_memory(state, params, ref.buffer, place) : holds_anything(state, ref.buffer);
  });
  return reason;
}

Reason frozen_placed(const State& state, const NodeParams& params) {
  Reason reason;
  for_each_frozen(params, [&](const BufferRef& ref) {
    const BufferState* buffer = state.buffer(ref.buffer);
    if (buffer != nullptr && buffer->runtime_places())
      reason = fmt::format("where b{} is is the runtime's business", ref.buffer);
  });
  return reason;
}

Reason holds_anything(const State& state, Id id) {
  const BufferState* buffer = state.buffer(id);
  if (buffer == nullptr || !buffer->of_stream || buffer->filled) return {};
  return fmt::format("a stream's memset of all of b{} comes first: new memory holds anything", id);
}

Reason not_there(const State& state, Id id) {
  const BufferState* buffer = graph_memory(state, id);
  if (buffer == nullptr || buffer->unfreed) return {};
  return fmt::format("b{} is not there", id);
}

Reason freed_elsewhere(const State& state, const GraphState& graph) {
  if (!graph.has_memory) return {};
  for (const NodeState& node : graph.nodes) {
    const auto* allocation = std::get_if<MemoryAllocParams>(&node.params);
    const auto* freed = std::get_if<MemoryFreeParams>(&node.params);
    if (allocation == nullptr && freed == nullptr) continue;
    const Id id = allocation != nullptr ? allocation->buffer : freed->buffer;
    if (state.has_free_node_elsewhere(id))
      return fmt::format("one graph allocates b{} and another frees it: both stay as they were recorded", id);
  }
  return {};
}

Reason freed_early(const GraphState& graph, const std::vector<std::uint32_t>& after, Id buffer) {
  const std::vector<char> earlier = mark_ancestors(graph, after);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (earlier[i] == 0 && touches(graph.nodes[i], buffer))
      return fmt::format("b{} is freed behind every node that names it", buffer);
  }
  return {};
}

Reason fills_memory(const State& state, const NodeState& node, const NodeParams* instead) {
  const auto* memset = std::get_if<MemsetParams>(&node.params);
  if (memset == nullptr) return {};
  const Id id = memset->dst.buffer;
  const BufferState* buffer = graph_memory(state, id);
  if (buffer == nullptr || !fills(node.params, id, buffer->bytes)) return {};
  if (instead != nullptr && fills(*instead, id, buffer->bytes)) return {};
  return fmt::format("it is what fills b{}", id);
}

}  // namespace verify
