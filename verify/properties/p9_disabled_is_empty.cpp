// P9, a disabled node or an empty one: an executable graph with a node disabled observes the same as one that was
// instantiated from a graph that has an empty node in its place, with the same edges.
//
// The node is disabled as soon as the executable graph exists. For the other side the graph is cloned, an empty node
// takes over the edges, and the node is removed. The check does not use an executable graph that is updated later, or a
// node that is set or enabled later.
#include <algorithm>
#include <set>
#include <span>

#include "verify/program/state.h"
#include "verify/properties/variants.h"

namespace verify {

namespace {

struct Occasion {
  std::size_t step = 0;  // the step that instantiates
  Instantiate instantiate;
  NodeState node;
  std::vector<Id> after, dependents;
  Id empty = 0;  // a name for the node that takes its place
};

bool can_be_disabled(const NodeParams& params) {
  return std::holds_alternative<KernelParams>(params) || std::holds_alternative<CopyParams>(params) ||
         std::holds_alternative<MemsetParams>(params);
}

// The nodes of the executable graph that the steps from `from` on set or enable; no value where they update it.
std::optional<std::set<Id>> disturbed_nodes(const Program& program, std::size_t from, Id exec) {
  std::set<Id> nodes;
  for (const Step& step : std::span(program.steps).subspan(from)) {
    const auto* set = std::get_if<SetNode>(&step.command);
    const auto* enable = std::get_if<EnableNode>(&step.command);
    const auto* update = std::get_if<Update>(&step.command);
    if (update != nullptr && update->exec == exec) return {};
    if (set != nullptr && set->target == Target::kExec && set->id == exec) nodes.insert(set->node);
    if (enable != nullptr && enable->exec == exec) nodes.insert(enable->node);
  }
  return nodes;
}

// The node of `graph` with the most edges, because the loss of its edges shows most.
std::optional<Occasion> occasion_in(const Program& program, std::size_t step, const GraphState& graph) {
  const auto& instantiate = std::get<Instantiate>(program.steps[step].command);
  const std::optional<std::set<Id>> disturbed = disturbed_nodes(program, step + 1, instantiate.exec);
  if (!disturbed) return {};
  std::vector<std::vector<Id>> dependents(graph.nodes.size());
  Id empty = graph.removed.empty() ? 0 : *graph.removed.rbegin() + 1;
  for (const NodeState& node : graph.nodes) {
    for (const std::uint32_t before : node.after) dependents[before].push_back(node.id);
    empty = std::max(empty, node.id + 1);
  }
  const auto edges = [&](std::size_t i) {
    return graph.nodes[i].after.size() * dependents[i].size() * 8 + dependents[i].size();
  };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!can_be_disabled(graph.nodes[i].params) || disturbed->contains(graph.nodes[i].id)) continue;
    if (!best || edges(i) > edges(*best)) best = i;
  }
  if (!best) return {};
  Occasion occasion{step, instantiate, graph.nodes[*best], {}, std::move(dependents[*best]), empty};
  for (const std::uint32_t before : graph.nodes[*best].after) occasion.after.push_back(graph.nodes[before].id);
  return occasion;
}

std::optional<Occasion> find_occasion(const Program& program, Id* next_graph) {
  State state;
  std::optional<Occasion> found;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (const auto* instantiate = std::get_if<Instantiate>(&step.command); instantiate != nullptr && !found) {
      const GraphState& graph = *state.graph(instantiate->graph);
      if (!graph.cyclic) found = occasion_in(program, i, graph);
    }
    if (const auto* graph = std::get_if<DeclareGraph>(&step.command))
      *next_graph = std::max(*next_graph, graph->graph + 1);
    if (const auto* clone = std::get_if<CloneGraph>(&step.command))
      *next_graph = std::max(*next_graph, clone->graph + 1);
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) state.apply(step.command);
  }
  return found;
}

}  // namespace

std::optional<Variant> disabled_is_empty(const Program& program) {
  Id clone = 0;
  const std::optional<Occasion> occasion = find_occasion(program, &clone);
  if (!occasion || clone > kMaxId || occasion->empty > kMaxId) return {};
  Variant variant{"disabled and empty", {}, Derived{}, PropertyId::kP5};
  Derived &disabled = variant.derived, &empty = *variant.reference;
  disabled.program.setting = empty.program.setting = program.setting;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (i != occasion->step) {
      disabled.keep(step, i);
      empty.keep(step, i);
      continue;
    }
    disabled.keep(step, i);
    disabled.add(EnableNode{occasion->instantiate.exec, occasion->node.id, false});
    Instantiate instantiate = occasion->instantiate;
    empty.add(CloneGraph{clone, instantiate.graph});
    AddNode node;
    node.graph = clone;
    node.node = occasion->empty;
    node.params = EmptyParams{};
    node.after = occasion->after;
    node.fan = occasion->node.fan;
    empty.add(node);
    for (const Id dependent : occasion->dependents) {
      empty.add(ChangeEdges{clone, dependent, {occasion->empty}, true, false});
    }
    empty.add(RemoveNode{clone, occasion->node.id});
    instantiate.graph = clone;
    empty.keep({instantiate, step.repeat, step.line}, i);
  }
  return variant;
}

}  // namespace verify
