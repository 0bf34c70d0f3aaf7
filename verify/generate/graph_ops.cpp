#include "verify/generate/graph_ops.h"

#include <algorithm>

#include "verify/generate/draw_fields.h"

namespace verify {

namespace {

constexpr std::size_t kMostGraphs = 6;  // clones included

// The graph from which `command` takes dependencies, or no value.
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
  if (state.check(command)) return true;  // for example, in a graph with memory nodes no dependency can be removed
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

// The executable graphs whose nodes can be named.
std::vector<Id> GraphOpsGenerator::execs() const {
  std::vector<Id> ids;
  for (const auto& [id, exec] : state_.execs()) {
    if (exec.alive && state_.graph(exec.origin)->alive) ids.push_back(id);
  }
  return ids;
}

std::vector<Command> GraphOpsGenerator::any() {
  if (swarm_.objects && choices_.percent(40)) return object();
  const bool more = swarm_.editing || swarm_.toggling || swarm_.queries;
  if (swarm_.attributes && (!more || choices_.percent(40))) return by_fields(Topic::kAttributes);
  const std::uint64_t draw = choices_.below(3);
  if (swarm_.editing && (draw == 0 || !(swarm_.toggling || swarm_.queries))) return edit();
  if (swarm_.toggling && (draw == 1 || !swarm_.queries)) return toggle();
  if (swarm_.queries) return by_fields(Topic::kQueries);
  return swarm_.toggling ? toggle() : edit();
}

std::vector<Command> GraphOpsGenerator::by_fields(Topic topic) {
  std::optional<Command> command = draw_by_fields(choices_, state_, names_, topic, swarm_.devices ? 2 : 1);
  if (!command) return {};
  return {std::move(*command)};
}

// A graph takes a reference to a new object at once: drawn alone, most objects would end before a graph holds them.
std::vector<Command> GraphOpsGenerator::object() {
  std::vector<Command> commands = by_fields(Topic::kObjects);
  const auto* declared = commands.empty() ? nullptr : std::get_if<DeclareUserObject>(&commands.front());
  const std::vector<Id> all = graphs();
  if (declared == nullptr || all.empty()) return commands;
  commands.emplace_back(RetainUserObject{declared->object, pick(all), choices_.percent(40)});
  return commands;
}

std::vector<Command> GraphOpsGenerator::edit() {
  const std::vector<Id> all = graphs();
  if (all.empty()) return {};
  const Id graph = pick(all);
  const std::uint64_t draw = choices_.below(100);
  if (draw < 25 && all.size() < kMostGraphs) return {CloneGraph{names_.graph, graph}};
  if (draw < 50) return edge(graph);
  if (draw < 70) return unedge(graph);
  if (draw < 92) return remove(graph);
  return circle(graph);
}

// Mostly from an earlier node to a later one, as nodes are added; sometimes backwards, where that makes no cycle.
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

// A graph with a cycle cannot be instantiated; without the cycle it can.
std::vector<Command> GraphOpsGenerator::circle(Id graph) {
  const std::vector<NodeState>& nodes = state_.graph(graph)->nodes;
  for (const NodeState& node : nodes) {
    if (node.after.empty()) continue;
    const Id before = nodes[node.after.front()].id;
    const ChangeEdges close{graph, before, {node.id}, true, true};
    const ChangeEdges open{graph, before, {node.id}, false, false};
    if (state_.check(close) || !state_.current(*state_.graph(graph))) return {};
    return {close, instantiate(names_.exec, graph), open};
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
