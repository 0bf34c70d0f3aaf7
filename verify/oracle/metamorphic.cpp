#include "verify/oracle/metamorphic.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "verify/program/blocks.h"
#include "verify/program/state.h"
#include "verify/shrink/shrinker.h"

namespace verify {

namespace {

bool other_style(Program& program) {
  bool changed = false;
  for (Step& step : program.steps) {
    auto* node = std::get_if<AddNode>(&step.command);
    auto* kernel = node == nullptr ? nullptr : std::get_if<KernelParams>(&node->params);
    if (kernel == nullptr || kernel->kernel->fields.empty()) continue;
    kernel->style = kernel->style == ArgumentStyle::kExtra ? ArgumentStyle::kParams : ArgumentStyle::kExtra;
    changed = true;
  }
  return changed;
}

bool has_update(const Program& program) {
  return std::ranges::any_of(program.steps,
                             [](const Step& step) { return std::holds_alternative<Update>(step.command); });
}

// Nodes of one graph, by their names.
class NodeSet {
 public:
  void insert(Id node) {
    if (node / kBits >= words_.size()) words_.resize(node / kBits + 1);
    words_[node / kBits] |= std::uint64_t{1} << (node % kBits);
  }
  void insert(const NodeSet& other) {
    words_.resize(std::max(words_.size(), other.words_.size()));
    for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  }
  [[nodiscard]] bool contains(Id node) const {
    return node / kBits < words_.size() && ((words_[node / kBits] >> (node % kBits)) & 1U) != 0;
  }
  [[nodiscard]] Id end() const { return static_cast<Id>(words_.size() * kBits); }  // above each of the nodes

 private:
  static constexpr std::size_t kBits = 64;
  std::vector<std::uint64_t> words_;
};

// A chain of thousands of nodes would get millions of edges.
constexpr std::size_t kMaxRedundantEdges = 64;  // of one node

// Adds edges that other edges imply already: all of them, or as many as a node may have. The answer of an update
// depends on the edges.
bool redundant_edges(Program& program) {
  if (has_update(program)) return false;
  std::map<std::pair<Id, Id>, NodeSet> ancestors;
  bool changed = false;
  for (Step& step : program.steps) {
    auto* node = std::get_if<AddNode>(&step.command);
    if (node == nullptr) continue;
    NodeSet& mine = ancestors[{node->graph, node->node}];
    for (const Id id : node->after) mine.insert(ancestors[{node->graph, id}]);
    const std::size_t edges = node->after.size();
    for (Id id = 0; id < mine.end() && node->after.size() < kMaxRedundantEdges; ++id) {
      if (mine.contains(id) && std::ranges::find(node->after, id) == node->after.end()) node->after.push_back(id);
    }
    changed = changed || node->after.size() != edges;
    std::ranges::sort(node->after);
    for (const Id id : node->after) mine.insert(id);
  }
  return changed;
}

// The nodes that come before each node of a program's graphs, after the commands up to here.
class Ancestry {
 public:
  // Removes the nodes from `after` that its other nodes imply. Returns whether there are any.
  bool thin_out(Id graph, std::vector<Id>& after) {
    NodeSet implied;
    for (const Id id : after) implied.insert(before_[{graph, id}]);
    return std::erase_if(after, [&](Id id) { return implied.contains(id); }) != 0;
  }
  void add(Id graph, Id node, const std::vector<Id>& after) {
    NodeSet& mine = before_[{graph, node}];
    for (const Id id : after) {
      mine.insert(before_[{graph, id}]);
      mine.insert(id);
    }
  }
  // A graph that loses an edge may lose the order that the edge implied, so the order of all its nodes is forgotten.
  void forget(Id graph) {
    std::erase_if(before_, [graph](const auto& entry) { return entry.first.first == graph; });
  }
  [[nodiscard]] bool comes_before(Id graph, Id node, Id of) { return before_[{graph, of}].contains(node); }
  void clone(Id graph, Id from) {
    std::map<std::pair<Id, Id>, NodeSet> copies;
    for (const auto& [node, before] : before_) {
      if (node.first == from) copies[{graph, node.second}] = before;
    }
    before_.merge(copies);
  }

 private:
  std::map<std::pair<Id, Id>, NodeSet> before_;
};

// Removes every edge that other edges imply, as far as the order of the commands shows it.
bool fewer_edges(Program& program) {
  Ancestry ancestry;
  bool changed = false;
  for (Step& step : program.steps) {
    if (auto* node = std::get_if<AddNode>(&step.command)) {
      changed = ancestry.thin_out(node->graph, node->after) || changed;
      ancestry.add(node->graph, node->node, node->after);
    } else if (auto* begin = std::get_if<BeginCapture>(&step.command); begin != nullptr && begin->into) {
      changed = ancestry.thin_out(*begin->into, begin->after) || changed;
    } else if (const auto* clone = std::get_if<CloneGraph>(&step.command)) {
      ancestry.clone(clone->graph, clone->from);
    } else if (const auto* removed = std::get_if<RemoveNode>(&step.command)) {
      ancestry.forget(removed->graph);
    } else if (auto* edges = std::get_if<ChangeEdges>(&step.command); edges != nullptr && !edges->add) {
      ancestry.forget(edges->graph);
    } else if (edges != nullptr) {
      const auto known = [&](Id id) { return ancestry.comes_before(edges->graph, id, edges->node); };
      changed = std::erase_if(edges->after, known) != 0 || changed;
      ancestry.add(edges->graph, edges->node, edges->after);
    }
  }
  return changed;
}

// The answer of an update depends on whether both graphs have an edge, implied or not.
bool no_redundant_edge(Program& program) {
  return !has_update(program) && fewer_edges(program);
}

// Swaps neighbouring commands whose nodes do not depend on each other. Updates pair nodes by order, so they rule this
// out.
bool other_order(Program& program) {
  if (has_update(program)) return false;
  bool changed = false;
  for (std::size_t i = 0; i + 1 < program.steps.size(); ++i) {
    const auto* first = std::get_if<AddNode>(&program.steps[i].command);
    const auto* second = std::get_if<AddNode>(&program.steps[i + 1].command);
    if (first == nullptr || second == nullptr || first->graph != second->graph) continue;
    if (std::ranges::find(second->after, first->node) != second->after.end()) continue;
    std::swap(program.steps[i], program.steps[i + 1]);
    changed = true;
    ++i;
  }
  return changed;
}

}  // namespace

std::optional<Program> without_redundant_edges(const Program& program) {
  Program fewer = program;
  // The program is invalid when a command removes an edge by name that is not there any more.
  if (!fewer_edges(fewer) || validate(fewer)) return std::nullopt;
  return fewer;
}

std::optional<Program> with_nodes_in_a_chain(const Program& program) {
  if (has_update(program)) return std::nullopt;  // the edges decide its answer
  Program chained = without_blocks(program);
  std::set<std::pair<Id, Id>> removed;  // graphs and nodes: a removed node would take the chain with it
  for (const Step& step : chained.steps) {
    if (const auto* remove = std::get_if<RemoveNode>(&step.command)) removed.emplace(remove->graph, remove->node);
  }
  std::map<Id, Id> last;  // the end of each graph's chain
  bool changed = false;
  for (Step& step : chained.steps) {
    if (const auto* clone = std::get_if<CloneGraph>(&step.command)) {
      if (const auto found = last.find(clone->from); found != last.end()) last[clone->graph] = found->second;
    }
    auto* node = std::get_if<AddNode>(&step.command);
    if (node == nullptr) continue;
    if (const auto found = last.find(node->graph);
        found != last.end() && std::ranges::find(node->after, found->second) == node->after.end()) {
      node->after.push_back(found->second);
      std::ranges::sort(node->after);
      changed = true;
    }
    if (!removed.contains({node->graph, node->node})) last[node->graph] = node->node;
  }
  if (!changed || validate(chained)) return std::nullopt;
  return chained;
}

// Each setter may record a whole graph again.
constexpr std::size_t kMostSetters = 64;

std::optional<Program> with_setters_for_patches(const Program& program) {
  Program sets = program;
  sets.steps.clear();
  bool changed = false;
  State state;
  for (const Step& step : program.steps) {
    const auto* patch = std::get_if<Patch>(&step.command);
    if (patch != nullptr) {
      const bool in_exec = patch->target == Target::kExec;
      const GraphState& graph = in_exec ? state.exec(patch->id)->graph : *state.graph(patch->id);
      if (graph.nodes.size() > kMostSetters) return std::nullopt;
      changed = true;
      for (const NodeState& node : graph.nodes)
        sets.steps.push_back({SetNode{patch->target, patch->id, node.id, node.params, node.form}});
    } else {
      sets.steps.push_back(step);
    }
    for (std::uint32_t i = 0; i < repeats_that_matter(step); ++i) state.apply(step.command);
  }
  if (!changed) return std::nullopt;
  return drop_invalid(sets);
}

std::vector<Variant> equal_variants(const Program& original, const Avoid& avoid) {
  const Program program = without_blocks(original);  // changes need not be the same in each round
  struct Change {
    std::string_view name;
    bool (*apply)(Program&);
  };
  static constexpr Change kChanges[] = {{"the other argument style", other_style},
                                        {"redundant edges", redundant_edges},
                                        {"no redundant edge", no_redundant_edge},
                                        {"nodes added in another order", other_order}};
  std::vector<Variant> variants;
  for (const Change& change : kChanges) {
    Variant variant{change.name, {program, {}}, {}};
    if (change.apply(variant.derived.program)) variants.push_back(std::move(variant));
  }
  for (const auto pair : {instantiated_from_clones, flattened_children, disabled_is_empty}) {
    if (std::optional<Variant> variant = pair(program)) variants.push_back(std::move(*variant));
  }
  if (std::optional<Variant> variant = other_form(program, avoid)) variants.push_back(std::move(*variant));
  // Later commands on a graph may not be valid for a graph that was built in another way.
  std::erase_if(variants, [](const Variant& variant) {
    return validate(variant.derived.program) || (variant.reference && validate(variant.reference->program));
  });
  return variants;
}

}  // namespace verify
