#include "verify/generate/graph_ops.h"

#include <algorithm>

namespace verify {

namespace {

constexpr std::size_t kMostGraphs = 6;  // clones included
constexpr Id kMostObjects = 4;

// The graph that loses an order, or none.
std::optional<Id> loser(const Command& command) {
  if (const auto* edges = std::get_if<ChangeEdges>(&command); edges != nullptr && !edges->add) return edges->graph;
  if (const auto* removed = std::get_if<RemoveNode>(&command)) return removed->graph;
  return {};
}

}  // namespace

bool takes_order(const Command& command) {
  return loser(command).has_value();
}

bool races_after(const State& state, const Command& command) {
  if (state.check(command)) return true;  // a graph with memory nodes keeps its orders
  State after = state;
  after.apply(command);
  const GraphState& changed = *after.graph(*loser(command));
  for (std::size_t i = 0; i < changed.nodes.size(); ++i) {
    const NodeState& node = changed.nodes[i];
    if (after.node_races(changed, node.ranges, node.after, static_cast<int>(i))) return true;
  }
  return false;
}

std::vector<Id> GraphOpsGenerator::graphs() const {
  std::vector<Id> ids;
  for (const auto& [id, graph] : state_.graphs()) {
    if (graph.alive) ids.push_back(id);
  }
  return ids;
}

// Those whose nodes can be named.
std::vector<Id> GraphOpsGenerator::execs() const {
  std::vector<Id> ids;
  for (const auto& [id, exec] : state_.execs()) {
    if (exec.alive && state_.graph(exec.origin)->alive) ids.push_back(id);
  }
  return ids;
}

std::vector<Command> GraphOpsGenerator::any(Id next_graph, Id next_exec) {
  if (swarm_.objects && choices_.percent(40)) return objects();
  const bool more = swarm_.editing || swarm_.toggling || swarm_.queries;
  if (swarm_.attributes && (!more || choices_.percent(40))) return attributes();
  const std::uint64_t draw = choices_.below(3);
  if (swarm_.editing && (draw == 0 || !(swarm_.toggling || swarm_.queries))) return edit(next_graph, next_exec);
  if (swarm_.toggling && (draw == 1 || !swarm_.queries)) return toggle();
  if (swarm_.queries) return ask();
  return swarm_.toggling ? toggle() : edit(next_graph, next_exec);
}

std::vector<Command> GraphOpsGenerator::edit(Id next_graph, Id next_exec) {
  const std::vector<Id> all = graphs();
  if (all.empty()) return {};
  const Id graph = pick(all);
  const std::uint64_t draw = choices_.below(100);
  if (draw < 25 && all.size() < kMostGraphs) return {CloneGraph{next_graph, graph}};
  if (draw < 50) return edge(graph);
  if (draw < 70) return unedge(graph);
  if (draw < 92) return remove(graph);
  return circle(graph, next_exec);
}

// Mostly forwards, as insertion goes; backwards too, as long as no circle comes of it.
std::vector<Command> GraphOpsGenerator::edge(Id graph) {
  const std::vector<NodeState>& nodes = state_.graph(graph)->nodes;
  if (nodes.size() < 2) return {};
  std::uint64_t to = choices_.between(1, nodes.size() - 1), from = choices_.below(to);
  if (choices_.percent(25)) std::swap(to, from);
  ChangeEdges command{graph, nodes[to].id, {nodes[from].id}, true, false};
  if (choices_.percent(30)) {
    const Id another = nodes[choices_.below(nodes.size())].id;
    if (another != command.after.front()) command.after.push_back(another);
    if (state_.check(command)) command.after.pop_back();
  }
  return {command};
}

std::vector<Command> GraphOpsGenerator::unedge(Id graph) {
  const std::vector<NodeState>& nodes = state_.graph(graph)->nodes;
  if (nodes.empty()) return {};
  const std::size_t start = choices_.below(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeState& node = nodes[(start + i) % nodes.size()];
    if (node.after.empty()) continue;
    const Id before = nodes[node.after[choices_.below(node.after.size())]].id;
    const ChangeEdges command{graph, node.id, {before}, false, false};
    if (!state_.check(command) && !races_after(state_, command)) return {command};
  }
  return {};
}

std::vector<Command> GraphOpsGenerator::remove(Id graph) {
  const std::vector<NodeState>& nodes = state_.graph(graph)->nodes;
  if (nodes.empty()) return {};
  const RemoveNode command{graph, nodes[choices_.below(nodes.size())].id};
  if (races_after(state_, command)) return {};
  return {command};
}

// Of any kernel node; now and then asked for again, through whatever the graph has become.
std::vector<Command> GraphOpsGenerator::attributes() {
  const std::vector<Id> all = graphs();
  if (all.empty()) return {};
  const Id graph = pick(all), other = pick(all);
  const std::vector<NodeState>& nodes = state_.graph(graph)->nodes;
  const std::vector<NodeState>& others = state_.graph(other)->nodes;
  if (nodes.empty() || others.empty()) return {};
  const Id node = nodes[choices_.below(nodes.size())].id;
  if (choices_.percent(30)) {
    const CopyAttributes copy{graph, node, other, others[choices_.below(others.size())].id};
    return state_.check(copy) ? std::vector<Command>{} : std::vector<Command>{copy};
  }
  if (choices_.percent(15)) return {Inspect{Target::kGraph, graph}};
  SetAttributes set{graph, node, {}};
  const std::uint64_t draw = choices_.below(100);
  if (draw < 60) set.attributes.priority = static_cast<std::int32_t>(choices_.below(3)) - kMaxNodePriority;
  if (draw >= 50) set.attributes.cooperative = choices_.percent(60);
  return state_.check(set) ? std::vector<Command>{} : std::vector<Command>{set};
}

// A graph with a circle cannot be instantiated; without the circle it can.
std::vector<Command> GraphOpsGenerator::circle(Id graph, Id next_exec) {
  const std::vector<NodeState>& nodes = state_.graph(graph)->nodes;
  for (const NodeState& node : nodes) {
    if (node.after.empty()) continue;
    const Id before = nodes[node.after.front()].id;
    const ChangeEdges close{graph, before, {node.id}, true, true};
    const ChangeEdges open{graph, before, {node.id}, false, false};
    if (state_.check(close) || !state_.current(*state_.graph(graph))) return {};
    return {close, instantiate(next_exec, graph), open};
  }
  return {};
}

std::vector<Command> GraphOpsGenerator::toggle() {
  const std::vector<Id> all = execs();
  if (all.empty()) return {};
  const Id exec = pick(all);
  const std::vector<NodeState>& nodes = state_.exec(exec)->graph.nodes;
  if (nodes.empty()) return {};
  const std::size_t start = choices_.below(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeState& node = nodes[(start + i) % nodes.size()];
    const EnableNode command{exec, node.id, choices_.percent(10) ? node.enabled : !node.enabled};
    if (!state_.check(command)) return {command};
  }
  return {};
}

std::vector<Command> GraphOpsGenerator::ask() {
  const std::vector<Id> all = graphs(), executables = execs();
  if (all.empty()) return {};
  const std::uint64_t draw = choices_.below(100);
  if (draw < 10) return {PrintDot{pick(all)}};
  if (draw < 40) return {Inspect{Target::kGraph, pick(all)}};
  if (draw < 60 && !executables.empty()) return {Inspect{Target::kExec, pick(executables)}};
  if (draw < 75) {
    std::vector<Id> living;  // their graphs may be gone
    for (const auto& [id, exec] : state_.execs()) {
      if (exec.alive) living.push_back(id);
    }
    if (!living.empty()) return {Upload{pick(living), pick(state_.live_streams())}};
  }
  const Id original = pick(all);
  const std::vector<NodeState>& nodes = state_.graph(original)->nodes;
  if (nodes.empty()) return {};
  return {FindInClone{pick(all), original, nodes[choices_.below(nodes.size())].id}};
}

// Mostly the whole life of one: what holds references is instantiated or cloned, and everybody lets go in some order.
std::vector<Command> GraphOpsGenerator::objects() {
  const std::vector<Id> all = graphs();
  const Id next = state_.user_objects().empty() ? 0 : state_.user_objects().rbegin()->first + 1;
  if (all.empty() || next >= kMostObjects || choices_.percent(30)) return let_go();
  const Id graph = pick(all);
  std::vector<Command> commands = {DeclareUserObject{next}, RetainUserObject{next, graph, choices_.percent(40)}};
  return commands;
}

std::vector<Command> GraphOpsGenerator::let_go() {
  std::vector<Command> choices;
  for (const auto& [id, held] : state_.user_objects()) {
    if (held > 0) choices.push_back(ReleaseUserObject{id, {}});
  }
  for (const auto& [id, graph] : state_.graphs()) {
    for (const auto& [object, count] : graph.objects) {
      if (graph.alive) choices.push_back(ReleaseUserObject{object, id});
    }
  }
  if (choices.empty()) return {};
  return {choices[choices_.below(choices.size())]};
}

Instantiate GraphOpsGenerator::instantiate(Id exec, Id graph) {
  Instantiate command{exec, graph, InstantiateForm::kPlain, 0};
  if (!swarm_.forms || choices_.percent(40)) return command;
  command.form = choices_.percent(50) ? InstantiateForm::kFlags : InstantiateForm::kParams;
  if (choices_.percent(60)) {
    static constexpr std::uint32_t kFlags[] = {kAutoFreeOnLaunch, kUploadAtOnce, kUseNodePriority};
    command.flags = kFlags[choices_.below(3)];
    if (choices_.percent(20)) command.flags |= kFlags[choices_.below(3)];
    if (command.form == InstantiateForm::kFlags) command.flags &= ~kUploadAtOnce;
  }
  return command;
}

}  // namespace verify
