// P9, a disabled node or an empty one: an executable graph with a node disabled observes the same as one that was
// instantiated from a graph that has an empty node in its place, with the same edges.
//
// The node is disabled as soon as the executable graph exists. For the other side the graph is cloned, an empty node
// takes over the edges, and the node is removed. The check does not use an executable graph that is updated later, or a
// node that is set or enabled later.
#include <algorithm>

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

bool disturbed(const Program& program, std::size_t from, Id exec, Id node) {
  return std::any_of(
      program.steps.begin() + static_cast<std::ptrdiff_t>(from), program.steps.end(), [&](const Step& step) {
        const auto* set = std::get_if<SetNode>(&step.command);
        const auto* enable = std::get_if<EnableNode>(&step.command);
        const auto* update = std::get_if<Update>(&step.command);
        return (set != nullptr && set->target == Target::kExec && set->id == exec && set->node == node) ||
               (enable != nullptr && enable->exec == exec && enable->node == node) ||
               (update != nullptr && update->exec == exec);
      });
}

// The node of `graph` with the most edges, because the loss of its edges shows most.
std::optional<Occasion> occasion_in(const Program& program, std::size_t step, const GraphState& graph) {
  const auto& instantiate = std::get<Instantiate>(program.steps[step].command);
  std::optional<Occasion> best;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeState& node = graph.nodes[i];
    if (!can_be_disabled(node.params) || disturbed(program, step + 1, instantiate.exec, node.id)) continue;
    Occasion occasion{step, instantiate, node, {}, {}, 0};
    for (const std::uint32_t before : node.after) occasion.after.push_back(graph.nodes[before].id);
    for (const NodeState& other : graph.nodes) {
      if (std::find(other.after.begin(), other.after.end(), i) != other.after.end()) {
        occasion.dependents.push_back(other.id);
      }
      occasion.empty = std::max(occasion.empty, other.id + 1);
    }
    for (const Id removed : graph.removed) occasion.empty = std::max(occasion.empty, removed + 1);
    const auto edges = [](const Occasion& o) { return o.after.size() * o.dependents.size() * 8 + o.dependents.size(); };
    if (!best || edges(occasion) > edges(*best)) best = std::move(occasion);
  }
  return best;
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
