// P9, the forms of a node: one that was added or set through hipGraphAddNode, hipGraphNodeSetParams or
// hipGraphExecNodeSetParams, or through the driver's functions, observes the same as one that was through the function
// of its type.
//
// Every node that has several forms changes to the next one.
#include "verify/oracle/metamorphic.h"
#include "verify/program/state.h"

namespace verify {

namespace {

// The next of the forms that it has; a graph's own memset is not set through the driver.
NodeForm next_form(const NodeParams& params, NodeForm form, bool sets_graph) {
  const auto there = [&](NodeForm other) {
    const bool sets_memset = sets_graph && std::holds_alternative<MemsetParams>(params);
    return has_form(params, other) && !(other == NodeForm::kDriver && sets_memset);
  };
  if (form == NodeForm::kTyped && there(NodeForm::kGeneric)) return NodeForm::kGeneric;
  if (form != NodeForm::kDriver && there(NodeForm::kDriver)) return NodeForm::kDriver;
  return NodeForm::kTyped;
}

}  // namespace

std::optional<Variant> other_form(const Program& program) {
  Variant variant{"the other form of nodes", {program, {}}, {}};
  bool changed = false;
  for (Step& step : variant.derived.program.steps) {
    if (auto* node = std::get_if<AddNode>(&step.command)) {
      const NodeForm before = node->form;
      node->form = next_form(node->params, before, false);
      changed = changed || node->form != before;
    }
    if (auto* set = std::get_if<SetNode>(&step.command)) {
      const NodeForm before = set->form;
      set->form = next_form(set->params, before, set->target == Target::kGraph);
      changed = changed || set->form != before;
    }
  }
  if (!changed) return {};
  return variant;
}

}  // namespace verify
