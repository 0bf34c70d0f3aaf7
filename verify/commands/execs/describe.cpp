// The events of the commands about executable graphs whose fields do not describe them.
#include <algorithm>
#include <array>

#include "verify/program/state_devices.h"
#include "verify/quirks/event_emitter.h"

namespace verify {

bool describe_events(EventEmitter& out, const Instantiate& c) {
  const GraphState* graph = out.state.graph(c.graph);
  out.set_op("instantiate");
  out.set(k_instantiate_form, c.form);
  out.set(k_flags, c.flags);
  out.set(k_instantiated_before,
          std::ranges::count_if(out.state.execs(), [&](const auto& exec) { return exec.second.origin == c.graph; }));
  out.set(k_rows_off_current_device, rows_off_current_device_in(*graph, home_of(*graph)));
  return out.whole(*graph);
}

// Whether some nodes are disabled in place of others since an earlier launch.
static bool swaps_disabled(const ExecState& exec) {
  const std::set<Id> now = exec.graph.disabled();
  return std::ranges::any_of(exec.launched_without, [&now](const std::set<Id>& then) {
    return !std::ranges::includes(now, then) && !std::ranges::includes(then, now);
  });
}

// Whether the node was disabled when it was last set in place.
static bool set_while_disabled(const NodeState& node) {
  const bool has_packets =
      std::holds_alternative<KernelParams>(node.params) || std::holds_alternative<CopyParams>(node.params);
  return has_packets && node.enabled && node.set_disabled;
}

bool describe_events(EventEmitter& out, const Launch& c) {
  const ExecState* exec = out.state.exec(c.exec);
  // These make their executable graphs when they are launched, `remap` not in an arena.
  const bool remaps = out.strategy == StrategyKind::kRemap && !exec->graph.has_memory;
  const bool instantiates = out.strategy == StrategyKind::kCommandBuffer || remaps;
  if (instantiates && out.state.parts().failing_below) {
    out.set_op("instantiate");
    if (out.whole(exec->graph)) return true;
  }
  out.set_op("launch");
  out.stream(c.stream);
  // `careful` and a command buffer launch on a stream of the graph's own device where the program names another one.
  const Id home = home_of(exec->graph), device = out.in_place_too ? home : out.state.device_of_stream(c.stream);
  const bool stabilised = out.strategy == StrategyKind::kStabilise;
  out.set(k_nodes_off_device, nodes_off_device_in(out.state, exec->graph, device, home, stabilised));
  out.set(k_nodes_off_graph_device, nodes_off_device_in(out.state, exec->graph, home, home, stabilised));
  out.set(k_stream_off_graph_device, device != home);
  out.set(k_disabled_swapped, swaps_disabled(*exec));
  const bool in_place = out.strategy != StrategyKind::kRebuild && out.strategy != StrategyKind::kRemap && !stabilised;
  if (in_place) out.set(k_set_while_disabled, std::ranges::count_if(exec->graph.nodes, set_while_disabled));
  if (!out.state.idle()) {
    out.set(k_meets_earlier_work, out.state.parts().streams.unordered_conflict(exec->graph.ranges(), {}));
  }
  out.set(k_overlaps_last_launch, out.state.exec_runs_beside(c.exec, c.stream));
  out.set(k_nodes_without_packets, nodes_without_packets_in(out.state, exec->graph));
  out.set(k_leaves_stream_out, leaves_stream_out(exec->graph));
  out.set(k_rows_off_first_device, rows_off_first_device_in(out.state, exec->graph));
  out.set(k_rows_off_stream_device, rows_off_stream_device_in(out.state, exec->graph, device));
  out.set(k_frees_by_itself, (exec->flags & kAutoFreeOnLaunch) != 0);
  out.set(k_memory_unfreed, out.state.unfreed_memory(exec->graph));
  out.set(k_memory_of_other_graphs, std::ranges::count_if(out.state.buffers(), [&](const auto& entry) {
            return entry.second.unfreed && !exec->graph.addresses.contains(entry.first);
          }));
  return out.whole(exec->graph);
}

// Whether `patch` records the executable graph again: handles of its nodes are gone, or it is not known where a kernel
// has its pointers.
static bool recorded_again(const State& state, Id exec) {
  const auto opaque = [](const NodeState& node) {
    const auto* kernel = std::get_if<KernelParams>(&node.params);
    return kernel != nullptr && kernel->opaque;
  };
  const ExecState& state_of = *state.exec(exec);
  return !state_of.gone.empty() || state.missing_origin(exec) || std::ranges::any_of(state_of.graph.nodes, opaque);
}

bool describe_events(EventEmitter& out, const Patch& c) {
  const GraphState* graph = out.target(c.target, c.id);
  out.set(k_edges_taken, graph->edges_taken);
  const auto whole = [&](Op) { return out.whole(*graph); };
  if (out.in_each_way("patch", whole)) return true;
  if (out.strategy != StrategyKind::kPatch || c.target != Target::kExec || !recorded_again(out.state, c.id))
    return false;
  return std::ranges::any_of(std::array{Op("add"), Op("instantiate")}, [&](Op op) {
    out.set_op(op);
    return whole(op);
  });
}

// Whether an update puts a captured kernel without arguments in the place of one with arguments.
static bool loses_arguments(const GraphState& from, const GraphState& to) {
  for (std::size_t i = 0; i < std::min(from.nodes.size(), to.nodes.size()); ++i) {
    const auto* before = std::get_if<KernelParams>(&from.nodes[i].params);
    const auto* after = std::get_if<KernelParams>(&to.nodes[i].params);
    if (before == nullptr || after == nullptr || !to.nodes[i].captured) continue;
    if (before->kernel->argument_bytes > 0 && after->kernel->argument_bytes == 0) return true;
  }
  return false;
}

bool describe_events(EventEmitter& out, const Update& c) {
  const ExecState* exec = out.state.exec(c.exec);
  const GraphState* graph = out.state.graph(c.graph);
  out.set(k_target, Target::kExec);
  out.set(k_outcome, update_outcome(exec->graph, *graph));
  out.set(k_same_edge_counts, same_counts(exec->graph, *graph));
  out.set(k_edges_taken_differ, exec->graph.edges_taken != graph->edges_taken);
  if (graph->edited) out.set(k_edges_taken, exec->graph.edges_taken);
  out.set(k_loses_arguments, loses_arguments(exec->graph, *graph));
  out.set(k_same_node_count, nodes_of(exec->graph) == nodes_of(*graph));
  out.set(k_captured_off_first_device, graph->device != 0);
  out.set(k_captured_off_first_device_differs, graph->device != exec->graph.device);
  out.about(*graph);
  out.set(k_disabled_nodes, static_cast<std::int64_t>(exec->graph.disabled().size()));
  return out.in_each_way("update", [&](Op) { return out.emit() || out.pairs(*graph, &exec->graph, 0); });
}

}  // namespace verify
