// The events of the commands about nodes whose fields do not describe them.
#include <algorithm>

#include "verify/quirks/event_emitter.h"

namespace verify {

bool describe_events(EventEmitter& out, const AddNode& c) {
  return out.added(*out.state.graph(c.graph), c.after.size(), c.params, c.form);
}

bool describe_events(EventEmitter& out, const SetNode& c) {
  const GraphState* graph = out.target(c.target, c.id);
  const NodeState* before = graph->find(c.node);
  const auto* child = std::get_if<ChildParams>(&c.params);
  const GraphState* inner = child == nullptr ? nullptr : out.state.graph(child->graph);
  out.about(*graph);
  // A strategy that updates records the graph anew, with the edges that are left.
  out.set(k_edges_taken, graph->edges_taken);
  out.set(k_generic, c.form == NodeForm::kGeneric);
  out.set(k_driver, c.form == NodeForm::kDriver);
  return out.in_each_way("set", [&](Op op) {
    // A graph that is recorded again has other memory.
    if (op == Op("set")) out.set(k_names_freed_memory, names_freed_memory(out.state, c.params));
    if (out.node(c.params, inner, before, 0)) return true;
    if (op == Op("set")) return inner != nullptr && out.pairs(*inner, before->child.get(), 1);
    // Recorded again, with its new child.
    if (out.inside(*graph, 0) || (inner != nullptr && out.inside(*inner, 1))) return true;
    return op == Op("update") && inner != nullptr && out.pairs(*inner, before->child.get(), 1);
  });
}

bool describe_events(EventEmitter& out, const CopyAttributes& c) {
  const NodeState& source = *out.state.graph(c.from)->find(c.source);
  const NodeAttributes& from = source.attributes;
  const NodeAttributes& had = out.state.graph(c.graph)->find(c.node)->attributes;
  out.set_op("copy_attributes");
  out.set(k_was_captured, source.captured);
  out.attributes(from);
  out.set(k_loses_attribute,
          (had.priority && !from.priority) || (had.cooperative && !from.cooperative) || (had.window && !from.window));
  return out.emit();
}

}  // namespace verify
