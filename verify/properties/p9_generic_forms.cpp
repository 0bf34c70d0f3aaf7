// P9, the forms of a node: a node that was added or set through hipGraphAddNode, hipGraphNodeSetParams or
// hipGraphExecNodeSetParams, or through the driver's functions, observes the same as a node that was added or set
// through the function of its type.
//
// Every node that has several forms changes to its next form, except where the release under test is known to do that
// form wrongly.
#include "verify/program/state.h"
#include "verify/properties/variants.h"

namespace verify {

namespace {

// The next of the forms that the node has; a graph's own memset is not set through the driver.
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

std::optional<Variant> other_form(const Program& program, const Avoid& avoid) {
  Variant variant{"the other form of nodes", {program, {}}, {}};
  bool changed = false;
  State state;
  for (Step& step : variant.derived.program.steps) {
    const Command before = step.command;
    if (auto* node = std::get_if<AddNode>(&step.command)) node->form = next_form(node->params, node->form, false);
    if (auto* set = std::get_if<SetNode>(&step.command)) {
      set->form = next_form(set->params, set->form, set->target == Target::kGraph);
    }
    if (step.command != before && avoid && avoid(state, step.command, step.in.thread)) step.command = before;
    changed = changed || step.command != before;
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) {
      if (state.check(step.command)) return {};  // a command may not fit a node of another form
      state.apply(step.command);
    }
  }
  if (!changed) return {};
  return variant;
}

}  // namespace verify
