// The rules of the commands about whole graphs.
#include <fmt/format.h>

#include <algorithm>

#include "verify/commands/captures/answers.h"
#include "verify/commands/define_rules.h"
#include "verify/commands/stream_memory/placed_memory.h"

namespace verify {

// ---- DeclareGraph

template <>
constexpr Traits kTraits<DeclareGraph>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen,
                                       kNoDevice,       kTwice,    kOnce};

template <>
Reason check(const State& state, const DeclareGraph& c) {
  if (state.graph(c.graph) != nullptr) return fmt::format("g{} is declared already", c.graph);
  return {};
}

template <>
void apply(State& state, const DeclareGraph& c) {
  state.change().graphs.graphs[c.graph].alive = true;
}

// ---- CloneGraph

template <>
constexpr Traits kTraits<CloneGraph>{kCheckInCapture, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
Reason check(const State& state, const CloneGraph& c) {
  if (state.graph(c.graph) != nullptr) return fmt::format("g{} is declared already", c.graph);
  if (Reason reason = state.missing_graph(c.from)) return reason;
  if (Reason reason = state.unmapped(*state.graph(c.from))) return reason;
  if (!state.graph(c.from)->has_memory) return {};
  return fmt::format("g{} has memory nodes, which HIP refuses to clone", c.from);
}

template <>
Reason check_in_capture(const State& state, const CloneGraph& c) {
  return captured_into(state, c.from);
}

template <>
void apply(State& state, const CloneGraph& c) {
  std::map<Id, GraphState>& graphs = state.change().graphs.graphs;
  graphs[c.graph] = graphs.at(c.from);
  graphs[c.graph].edited = false;
  graphs[c.graph].cloned = true;
}

// ---- FindInClone

template <>
constexpr Traits kTraits<FindInClone>{kLegalInCapture, kSucceeds, kAlwaysRefusable, kNothingSeen, kNoDevice,
                                      kTwice,          kAgain};

template <>
Reason check(const State& state, const FindInClone& c) {
  if (Reason reason = state.missing_graph(c.clone)) return reason;
  if (Reason reason = state.missing_node(c.graph, c.node)) return reason;
  if (state.graph(c.graph)->find(c.node)->fan != 1) return "a fan is many nodes: find looks for one";
  for (const Id id : {c.clone, c.graph}) {
    if (state.graph(id)->edited)
      return fmt::format("g{} was set or patched, and a strategy may have recorded it again", id);
  }
  return {};
}

template <>
void apply(State&, const FindInClone&) {}

// ---- ChangeEdges

template <>
constexpr Traits kTraits<ChangeEdges>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen,
                                      kNoDevice,       kTwice,    kOnce};

static Reason check_edges(const State& state, const ChangeEdges& c) {
  if (Reason reason = state.missing_node(c.graph, c.node)) return reason;
  const GraphState& graph = *state.graph(c.graph);
  const auto at = static_cast<std::uint32_t>(graph.index_of(c.node));
  if (c.after.empty()) return "no dependency is named";
  std::uint64_t pairs = 0;
  bool circle = false;
  for (auto id = c.after.begin(); id != c.after.end(); ++id) {
    if (Reason reason = state.missing_node(c.graph, *id)) return reason;
    if (*id == c.node) return "a node cannot depend on itself";
    if (std::find(c.after.begin(), id, *id) != id) return "a dependency is named twice";
    const auto before = static_cast<std::uint32_t>(graph.index_of(*id));
    const std::vector<std::uint32_t>& known = graph.nodes[at].after;
    const bool there = std::ranges::find(known, before) != known.end();
    if (there == c.add) return fmt::format("n{} {} on n{}", c.node, there ? "depends already" : "does not depend", *id);
    circle = circle || (c.add && waits_for(graph, before, at));
    pairs += std::uint64_t{graph.nodes[at].fan} * graph.nodes[before].fan;
  }
  if (pairs > kMaxInstances) return fmt::format("one command changes at most {} dependencies", kMaxInstances);
  if (graph.cyclic && c.add) return "the graph has a circle already";
  if (circle != c.cycle) return circle ? "that would close a circle: say 'cycle'" : "that closes no circle";
  return {};
}

template <>
Reason check(const State& state, const ChangeEdges& c) {
  if (Reason reason = check_edges(state, c)) return reason;
  if (!state.graph(c.graph)->has_memory) return {};
  if (!c.add) return "HIP refuses to remove edges of a graph with memory nodes";
  return c.cycle ? Reason("a graph with memory nodes stays without circles") : Reason();
}

template <>
void apply(State& state, const ChangeEdges& c) {
  GraphState& graph = state.change().graphs.graphs.at(c.graph);
  std::vector<std::uint32_t>& after = graph.at(c.node).after;
  for (const Id id : c.after) {
    const auto before = static_cast<std::uint32_t>(graph.index_of(id));
    if (c.add) {
      after.push_back(before);
    } else {
      graph.edges_taken += std::erase(after, before);
    }
  }
  if (c.cycle || graph.cyclic) graph.cyclic = has_cycle(graph);
}

// ---- RemoveNode

template <>
constexpr Traits kTraits<RemoveNode>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
Reason check(const State& state, const RemoveNode& c) {
  if (Reason reason = state.missing_node(c.graph, c.node)) return reason;
  if (!state.graph(c.graph)->has_memory) return {};
  return "HIP refuses to remove nodes of a graph with memory nodes";
}

static std::uint32_t depth_of(const GraphState& graph) {
  std::uint32_t depth = 1;
  for (const NodeState& node : graph.nodes) {
    if (node.child) depth = std::max(depth, node.child->depth + std::get<ChildParams>(node.params).nest);
  }
  return depth;
}

template <>
void apply(State& state, const RemoveNode& c) {
  StateParts& parts = state.change();
  GraphState& graph = parts.graphs.graphs.at(c.graph);
  const auto index = static_cast<std::uint32_t>(graph.index_of(c.node));
  const NodeState& node = graph.nodes[index];
  graph.instances -= node.fan;
  if (node.child) graph.instances -= node.child->instances + std::get<ChildParams>(node.params).nest - 1;
  graph.edges_taken += node.after.size();
  graph.nodes.erase(graph.nodes.begin() + index);
  for (NodeState& other : graph.nodes) {
    graph.edges_taken += std::erase(other.after, index);
    for (std::uint32_t& before : other.after) before -= before > index ? 1 : 0;
  }
  graph.removed.insert(c.node);
  graph.depth = depth_of(graph);
  if (graph.cyclic) graph.cyclic = has_cycle(graph);
  for (auto& [id, exec] : parts.graphs.execs) {
    if (exec.alive && exec.origin == c.graph && exec.graph.find(c.node) != nullptr) exec.gone.insert(c.node);
  }
  parts.memory.renew_addresses(graph);
}

// ---- Inspect

template <>
constexpr Traits kTraits<Inspect>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kAgain};

template <>
Reason check(const State& state, const Inspect& c) {
  if (c.target == Target::kGraph) return state.missing_graph(c.id);
  if (c.target != Target::kExec) return "there is nothing to inspect";
  if (Reason reason = state.missing_exec(c.id, kNeverCameToBe)) return reason;
  return state.missing_origin(c.id);
}

template <>
void apply(State&, const Inspect&) {}

// ---- PrintDot

template <>
constexpr Traits kTraits<PrintDot>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kAgain};

// No documentation says how the nodes of child graphs are printed.
template <>
Reason check(const State& state, const PrintDot& c) {
  if (Reason reason = state.missing_graph(c.graph)) return reason;
  const std::vector<NodeState>& nodes = state.graph(c.graph)->nodes;
  const bool child = std::ranges::any_of(nodes, [](const NodeState& node) { return node.child != nullptr; });
  if (child) return fmt::format("g{} has child graphs", c.graph);
  return {};
}

template <>
void apply(State&, const PrintDot&) {}

// ---- Destroy

template <>
constexpr Traits kTraits<Destroy>{kCheckInCapture, kAnswers, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

// The destruction of the origin stream ends the capture. The unjoined work of any other destroyed stream can never be
// joined.
template <>
CaptureAnswer answer(const State& state, const Destroy& c) {
  const CaptureState* capture = c.target == Target::kStream ? state.capture_of(c.id) : nullptr;
  if (capture == nullptr || capture->origin == c.id || capture->all_joined()) return {};
  return invalidate(kAnswerSuccess, *capture);
}

static Reason check_destroyed_stream(const State& state, Id stream) {
  if (stream == kNullStream) return "the null stream cannot be destroyed";
  if (state.per_thread(stream)) return "the per-thread stream cannot be destroyed";
  if (const CaptureState* capture = state.capture_of(stream); capture != nullptr && capture->into)
    return "what a graph holds of a capture that went with its stream is not documented";
  return state.missing_stream(stream);
}

template <>
Reason check(const State& state, const Destroy& c) {
  switch (c.target) {
    case Target::kGraph:
      return state.missing_graph(c.id);
    case Target::kExec:
      return state.missing_exec(c.id);
    case Target::kEvent:
      if (state.event_in_use(c.id)) return fmt::format("a graph has a node of v{}", c.id);
      return state.missing_event(c.id);
    case Target::kStream:
      return check_destroyed_stream(state, c.id);
    case Target::kDevice:
      break;
  }
  return "there is nothing to destroy";
}

template <>
Reason check_in_capture(const State& state, const Destroy& c) {
  if (c.target == Target::kStream && !answer(state, c).invalidates.empty())
    return "what becomes of the capture when a stream goes whose work is not joined is not documented";
  if (c.target == Target::kGraph) return captured_into(state, c.id);
  // Where no stream captures, the executor waits for the devices first.
  if (c.target == Target::kExec && state.exec_running(c.id)) return fmt::format("e{} may still be running", c.id);
  return {};
}

static void leave_capture(State& state, Id stream) {
  StateParts& parts = state.change();
  CaptureState* capture = parts.captures.of_stream(stream);
  if (capture == nullptr) return;
  if (capture->origin == stream) return parts.drop_capture(capture->serial);
  capture->behind.erase(stream);
}

template <>
void apply(State& state, const Destroy& c) {
  StateParts& parts = state.change();
  const bool captures = !state.captures().empty();
  if (c.target == Target::kStream) leave_capture(state, c.id);
  if (!captures) parts.finish_all();
  switch (c.target) {
    case Target::kGraph:
      parts.graphs.graphs.at(c.id).alive = false;
      break;
    case Target::kExec:
      parts.graphs.execs.at(c.id).alive = false;
      break;
    case Target::kStream:
      parts.streams.known.at(c.id).alive = false;
      break;
    case Target::kEvent:
      parts.events.known.at(c.id).alive = false;
      break;
    case Target::kDevice:
      break;
  }
}

template struct Rules<DeclareGraph>;
template struct Rules<CloneGraph>;
template struct Rules<FindInClone>;
template struct Rules<ChangeEdges>;
template struct Rules<RemoveNode>;
template struct Rules<Inspect>;
template struct Rules<PrintDot>;
template struct Rules<Destroy>;

}  // namespace verify
