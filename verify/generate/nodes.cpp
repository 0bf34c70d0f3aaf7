#include "verify/generate/nodes.h"

#include <algorithm>

#include "verify/generate/shapes.h"
#include "verify/program/state_devices.h"

namespace verify {

void NodesDraft::build_graph() {
  if (alive(state_.graphs()).size() >= kMaxGraphs) return;
  const Id graph = next_.graph++;
  if (!take(DeclareGraph{graph})) return;
  if (choices_.percent(7)) return;  // an empty graph
  if (swarm_.shapes && choices_.percent(50) && build_shape(graph)) return;
  const std::uint64_t nodes = choices_.between(1, std::max<std::uint32_t>(2, options_.size / 5));
  for (std::uint64_t i = 0; i < nodes; ++i) add_node(graph);
}

// Draws a shape over the largest buffer of device 0's memory.
bool NodesDraft::build_shape(Id graph) {
  std::optional<Id> cells;
  for (const auto& [id, buffer] : state_.buffers()) {
    if (!buffer.alive || buffer.runtime_places() || buffer.memory != MemoryKind::kDevice || buffer.device != 0)
      continue;
    if (!cells || buffer.bytes > state_.buffer(*cells)->bytes) cells = id;
  }
  if (!cells) return false;
  const std::uint64_t most = choices_.between(3, std::max<std::uint32_t>(4, options_.size / 2));
  bool any = false;
  for (const AddNode& node : draw_shape(choices_, graph, *cells, state_.buffer(*cells)->bytes, most)) {
    if (state_.graph(graph)->instances + node.fan > kMaxInstances || !take(node)) break;
    any = true;
  }
  return any;
}

// Mostly the device that the graph's kernels and memsets have so far.
Id NodesDraft::device_for(const GraphState& graph) {
  const auto runs = [](const NodeState& node) {
    return !node.devices.empty() && !std::holds_alternative<CopyParams>(node.params);
  };
  const bool any = std::ranges::any_of(graph.nodes, runs);
  return any && choices_.percent(85) ? home_of(graph) : static_cast<Id>(choices_.below(2));
}

void NodesDraft::add_node(Id graph) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    AddNode command;
    command.graph = graph;
    command.node = static_cast<Id>(state_.graph(graph)->nodes.size() + state_.graph(graph)->removed.size());
    if (!draw_params(command) || !order(command)) continue;
    draw_form(command);
    if (take(command)) return;
  }
}

bool NodesDraft::draw_params(AddNode& command) {
  const GraphState& graph = *state_.graph(command.graph);
  if (swarm_.children && choices_.percent(22) && draw_child(command)) return true;
  ParamsGenerator generator(choices_, swarm_, state_, usable_buffers(graph));
  if (swarm_.devices) generator.run_on(device_for(graph));
  const bool batch = swarm_.batches && choices_.percent(15);
  const bool semaphores = swarm_.semaphores && choices_.percent(20);
  std::optional<NodeParams> params = semaphores ? generator.semaphores() : batch ? generator.batch() : generator.any();
  if (!params) return false;
  command.params = std::move(*params);
  if (swarm_.fans && choices_.percent(30)) command.fan = static_cast<std::uint32_t>(choices_.between(2, 24));
  return graph.instances + command.fan <= kMaxInstances;
}

bool NodesDraft::draw_child(AddNode& command) {
  command.params = any_child();
  const auto& [child, nest] = std::get<ChildParams>(command.params);
  if (child == command.graph) return false;
  return state_.graph(command.graph)->instances + state_.graph(child)->instances + nest <= kMaxInstances;
}

NodeParams NodesDraft::any_child() {
  ChildParams params{pick(alive(state_.graphs())), 1};
  if (choices_.percent(25))
    params.nest = static_cast<std::uint32_t>(choices_.between(2, choices_.percent(15) ? 24 : 4));
  return params;
}

// Draws dependencies, then adds a dependency on every earlier node that the new node would race with.
bool NodesDraft::order(AddNode& command) {
  const GraphState& graph = *state_.graph(command.graph);
  std::vector<ByteRange> ranges = state_.ranges_of(command.params, command.fan);
  std::vector<std::uint32_t> after;
  for (std::uint64_t i = choices_.below(3); i > 0 && !graph.nodes.empty(); --i) {
    after.push_back(static_cast<std::uint32_t>(choices_.below(graph.nodes.size())));
  }
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    if (!state_.node_races(graph, ranges, after)) break;
    if (conflict(ranges, graph.nodes[i].ranges)) after.push_back(static_cast<std::uint32_t>(i));
  }
  // Most nodes depend on an event wait node that comes first; an event record node depends on most nodes.
  if (swarm_.event_nodes && !graph.nodes.empty()) {
    const bool waits_first = std::holds_alternative<EventWaitParams>(graph.nodes.front().params);
    if (waits_first && choices_.percent(80)) after.push_back(0);
    if (std::holds_alternative<EventRecordParams>(command.params)) {
      for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
        if (choices_.percent(70)) after.push_back(i);
      }
    }
  }
  std::ranges::sort(after);
  after.erase(std::unique(after.begin(), after.end()), after.end());
  command.after.clear();
  for (const std::uint32_t index : after) command.after.push_back(graph.nodes[index].id);
  return true;
}

void NodesDraft::patch_exec(Id exec) {
  if (!state_.current(state_.exec(exec)->graph)) take(Patch{Target::kExec, exec});
}

bool NodesDraft::set_node(Target target, Id id) {
  const GraphState& graph = target == Target::kExec ? state_.exec(id)->graph : *state_.graph(id);
  if (graph.nodes.empty()) return false;
  const std::size_t index = choices_.below(graph.nodes.size());
  const NodeState& node = graph.nodes[index];
  std::optional<NodeParams> params;
  if (const auto* child = std::get_if<ChildParams>(&node.params)) {
    // Mostly the graph that the child came from: it has the same nodes, and may have been set or patched since.
    const std::vector<Id> graphs = alive(state_.graphs());
    params = ChildParams{choices_.percent(70) || graphs.empty() ? child->graph : pick(graphs), child->nest};
  } else {
    ParamsGenerator generator(choices_, swarm_, state_, usable_buffers(graph));
    params = choices_.percent(25) ? another_of_its_type(generator, node.params) : generator.vary(node.params);
  }
  if (!params) return false;
  SetNode command{target, id, node.id, std::move(*params)};
  draw_form(command);
  if (state_.check(command)) return false;
  return !state_.set_races(command) && take(command);
}

// Parameters with another shape or another kernel. A setter of a graph takes them; a setter of an executable graph
// mostly does not.
std::optional<NodeParams> NodesDraft::another_of_its_type(ParamsGenerator& generator, const NodeParams& params) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::optional<NodeParams> other = generator.any();
    if (other && other->index() == params.index()) return other;
  }
  return {};
}

// A child node gets another graph that fits it: mostly one that is like the child, with other parameters.
bool NodesDraft::set_child(Id exec) {
  const std::vector<NodeState>& nodes = state_.exec(exec)->graph.nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto* child = std::get_if<ChildParams>(&nodes[i].params);
    if (child == nullptr || !choices_.percent(60)) continue;
    for (const Id graph : alive(state_.graphs())) {
      SetNode command{Target::kExec, exec, nodes[i].id, ChildParams{graph, child->nest}};
      if (state_.check(command)) continue;
      if (choices_.percent(60) && set_node(Target::kGraph, graph) && state_.check(command)) continue;
      if (state_.set_races(command)) continue;
      if (swarm_.forms && choices_.percent(40)) command.form = NodeForm::kGeneric;
      if (take(command)) return true;
    }
  }
  return false;
}

void NodesDraft::set_exec() {
  const std::vector<Id> execs = alive(state_.execs());
  for (int attempt = 0; attempt < kAttempts && !execs.empty(); ++attempt) {
    const Id exec = pick(execs);
    if (attempt == 0 && !choices_.percent(12)) patch_exec(exec);
    if (choices_.percent(35) && set_child(exec)) return;
    if (set_node(Target::kExec, exec)) return;
  }
}

// A child keeps its topology, so its replacement is the graph that it was copied from, mostly with changed parameters.
void NodesDraft::set_exec_child() {
  for (const Id exec : alive(state_.execs())) {
    for (const NodeState& node : state_.exec(exec)->graph.nodes) {
      const auto* child = std::get_if<ChildParams>(&node.params);
      if (child == nullptr || !state_.graph(child->graph)->alive) continue;
      const ChildParams params = *child;
      const Id id = node.id;
      if (choices_.percent(60)) patch_exec(exec);
      if (!state_.current(*state_.graph(params.graph))) take(Patch{Target::kGraph, params.graph});
      if (choices_.percent(60)) set_node(Target::kGraph, params.graph);
      const SetNode command{Target::kExec, exec, id, params};
      if (!state_.check(command) && !state_.set_races(command)) take(command);
      return;
    }
  }
}

void NodesDraft::set_graph() {
  const std::vector<Id> graphs = alive(state_.graphs());
  for (int attempt = 0; attempt < kAttempts && !graphs.empty(); ++attempt) {
    if (set_node(Target::kGraph, pick(graphs))) return;
  }
}

void NodesDraft::patch_stale() {
  for (const Id exec : alive(state_.execs())) {
    if (choices_.percent(70)) patch_exec(exec);
  }
  for (const Id graph : alive(state_.graphs())) {
    if (!state_.current(*state_.graph(graph)) && choices_.percent(40)) take(Patch{Target::kGraph, graph});
  }
}

// A patch that has nothing to do must do nothing (A6).
void NodesDraft::patch_fresh() {
  const std::vector<Id> execs = alive(state_.execs());
  if (!execs.empty()) take(Patch{Target::kExec, pick(execs)});
  const std::vector<Id> graphs = alive(state_.graphs());
  if (choices_.percent(30) && !graphs.empty()) take(Patch{Target::kGraph, pick(graphs)});
}

// Mostly updates from the graph that the executable graph came from, changed by setters or patched; sometimes from
// any graph, which mostly fails.
void NodesDraft::update() {
  const std::vector<Id> execs = alive(state_.execs());
  if (execs.empty()) return;
  const Id exec = pick(execs);
  const Id origin = state_.exec(exec)->origin;
  const std::vector<Id> graphs = alive(state_.graphs());
  if (graphs.empty()) return;
  if (!state_.graph(origin)->alive || choices_.percent(swarm_.editing ? 40 : 15)) {
    const Id other = pick(graphs);
    if (choices_.percent(50)) set_node(Target::kGraph, other);
    take(Update{exec, other});
    return;
  }
  if (!state_.current(*state_.graph(origin))) take(Patch{Target::kGraph, origin});
  if (choices_.percent(70)) set_node(Target::kGraph, origin);
  take(Update{exec, origin});
}

}  // namespace verify
