// P9, child graph or flattened: a graph that holds another graph as a child observes the same as a graph that holds the
// child's nodes themselves, between the child's dependencies and the child's dependents.
//
// The child's nodes are added as they are when the child is added, at every depth; an empty node with the child's name
// comes after them. A program with updates is not changed, nor a child that is set, removed or given other edges later.
#include <algorithm>
#include <map>

#include "verify/program/state.h"
#include "verify/properties/variants.h"

namespace verify {

namespace {

constexpr Id kFirstName = kMaxId / 2;  // of nodes that come out of children; programs number their own nodes from 0

// Whether a later command asks for the child as a node of its own kind.
bool needed(const Program& program, const AddNode& child) {
  return std::any_of(program.steps.begin(), program.steps.end(), [&](const Step& step) {
    if (std::holds_alternative<Update>(step.command)) return true;
    if (const auto* set = std::get_if<SetNode>(&step.command)) return std::holds_alternative<ChildParams>(set->params);
    if (const auto* removed = std::get_if<RemoveNode>(&step.command)) return removed->node == child.node;
    if (const auto* edges = std::get_if<ChangeEdges>(&step.command)) return edges->node == child.node;
    return false;
  });
}

class Flattener {
 public:
  Flattener(Derived& out, Id graph) : out_(out), graph_(graph) {}

  // Adds the nodes of `inner` after the nodes `after`. Returns the nodes that end `inner`.
  std::vector<Id> add(const GraphState& inner, const std::vector<Id>& after) {
    std::vector<std::vector<Id>> ends(inner.nodes.size());  // for each node: the nodes that stand for it
    std::vector<bool> leaf(inner.nodes.size(), true);
    for (std::size_t i = 0; i < inner.nodes.size(); ++i) {
      const NodeState& node = inner.nodes[i];
      std::vector<Id> before = node.after.empty() ? after : std::vector<Id>{};
      for (const std::uint32_t index : node.after) {
        before.insert(before.end(), ends[index].begin(), ends[index].end());
        leaf[index] = false;
      }
      std::sort(before.begin(), before.end());
      before.erase(std::unique(before.begin(), before.end()), before.end());
      if (node.child != nullptr) {
        ends[i] = add(*node.child, before);
        continue;
      }
      AddNode command;
      command.graph = graph_;
      command.node = next_++;
      command.params = node.params;
      command.after = before;
      command.fan = node.fan;
      ends[i] = {command.node};
      const SetAttributes attributes{graph_, command.node, node.attributes};
      out_.add(std::move(command));
      if (!(attributes.attributes == NodeAttributes{})) out_.add(attributes);
    }
    std::vector<Id> last = inner.nodes.empty() ? after : std::vector<Id>{};
    for (std::size_t i = 0; i < inner.nodes.size(); ++i) {
      if (leaf[i]) last.insert(last.end(), ends[i].begin(), ends[i].end());
    }
    std::sort(last.begin(), last.end());
    last.erase(std::unique(last.begin(), last.end()), last.end());
    return last;
  }
  [[nodiscard]] Id next() const { return next_; }
  void start_at(Id next) { next_ = next; }

 private:
  Derived& out_;
  Id graph_;
  Id next_ = kFirstName;
};

// Whether each node depends on earlier nodes only: other edges would have to be added later.
bool in_order(const GraphState& graph) {
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::uint32_t before : graph.nodes[i].after) {
      if (before > i) return false;
    }
    if (graph.nodes[i].child && !in_order(*graph.nodes[i].child)) return false;
  }
  return true;
}

}  // namespace

namespace {

// A frozen scalar has the bits from when the child was recorded, and a node that is recorded later cannot take these.
bool freezes(const GraphState& graph) {
  bool frozen = false;
  for (const NodeState& node : graph.nodes) {
    for_each_frozen(node.params, [&](const BufferRef&) { frozen = true; });
    frozen = frozen || (node.child && freezes(*node.child));
  }
  return frozen;
}

}  // namespace

std::optional<Variant> flattened_children(const Program& program) {
  Variant variant{"children flattened", {}, {}};
  variant.derived.program.setting = program.setting;
  State state;
  std::map<Id, Id> names;  // the next free name in each graph
  bool changed = false;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    Step step = program.steps[i];
    for (std::uint32_t k = 0; k < repeats_that_matter(program.steps[i]); ++k) state.apply(program.steps[i].command);
    auto* node = std::get_if<AddNode>(&step.command);
    if (node != nullptr && std::holds_alternative<ChildParams>(node->params) && !needed(program, *node)) {
      const GraphState& inner = *state.graph(node->graph)->find(node->node)->child;
      if (in_order(inner) && !freezes(inner)) {
        Flattener flattener(variant.derived, node->graph);
        if (const auto known = names.find(node->graph); known != names.end()) flattener.start_at(known->second);
        node->after = flattener.add(inner, node->after);
        node->params = EmptyParams{};
        names[node->graph] = flattener.next();
        changed = true;
      }
    }
    variant.derived.keep(step, i);
  }
  if (!changed) return {};
  return variant;
}

}  // namespace verify
