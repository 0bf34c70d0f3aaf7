#include "verify/program/state_graphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>

namespace verify {

namespace {

using Reason = std::optional<std::string>;

Reason live_graph(const State& state, Id id) {
  const GraphState* graph = state.graph(id);
  if (graph == nullptr) return fmt::format("g{} is not declared", id);
  if (!graph->alive) return fmt::format("g{} was destroyed", id);
  return {};
}

Reason live_node(const State& state, Id graph, Id node) {
  if (Reason reason = live_graph(state, graph)) return reason;
  if (state.graph(graph)->find(node) == nullptr) return fmt::format("g{}.n{} does not exist", graph, node);
  return {};
}

Reason live_exec(const State& state, Id id) {
  const ExecState* exec = state.exec(id);
  if (exec == nullptr) return fmt::format("e{} was never instantiated", id);
  if (!exec->alive) return fmt::format("e{} was destroyed or never came to be", id);
  return {};
}

Reason live_stream(const State& state, Id id) {
  const std::vector<Id> streams = state.live_streams();
  if (std::find(streams.begin(), streams.end(), id) != streams.end()) return {};
  return fmt::format("s{} is not declared or was destroyed", id);
}

// Whether node `from` waits for node `to`, directly or not.
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

std::uint32_t depth_of(const GraphState& graph) {
  std::uint32_t depth = 1;
  for (const NodeState& node : graph.nodes) {
    if (node.child) depth = std::max(depth, node.child->depth + std::get<ChildParams>(node.params).nest);
  }
  return depth;
}

}  // namespace

void mark_descendants(const GraphState& graph, std::uint32_t index, std::vector<char>& marked) {
  std::vector<std::vector<std::uint32_t>> dependents(graph.nodes.size());
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::uint32_t before : graph.nodes[i].after) dependents[before].push_back(i);
  }
  std::vector<char> seen(graph.nodes.size(), 0);  // `marked` may hold others, whose dependents are not ours
  std::vector<std::uint32_t> stack = {index};
  while (!stack.empty()) {
    const std::uint32_t at = stack.back();
    stack.pop_back();
    if (seen[at] != 0) continue;
    seen[at] = marked[at] = 1;
    stack.insert(stack.end(), dependents[at].begin(), dependents[at].end());
  }
}

Reason check_graph_command(const State& state, const CloneGraph& c) {
  if (state.graph(c.graph) != nullptr) return fmt::format("g{} is declared already", c.graph);
  return live_graph(state, c.from);
}

Reason check_graph_command(const State& state, const FindInClone& c) {
  if (Reason reason = live_graph(state, c.clone)) return reason;
  if (Reason reason = live_node(state, c.graph, c.node)) return reason;
  if (state.graph(c.graph)->find(c.node)->fan != 1) return "a fan is many nodes: find looks for one";
  for (const Id id : {c.clone, c.graph}) {
    if (state.graph(id)->edited)
      return fmt::format("g{} was set or patched, and a strategy may have recorded it again", id);
  }
  return {};
}

Reason check_graph_command(const State& state, const ChangeEdges& c) {
  if (Reason reason = live_node(state, c.graph, c.node)) return reason;
  const GraphState& graph = *state.graph(c.graph);
  const auto at = static_cast<std::uint32_t>(graph.index_of(c.node));
  if (c.after.empty()) return "no dependency is named";
  std::uint64_t pairs = 0;
  bool circle = false;
  for (std::size_t i = 0; i < c.after.size(); ++i) {
    if (Reason reason = live_node(state, c.graph, c.after[i])) return reason;
    if (c.after[i] == c.node) return "a node cannot depend on itself";
    if (std::find(c.after.begin(), c.after.begin() + static_cast<std::ptrdiff_t>(i), c.after[i]) !=
        c.after.begin() + static_cast<std::ptrdiff_t>(i)) {
      return "a dependency is named twice";
    }
    const auto before = static_cast<std::uint32_t>(graph.index_of(c.after[i]));
    const std::vector<std::uint32_t>& known = graph.nodes[at].after;
    const bool there = std::find(known.begin(), known.end(), before) != known.end();
    if (there == c.add)
      return fmt::format("n{} {} on n{}", c.node, there ? "depends already" : "does not depend", c.after[i]);
    circle = circle || (c.add && waits_for(graph, before, at));
    pairs += std::uint64_t{graph.nodes[at].fan} * graph.nodes[before].fan;
  }
  if (pairs > kMaxInstances) return fmt::format("one command changes at most {} dependencies", kMaxInstances);
  if (graph.cyclic && c.add) return "the graph has a circle already";
  if (circle != c.cycle) return circle ? "that would close a circle: say 'cycle'" : "that closes no circle";
  return {};
}

Reason check_graph_command(const State& state, const RemoveNode& c) {
  return live_node(state, c.graph, c.node);
}

Reason check_graph_command(const State& state, const EnableNode& c) {
  if (Reason reason = live_exec(state, c.exec)) return reason;
  const ExecState& exec = *state.exec(c.exec);
  const NodeState* node = exec.graph.find(c.node);
  if (node == nullptr) return fmt::format("e{} has no n{}", c.exec, c.node);
  if (exec.gone.contains(c.node)) return fmt::format("n{} was removed", c.node);
  if (!state.graph(exec.origin)->alive)
    return fmt::format("g{}, whose nodes name those of e{}, was destroyed", exec.origin, c.exec);
  const bool can = std::holds_alternative<KernelParams>(node->params) ||
                   std::holds_alternative<CopyParams>(node->params) ||
                   std::holds_alternative<MemsetParams>(node->params);
  if (!can) return "only kernel, copy and memset nodes can be disabled";
  return {};
}

Reason check_graph_command(const State& state, const Upload& c) {
  if (Reason reason = live_exec(state, c.exec)) return reason;
  return live_stream(state, c.stream);
}

namespace {

Reason attributed_node(const State& state, Id graph, Id node) {
  if (Reason reason = live_node(state, graph, node)) return reason;
  const auto* kernel = std::get_if<KernelParams>(&state.graph(graph)->find(node)->params);
  if (kernel == nullptr) return fmt::format("g{}.n{} is no kernel", graph, node);
  if (kernel->opaque) return fmt::format("nobody knows how to record g{}.n{} but who did", graph, node);
  return {};
}

}  // namespace

Reason check_graph_command(const State& state, const SetAttributes& c) {
  if (Reason reason = attributed_node(state, c.graph, c.node)) return reason;
  const std::optional<std::int32_t>& priority = c.attributes.priority;
  if (priority && std::abs(*priority) > kMaxNodePriority)
    return fmt::format("a node's priority is {} to {}", -kMaxNodePriority, kMaxNodePriority);
  if (c.attributes == NodeAttributes{}) return "no attribute is named";
  return {};
}

Reason check_graph_command(const State& state, const CopyAttributes& c) {
  if (Reason reason = attributed_node(state, c.graph, c.node)) return reason;
  if (Reason reason = attributed_node(state, c.from, c.source)) return reason;
  if (c.graph == c.from && c.node == c.source) return "a node has its own attributes already";
  return {};
}

Reason check_graph_command(const State& state, const Inspect& c) {
  if (c.target == Target::kGraph) return live_graph(state, c.id);
  if (c.target != Target::kExec) return "there is nothing to inspect";
  if (Reason reason = live_exec(state, c.id)) return reason;
  const Id origin = state.exec(c.id)->origin;
  if (!state.graph(origin)->alive)
    return fmt::format("g{}, whose nodes name those of e{}, was destroyed", origin, c.id);
  return {};
}

Reason check_graph_command(const State& state, const DeclareUserObject& c) {
  if (state.user_objects().contains(c.object)) return fmt::format("u{} is declared already", c.object);
  return {};
}

Reason check_graph_command(const State& state, const RetainUserObject& c) {
  const auto held = state.user_objects().find(c.object);
  if (held == state.user_objects().end()) return fmt::format("u{} is not declared", c.object);
  if (held->second == 0) return fmt::format("the program holds no reference to u{} any more", c.object);
  return live_graph(state, c.graph);
}

Reason check_graph_command(const State& state, const ReleaseUserObject& c) {
  const auto held = state.user_objects().find(c.object);
  if (held == state.user_objects().end()) return fmt::format("u{} is not declared", c.object);
  if (!c.graph) {
    if (held->second == 0) return fmt::format("the program holds no reference to u{} any more", c.object);
    return {};
  }
  if (Reason reason = live_graph(state, *c.graph)) return reason;
  const auto& objects = state.graph(*c.graph)->objects;
  if (!objects.contains(c.object)) return fmt::format("g{} holds no reference to u{}", *c.graph, c.object);
  return {};
}

// How the nodes of child graphs are printed is nowhere said.
Reason check_graph_command(const State& state, const PrintDot& c) {
  if (Reason reason = live_graph(state, c.graph)) return reason;
  const std::vector<NodeState>& nodes = state.graph(c.graph)->nodes;
  const bool child =
      std::any_of(nodes.begin(), nodes.end(), [](const NodeState& node) { return node.child != nullptr; });
  if (child) return fmt::format("g{} has child graphs", c.graph);
  return {};
}

void apply_object_command(Graphs&, Objects& objects, const DeclareUserObject& c) {
  objects[c.object] = 1;
}

void apply_object_command(Graphs& graphs, Objects& objects, const RetainUserObject& c) {
  ++graphs.at(c.graph).objects[c.object];
  if (c.move) --objects.at(c.object);
}

void apply_object_command(Graphs& graphs, Objects& objects, const ReleaseUserObject& c) {
  if (!c.graph) {
    --objects.at(c.object);
    return;
  }
  std::map<Id, std::uint32_t>& held = graphs.at(*c.graph).objects;
  if (--held.at(c.object) == 0) held.erase(c.object);
}

Reason flaw_of_instantiation(const Instantiate& c) {
  if (c.form == InstantiateForm::kPlain && c.flags != 0) return "the plain form takes no flags";
  // CUDA, cudaGraphInstantiateFlagUpload: only supported by cudaGraphInstantiateWithParams.
  if (c.form == InstantiateForm::kFlags && (c.flags & kUploadAtOnce) != 0) return "only form=params uploads";
  if ((c.flags & ~(kAutoFreeOnLaunch | kUploadAtOnce | kUseNodePriority)) != 0) return "there is no such flag";
  return {};
}

void apply_graph_command(Graphs& graphs, Execs&, const CloneGraph& c) {
  graphs[c.graph] = graphs.at(c.from);
  graphs[c.graph].edited = false;
  graphs[c.graph].cloned = true;
}

void apply_graph_command(Graphs& graphs, Execs&, const ChangeEdges& c) {
  GraphState& graph = graphs.at(c.graph);
  std::vector<std::uint32_t>& after = graph.nodes[static_cast<std::size_t>(graph.index_of(c.node))].after;
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

namespace {

NodeAttributes& attributes_of(Graphs& graphs, Id graph, Id node) {
  GraphState& found = graphs.at(graph);
  return found.nodes[static_cast<std::size_t>(found.index_of(node))].attributes;
}

}  // namespace

void apply_graph_command(Graphs& graphs, Execs&, const SetAttributes& c) {
  NodeAttributes& attributes = attributes_of(graphs, c.graph, c.node);
  if (c.attributes.priority) attributes.priority = c.attributes.priority;
  if (c.attributes.cooperative) attributes.cooperative = c.attributes.cooperative;
}

void apply_graph_command(Graphs& graphs, Execs&, const CopyAttributes& c) {
  attributes_of(graphs, c.graph, c.node) = attributes_of(graphs, c.from, c.source);
}

void apply_graph_command(Graphs&, Execs& execs, const EnableNode& c) {
  GraphState& graph = execs.at(c.exec).graph;
  graph.nodes[static_cast<std::size_t>(graph.index_of(c.node))].enabled = c.enabled;
}

void remove_node(Graphs& graphs, Execs& execs, const RemoveNode& c) {
  GraphState& graph = graphs.at(c.graph);
  const auto index = static_cast<std::uint32_t>(graph.index_of(c.node));
  const NodeState& node = graph.nodes[index];
  graph.instances -= node.fan;
  if (node.child) graph.instances -= node.child->instances + std::get<ChildParams>(node.params).nest - 1;
  graph.nodes.erase(graph.nodes.begin() + index);
  for (NodeState& other : graph.nodes) {
    std::erase(other.after, index);
    for (std::uint32_t& before : other.after) before -= before > index ? 1 : 0;
  }
  graph.removed.insert(c.node);
  graph.depth = depth_of(graph);
  if (graph.cyclic) graph.cyclic = has_cycle(graph);
  for (auto& [id, exec] : execs) {
    if (exec.alive && exec.origin == c.graph && exec.graph.find(c.node) != nullptr) exec.gone.insert(c.node);
  }
}

}  // namespace verify
