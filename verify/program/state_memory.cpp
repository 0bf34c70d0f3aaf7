#include "verify/program/state_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace verify {

namespace {

using Reason = std::optional<std::string>;

std::vector<char> before(const GraphState& graph, std::vector<std::uint32_t> stack) {
  std::vector<char> marked(graph.nodes.size(), 0);
  while (!stack.empty()) {
    const std::uint32_t index = stack.back();
    stack.pop_back();
    if (marked[index] != 0) continue;
    marked[index] = 1;
    stack.insert(stack.end(), graph.nodes[index].after.begin(), graph.nodes[index].after.end());
  }
  return marked;
}

bool touches(const NodeState& node, Id buffer) {
  return std::any_of(node.ranges.begin(), node.ranges.end(),
                     [buffer](const ByteRange& range) { return range.buffer == buffer; });
}

struct MemoryChecker {
  const State& state;

  // A graph's, or of a capture that is going to be one.
  [[nodiscard]] const BufferState* memory(Id id) const {
    const BufferState* buffer = state.buffer(id);
    return buffer != nullptr && (buffer->graph || buffer->capture) ? buffer : nullptr;
  }
  [[nodiscard]] bool runtime_places(Id id) const {
    const BufferState* buffer = state.buffer(id);
    return buffer != nullptr && buffer->runtime_places();
  }
  [[nodiscard]] bool has_memory(Id graph) const { return state.graph(graph)->has_memory; }
  static Reason during_capture() { return "memory stays as it is while a stream captures"; }
  static Reason freed_first() { return "memory that it allocated is still there: free it first"; }

  // What a node of a graph may name, and behind what. `graph` is where it is, or is going to be behind `after`; `self`
  // is its index, or -1.
  struct Place {
    const GraphState& graph;
    std::optional<Id> id;  // none: it is being captured
    std::vector<std::uint32_t> after;
    int self;
    std::optional<std::uint64_t> capture = {};
  };
  Reason names(const NodeParams& params, const Place& place) const {
    Reason reason = no_frozen(params);
    if (const auto* child = std::get_if<ChildParams>(&params); child != nullptr && has_memory(child->graph)) {
      return fmt::format("g{} has memory nodes, which HIP refuses in child graphs", child->graph);
    }
    for_each_ref(params, [&](const BufferRef& ref) {
      if (reason) return;
      reason = memory(ref.buffer) != nullptr ? one_name(params, ref.buffer, place) : holds_something(ref.buffer);
    });
    return reason;
  }
  // Of memory of a stream.
  [[nodiscard]] Reason holds_something(Id id) const {
    const BufferState* buffer = state.buffer(id);
    if (buffer == nullptr || !buffer->of_stream || buffer->filled) return {};
    return fmt::format("a stream's memset of all of b{} comes first: new memory holds anything", id);
  }
  Reason no_frozen(const NodeParams& params) const {
    Reason reason;
    for_each_frozen(params, [&](const BufferRef& ref) {
      if (runtime_places(ref.buffer)) reason = fmt::format("where b{} is is the runtime's business", ref.buffer);
    });
    return reason;
  }
  Reason one_name(const NodeParams& params, Id id, const Place& place) const {
    const BufferState& buffer = *memory(id);
    if (buffer.capture && buffer.capture != place.capture)
      return fmt::format("only what is captured with it names b{}", id);
    if (buffer.graph && buffer.graph != place.id) return fmt::format("only nodes of g{} name b{}", *buffer.graph, id);
    const std::vector<char> earlier = before(place.graph, place.after);
    bool allocated = false, filled = fills(params, id, buffer.bytes), late = false;
    for (std::size_t i = 0; i < place.graph.nodes.size(); ++i) {
      const NodeState& node = place.graph.nodes[i];
      if (const auto* freed = std::get_if<MemoryFreeParams>(&node.params); freed != nullptr && freed->buffer == id) {
        late = place.self < 0 || before(place.graph, node.after)[static_cast<std::size_t>(place.self)] == 0;
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

  Reason operator()(const AddNode& c) const {
    const GraphState& graph = *state.graph(c.graph);
    if (is_memory_node(c.params) && !state.captures().empty()) return during_capture();
    std::vector<std::uint32_t> after;
    for (const Id id : c.after) after.push_back(static_cast<std::uint32_t>(graph.index_of(id)));
    if (const auto* freed = std::get_if<MemoryFreeParams>(&c.params)) return free_node(*freed, c.graph, after);
    return names(c.params, {graph, c.graph, std::move(after), -1});
  }
  Reason free_node(const MemoryFreeParams& freed, Id id, const std::vector<std::uint32_t>& after) const {
    const BufferState* buffer = memory(freed.buffer);
    if (buffer == nullptr || buffer->graph != id) return fmt::format("g{} does not allocate b{}", id, freed.buffer);
    if (buffer->has_free_node) return fmt::format("a node frees b{} already", freed.buffer);
    for (const auto& [exec_id, exec] : state.execs()) {
      if (exec.alive && exec.origin == id)
        return fmt::format("e{} leaves b{} to others to free", exec_id, freed.buffer);
    }
    return freed_last(*state.graph(id), after, freed.buffer);
  }
  static Reason freed_last(const GraphState& graph, const std::vector<std::uint32_t>& after, Id buffer) {
    const std::vector<char> earlier = before(graph, after);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (earlier[i] == 0 && touches(graph.nodes[i], buffer))
        return fmt::format("b{} is freed behind every node that names it", buffer);
    }
    return {};
  }
  // HIP's header, hipFreeAsync: in a capture it has to be passed the address of a graph allocation.
  [[nodiscard]] Reason free_captured(const FreeAsync& c, const BufferState& buffer) const {
    const CaptureState* capture = state.capture_of(c.stream);
    if (capture == nullptr || buffer.capture != capture->serial) return during_capture();
    if (buffer.has_free_node) return fmt::format("a node frees b{} already", c.buffer);
    return freed_last(capture->graph, capture->behind.at(c.stream), c.buffer);
  }
  Reason operator()(const SetNode& c) const {
    const bool exec = c.target == Target::kExec;
    const GraphState& graph = exec ? state.exec(c.id)->graph : *state.graph(c.id);
    const NodeState& node = *graph.find(c.node);
    if (is_memory_node(node.params)) return "HIP has no setter for memory nodes";
    if (exec && state.unfreed_memory(graph)) return freed_first();
    if (const auto* memset = std::get_if<MemsetParams>(&node.params)) {
      const BufferState* buffer = memory(memset->dst.buffer);
      if (buffer != nullptr && fills(node.params, memset->dst.buffer, buffer->bytes) &&
          !fills(c.params, memset->dst.buffer, buffer->bytes)) {
        return fmt::format("it is what fills b{}", memset->dst.buffer);
      }
    }
    return names(c.params, {graph, exec ? state.exec(c.id)->origin : c.id, node.after, graph.index_of(c.node)});
  }
  Reason operator()(const EnableNode& c) const {
    const NodeState& node = *state.exec(c.exec)->graph.find(c.node);
    const auto* memset = std::get_if<MemsetParams>(&node.params);
    const BufferState* buffer = memset == nullptr ? nullptr : memory(memset->dst.buffer);
    if (buffer == nullptr || !fills(node.params, memset->dst.buffer, buffer->bytes)) return {};
    return fmt::format("it is what fills b{}", memset->dst.buffer);
  }
  Reason operator()(const Instantiate& c) const {
    if (!has_memory(c.graph)) return {};
    for (const auto& [id, exec] : state.execs()) {
      if (exec.alive && exec.origin == c.graph) return "a graph with memory nodes has one executable graph at a time";
    }
    return {};
  }
  Reason operator()(const Launch& c) const {
    if (!state.exec(c.exec)->graph.has_memory || state.captures().empty()) return {};
    return during_capture();
  }
  Reason operator()(const Enqueue& c) const {
    if (const CaptureState* capture = state.capture_of(c.stream)) {
      return names(c.params, {capture->graph, {}, capture->behind.at(c.stream), -1, capture->serial});
    }
    Reason reason = no_frozen(c.params);
    for_each_ref(c.params, [&](const BufferRef& ref) {
      if (reason) return;
      const BufferState* buffer = memory(ref.buffer);
      if (buffer != nullptr && !buffer->unfreed) reason = fmt::format("b{} is not there", ref.buffer);
      if (buffer != nullptr || fills(c.params, ref.buffer, state.buffer(ref.buffer)->bytes)) return;
      reason = holds_something(ref.buffer);
    });
    return reason;
  }
  Reason operator()(const MoveBuffers& c) const {
    for (const BufferMove& move : c.moves) {
      if (runtime_places(move.buffer)) return fmt::format("where b{} is is the runtime's business", move.buffer);
    }
    return {};
  }
  [[nodiscard]] Reason is_there(Id id) const {
    const BufferState* buffer = memory(id);
    return buffer == nullptr || buffer->unfreed ? Reason() : fmt::format("b{} is not there", id);
  }
  Reason operator()(const Read& c) const {
    Reason reason = is_there(c.buffer);
    return reason ? reason : holds_something(c.buffer);
  }
  Reason operator()(const Free& c) const { return is_there(c.buffer); }
  Reason operator()(const FreeAsync& c) const {
    const BufferState& buffer = *state.buffer(c.buffer);
    if (!buffer.runtime_places()) return fmt::format("no graph and no stream allocates b{}", c.buffer);
    return state.captures().empty() ? is_there(c.buffer) : free_captured(c, buffer);
  }
  Reason operator()(const Write& c) const {
    if (memory(c.buffer) == nullptr) return c.data.empty() ? Reason() : holds_something(c.buffer);
    return fmt::format("b{} is written by nodes and streams", c.buffer);
  }
  Reason operator()(const Patch& c) const {
    if (c.target == Target::kGraph || !state.unfreed_memory(state.exec(c.id)->graph)) return {};
    return freed_first();
  }
  Reason operator()(const Update& c) const {
    if (!state.exec(c.exec)->graph.has_memory && !has_memory(c.graph)) return {};
    return "what an update does with memory nodes is not documented";
  }
  Reason operator()(const CloneGraph& c) const {
    if (!has_memory(c.from)) return {};
    return fmt::format("g{} has memory nodes, which HIP refuses to clone", c.from);
  }
  Reason operator()(const ChangeEdges& c) const {
    if (!has_memory(c.graph)) return {};
    if (!c.add) return "HIP refuses to remove edges of a graph with memory nodes";
    return c.cycle ? Reason("a graph with memory nodes stays without circles") : Reason();
  }
  Reason operator()(const RemoveNode& c) const {
    if (!has_memory(c.graph)) return {};
    return "HIP refuses to remove nodes of a graph with memory nodes";
  }
  Reason operator()(const BeginCapture& c) const {
    if (!c.into || !has_memory(*c.into)) return {};
    return fmt::format("g{} has memory nodes", *c.into);
  }
  Reason operator()(const Destroy& c) const {
    if (c.target == Target::kExec && state.unfreed_memory(state.exec(c.id)->graph)) return freed_first();
    if (c.target == Target::kGraph && state.unfreed_memory(*state.graph(c.id))) return freed_first();
    return {};
  }
  template <class Other>
  Reason operator()(const Other&) const {
    return {};
  }
};

}  // namespace

bool frees(const GraphState& graph, Id buffer) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [buffer](const NodeState& node) {
    const auto* freed = std::get_if<MemoryFreeParams>(&node.params);
    return freed != nullptr && freed->buffer == buffer;
  });
}

bool fills(const NodeParams& params, Id buffer, std::uint64_t bytes) {
  const auto* memset = std::get_if<MemsetParams>(&params);
  return memset != nullptr && memset->dst == BufferRef{buffer, 0} && memset->height == 1 &&
         memset->width * memset->element == bytes;
}

bool State::unfreed_memory(const GraphState& graph) const {
  return graph.has_memory && std::any_of(graph.nodes.begin(), graph.nodes.end(), [this](const NodeState& node) {
           const auto* memory = std::get_if<MemoryAllocParams>(&node.params);
           return memory != nullptr && buffers_.at(memory->buffer).unfreed;
         });
}

std::optional<std::string> check_memory_nodes(const State& state, bool any, const Command& command) {
  if (!any && !std::holds_alternative<FreeAsync>(command)) return {};
  return std::visit(MemoryChecker{state}, command);
}

}  // namespace verify
