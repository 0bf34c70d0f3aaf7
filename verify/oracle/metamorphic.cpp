#include "verify/oracle/metamorphic.h"

#include <algorithm>
#include <map>
#include <set>

namespace verify {

namespace {

bool other_style(Program& program) {
  bool changed = false;
  for (Step& step : program.steps) {
    auto* node = std::get_if<AddNode>(&step.command);
    auto* kernel = node == nullptr ? nullptr : std::get_if<KernelParams>(&node->params);
    if (kernel == nullptr) continue;
    kernel->style = kernel->style == ArgumentStyle::kExtra ? ArgumentStyle::kParams : ArgumentStyle::kExtra;
    changed = true;
  }
  return changed;
}

// Every edge that the others imply already.
bool redundant_edges(Program& program) {
  std::map<std::pair<Id, Id>, std::set<Id>> ancestors;
  bool changed = false;
  for (Step& step : program.steps) {
    auto* node = std::get_if<AddNode>(&step.command);
    if (node == nullptr) continue;
    std::set<Id>& mine = ancestors[{node->graph, node->node}];
    for (const Id id : node->after) {
      mine.insert(id);
      const std::set<Id>& theirs = ancestors[{node->graph, id}];
      mine.insert(theirs.begin(), theirs.end());
    }
    changed = changed || mine.size() != node->after.size();
    node->after.assign(mine.begin(), mine.end());
  }
  return changed;
}

// Neighbours that do not depend on each other change places. Updates pair nodes by order, so they rule this out.
bool other_order(Program& program) {
  for (const Step& step : program.steps) {
    if (std::holds_alternative<Update>(step.command)) return false;
  }
  bool changed = false;
  for (std::size_t i = 0; i + 1 < program.steps.size(); ++i) {
    const auto* first = std::get_if<AddNode>(&program.steps[i].command);
    const auto* second = std::get_if<AddNode>(&program.steps[i + 1].command);
    if (first == nullptr || second == nullptr || first->graph != second->graph) continue;
    if (std::find(second->after.begin(), second->after.end(), first->node) != second->after.end()) continue;
    std::swap(program.steps[i], program.steps[i + 1]);
    changed = true;
    ++i;
  }
  return changed;
}

}  // namespace

std::vector<Variant> equal_variants(const Program& program) {
  struct Change {
    std::string_view name;
    bool (*apply)(Program&);
  };
  static constexpr Change kChanges[] = {{"the other argument style", other_style},
                                        {"redundant edges", redundant_edges},
                                        {"nodes added in another order", other_order}};
  std::vector<Variant> variants;
  for (const Change& change : kChanges) {
    Variant variant{change.name, program};
    if (change.apply(variant.program)) variants.push_back(std::move(variant));
  }
  return variants;
}

}  // namespace verify
