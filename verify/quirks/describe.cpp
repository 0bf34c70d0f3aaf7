// Describes commands as events (verify/quirks/event.h). There is one function for each command whose declaration says
// that a release does it wrongly. Without its function such a command does not compile.
#include <algorithm>

#include "hip/releases/releases.h"
#include "verify/errors/error_cases.h"
#include "verify/program/each_command.h"
#include "verify/program/state_devices.h"
#include "verify/quirks/event.h"
#include "verify/quirks/graph_facts.h"
#include "verify/quirks/node_facts.h"

namespace verify {

namespace {

using enum Attribute;

// A value of `op`, by its word in attributes.inc.
enum Op : std::uint8_t {};
consteval Op word(std::string_view wanted) {
#define ATTRIBUTE(name, words) [[maybe_unused]] const auto& words_of_##name = words;
#include "verify/quirks/attributes.inc"
#undef ATTRIBUTE
  std::string_view left = words_of_op;
  for (std::uint8_t number = 0;; ++number) {
    const std::size_t end = std::min(left.find(' '), left.size());
    if (left.substr(0, end) == wanted) return Op{number};
    left.remove_prefix(end + 1);  // does not compile where there is no such word
  }
}

template <class C>
consteval Known known_deviations_of() {
  return C::spec().known;
}
// Actions on systems are judged by their own systems, and no finding is about them.
template <>
consteval Known known_deviations_of<SystemAction>() {
  return kNoDeviation;
}

// Fills in the attributes of events that several commands share, and visits the events.
class EventEmitter {
 protected:
  EventEmitter(const State& state, StrategyKind strategy, const std::function<bool(const Event&)>& visit)
      : state_(state),
        visit_(visit),
        strategy_(strategy),
        in_place_too_(strategy == StrategyKind::kCareful || strategy == StrategyKind::kCommandBuffer) {
    base_.set(k_busy, state.idle() ? 0 : 1);
    base_.set(k_open_captures, state.captures().size());
    base_.set(k_invalid_captures,
              std::ranges::count_if(state.captures(), [](const CaptureState& c) { return !c.valid; }));
  }

  bool of_a_buffer(Op op, Id id) {
    const BufferState* buffer = state_.buffer(id);
    base_.set(k_op, op);
    base_.set(k_from_pool, buffer != nullptr && (buffer->graph || buffer->of_stream) ? 1 : 0);
    return visit_(base_);
  }
  void stream(Id id) {
    base_.set(k_stream, id);
    const CaptureState* capture = state_.capture_of(id);
    base_.set(k_capturing, capture != nullptr ? 1 : 0);
    if (capture != nullptr) base_.set(k_capture_origin, capture->origin == id ? 1 : 0);
    base_.set(k_stream_device, state_.device_of_stream(id));
  }
  void attributes(const NodeState& node) {
    if (node.attributes.cooperative) base_.set(k_cooperative, *node.attributes.cooperative ? 1 : 0);
    if (node.attributes.priority) base_.set(k_priority, *node.attributes.priority);
  }
  void rules(const Command& command) {
    const CaptureAnswer answer = state_.answer(command);
    base_.set(k_capture_answer, answer.status);
    base_.set(k_captures_invalidated, answer.invalidates.size());
    const auto invalidated = [&](const auto& holds) {
      const auto& open = state_.captures();
      return std::ranges::count_if(open, [&](const CaptureState& capture) {
        const auto& gone = answer.invalidates;
        return holds(capture) && std::ranges::find(gone, capture.serial) != gone.end();
      });
    };
    base_.set(k_invalidates_into_graph,
              invalidated([](const CaptureState& capture) { return capture.into.has_value(); }));
    base_.set(k_invalidates_forked,
              invalidated([](const CaptureState& capture) { return capture.behind.size() > 1; }) > 0 ? 1 : 0);
  }
  // One event for a command about a stream, an event or the device.
  bool meets(Op op, const Command& command, Target object, Id id) {
    base_.set(k_op, op);
    base_.set(k_object, object);
    if (object == Target::kStream) stream(id);
    if (object == Target::kEvent) {
      base_.set(k_event_captured, state_.event_captured(id) ? 1 : 0);
      base_.set(k_event_external, state_.event_external(id) ? 1 : 0);
      const auto& all = state_.captures();
      const auto on_origin = [&](const CaptureState& each) { return state_.event_captured_on(id, each.origin); };
      base_.set(k_event_of_side_stream, state_.event_captured(id) && std::ranges::none_of(all, on_origin) ? 1 : 0);
    }
    rules(command);
    return visit_(base_);
  }
  // The events of a command that changes an object. `patch` changes it in place. The other strategies record it again
  // and then instantiate or update. `careful` and a command buffer do whichever of these the release does correctly.
  template <class Visit>
  bool in_each_way(Op op, const Visit& visit) {
    const bool exec = base_[k_target] == static_cast<std::int64_t>(Target::kExec);
    const auto way = [&](Op now) {
      base_.set(k_op, now);
      return visit(now);
    };
    if (strategy_ == StrategyKind::kPatch) return way(op);
    if (in_place_too_ && way(op)) return true;
    if (way(word("add"))) return true;
    return exec && way(strategy_ == StrategyKind::kUpdate ? word("update") : word("instantiate"));
  }
  // Describes the nodes of `graph`, each with the node of `exec` that it replaces (by their order), in children too.
  bool pairs(const GraphState& graph, const GraphState* exec, int level) {
    const Event around = base_;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const NodeState& now = graph.nodes[i];
      const NodeState* before = exec != nullptr && i < exec->nodes.size() ? &exec->nodes[i] : nullptr;
      if (level > 0) base_.set(k_nodes, nodes_of(graph));
      if (node(now.params, now.child.get(), before, level)) return true;
      if (now.child && pairs(*now.child, before == nullptr ? nullptr : before->child.get(), level + 1)) return true;
      base_ = around;
    }
    return false;
  }
  bool asks(Op op, Target of, Id id) {
    base_.set(k_op, op);
    const GraphState* graph = target(of, id);
    return graph != nullptr && whole(*graph);
  }
  const GraphState* target(Target target, Id id) {
    base_.set(k_target, target);
    if (target == Target::kGraph) return state_.graph(id);
    if (target != Target::kExec) return nullptr;
    const ExecState* exec = state_.exec(id);
    return exec == nullptr ? nullptr : &exec->graph;
  }
  void about(const GraphState& graph) {
    base_.set(k_nodes, nodes_of(graph));
    base_.set(k_roots, roots_of(graph));
    base_.set(k_leaves, leaves_of(graph));
    base_.set(k_most_dependents, most_dependents_of(graph));
    base_.set(k_host_nodes, host_nodes_in(graph));
    base_.set(k_copies_moved, copies_moved_in(state_, graph));
    base_.set(k_copies_to_pageable, copies_to_pageable_in(state_, graph));
    base_.set(k_memory_nodes, memory_nodes_in(graph));
    base_.set(k_freed_by_program, graph.has_memory ? freed_by_program_in(state_, graph) : 0);
    base_.set(k_nodes_off_first_device, nodes_off_first_device_in(graph));
    base_.set(k_cyclic, graph.cyclic ? 1 : 0);
    base_.set(k_graph_cloned, graph.cloned ? 1 : 0);
    base_.set(k_graph_edited, graph.edited ? 1 : 0);
    base_.set(k_disabled_nodes, std::ranges::count_if(graph.nodes, [](const NodeState& n) { return !n.enabled; }));
  }
  bool whole(const GraphState& graph) {
    about(graph);
    return visit_(base_) || inside(graph, 0);
  }
  bool inside(const GraphState& graph, int level) {
    return std::ranges::any_of(graph.nodes, [&](const NodeState& n) {
      base_.set(k_dependencies, n.after.size());
      base_.set(k_enabled, n.enabled ? 1 : 0);
      base_.set(k_was_driver, n.form == NodeForm::kDriver ? 1 : 0);
      base_.set(k_was_captured, n.captured ? 1 : 0);
      base_.set(k_cooperative, kUnset);
      base_.set(k_priority, kUnset);
      attributes(n);
      if (node(n.params, n.child.get(), nullptr, level)) return true;
      return n.child != nullptr && inside(*n.child, level + 1);
    });
  }

  bool node(const NodeParams& params, const GraphState* child, const NodeState* before, int level) {
    Event event = base_;
    event.set(k_level, level);
    describe_node(state_, params, child, before, event);
    return visit_(event);
  }

  const State& state_;
  const std::function<bool(const Event&)>& visit_;
  StrategyKind strategy_;
  bool in_place_too_;  // patches in place where that is right, and records again where it is not
  Event base_;
};

// The events of each command.
class Describer : private EventEmitter {
 public:
  Describer(const State& state, StrategyKind strategy, const std::function<bool(const Event&)>& visit)
      : EventEmitter(state, strategy, visit) {}

  bool operator()(const AddNode& c) {
    const GraphState* graph = state_.graph(c.graph);
    if (graph == nullptr) return false;
    base_.set(k_op, word("add"));
    about(*graph);
    base_.set(k_dependencies, c.after.size());
    base_.set(k_generic, c.form == NodeForm::kGeneric ? 1 : 0);
    base_.set(k_driver, c.form == NodeForm::kDriver ? 1 : 0);
    base_.set(k_names_freed_memory, names_freed_memory(state_, c.params) ? 1 : 0);
    const auto* child = std::get_if<ChildParams>(&c.params);
    return node(c.params, child == nullptr ? nullptr : state_.graph(child->graph), nullptr, 0);
  }
  bool operator()(const SetNode& c) {
    const GraphState* graph = target(c.target, c.id);
    const NodeState* before = graph == nullptr ? nullptr : graph->find(c.node);
    if (before == nullptr) return false;
    const auto* child = std::get_if<ChildParams>(&c.params);
    const GraphState* inner = child == nullptr ? nullptr : state_.graph(child->graph);
    about(*graph);
    // A strategy that updates records the graph anew, with the edges that are left.
    base_.set(k_edges_taken, graph->edges_taken);
    base_.set(k_generic, c.form == NodeForm::kGeneric ? 1 : 0);
    base_.set(k_driver, c.form == NodeForm::kDriver ? 1 : 0);
    return in_each_way(word("set"), [&](Op op) {
      // A graph that is recorded again has other memory.
      if (op == word("set")) base_.set(k_names_freed_memory, names_freed_memory(state_, c.params) ? 1 : 0);
      if (node(c.params, inner, before, 0)) return true;
      if (op == word("set")) return inner != nullptr && pairs(*inner, before->child.get(), 1);
      // Recorded again, with its new child.
      if (inside(*graph, 0) || (inner != nullptr && inside(*inner, 1))) return true;
      return op == word("update") && inner != nullptr && pairs(*inner, before->child.get(), 1);
    });
  }
  bool operator()(const Instantiate& c) {
    const GraphState* graph = state_.graph(c.graph);
    base_.set(k_op, word("instantiate"));
    base_.set(k_instantiate_form, c.form);
    base_.set(k_flags, c.flags);
    base_.set(k_instantiated_before,
              std::ranges::count_if(state_.execs(), [&](const auto& exec) { return exec.second.origin == c.graph; }));
    if (graph == nullptr) return false;
    base_.set(k_rows_off_current_device, rows_off_current_device_in(*graph, home_of(*graph)));
    return whole(*graph);
  }
  bool operator()(const Launch& c) {
    const ExecState* exec = state_.exec(c.exec);
    base_.set(k_op, word("launch"));
    stream(c.stream);
    rules(c);
    if (exec == nullptr) return false;
    // `careful` and a command buffer launch on a stream of the graph's own device where the program names another one.
    const Id home = home_of(exec->graph), device = in_place_too_ ? home : state_.device_of_stream(c.stream);
    const bool stabilised = strategy_ == StrategyKind::kStabilise;
    base_.set(k_nodes_off_device, nodes_off_device_in(state_, exec->graph, device, home, stabilised));
    base_.set(k_nodes_off_graph_device, nodes_off_device_in(state_, exec->graph, home, home, stabilised));
    base_.set(k_stream_off_graph_device, device != home ? 1 : 0);
    base_.set(k_overlaps_last_launch, state_.exec_runs_beside(c.exec, c.stream) ? 1 : 0);
    base_.set(k_nodes_without_packets, nodes_without_packets_in(state_, exec->graph));
    base_.set(k_leaves_stream_out, leaves_stream_out(exec->graph) ? 1 : 0);
    base_.set(k_rows_off_first_device, rows_off_first_device_in(state_, exec->graph));
    base_.set(k_rows_off_stream_device, rows_off_stream_device_in(state_, exec->graph, device));
    base_.set(k_frees_by_itself, (exec->flags & kAutoFreeOnLaunch) != 0 ? 1 : 0);
    base_.set(k_memory_of_other_graphs, std::ranges::count_if(state_.buffers(), [&](const auto& entry) {
                return entry.second.unfreed && !exec->graph.addresses.contains(entry.first);
              }));
    return whole(exec->graph);
  }
  bool operator()(const Enqueue& c) {
    base_.set(k_op, word("on"));
    stream(c.stream);
    rules(c);
    if (const auto* copy = std::get_if<CopyParams>(&c.params)) {
      const auto away = [&, own = state_.device_of_stream(c.stream)](const CopyEnd& end) {
        return on_device(state_, end) && device_of(state_, end.ref) != own;
      };
      base_.set(k_end_off_stream_device, away(copy->dst) || away(copy->src) ? 1 : 0);
    }
    if (const CaptureState* capture = state_.capture_of(c.stream))
      base_.set(k_dependencies, capture->behind.at(c.stream).size());
    return node(c.params, nullptr, nullptr, 0);
  }
  bool operator()(const Synchronize& c) { return meets(word("sync"), c, c.target, c.id); }
  bool operator()(const Query& c) { return meets(word("query"), c, c.target, c.id); }
  bool operator()(const Elapsed& c) { return meets(word("elapsed"), c, Target::kEvent, c.from); }
  bool operator()(const UnsafeCall& c) { return meets(word("unsafe"), c, Target::kDevice, 0); }
  bool operator()(const ExchangeCaptureMode& c) { return meets(word("capture_mode"), c, Target::kDevice, 0); }
  bool operator()(const CaptureInfo& c) { return meets(word("capture_info"), c, Target::kStream, c.stream); }
  bool operator()(const CaptureAfter& c) { return meets(word("capture_after"), c, Target::kStream, c.stream); }
  bool operator()(const RecordEvent& c) {
    stream(c.stream);
    base_.set(k_event_of_this_stream, state_.event_captured_on(c.event, c.stream) ? 1 : 0);
    return meets(word("record"), c, Target::kEvent, c.event);
  }
  bool operator()(const WaitEvent& c) {
    stream(c.stream);
    base_.set(k_event_of_this_stream, state_.event_captured_on(c.event, c.stream) ? 1 : 0);
    base_.set(k_event_stream_captures, state_.event_stream_captures(c.event) ? 1 : 0);
    base_.set(k_event_stream_gone, state_.event_stream_gone(c.event) ? 1 : 0);
    return meets(word("wait"), c, Target::kEvent, c.event);
  }
  bool operator()(const BeginCapture& c) {
    base_.set(k_into_graph, c.into ? 1 : 0);
    return meets(word("capture"), c, Target::kStream, c.stream);
  }
  bool operator()(const EndCapture& c) {
    if (const CaptureState* capture = state_.capture_of(c.stream)) {
      base_.set(k_into_graph, capture->into ? 1 : 0);
      base_.set(k_dependencies_removed, capture->taken_out.size());
      base_.set(k_removed_on_side_stream, capture->taken_from_side ? 1 : 0);
      about(capture->graph);
    }
    return meets(word("endcapture"), c, Target::kStream, c.stream);
  }
  bool operator()(const Patch& c) {
    const GraphState* graph = target(c.target, c.id);
    if (graph == nullptr) return false;
    base_.set(k_edges_taken, graph->edges_taken);
    return in_each_way(word("patch"), [&](Op) { return whole(*graph); });
  }
  bool operator()(const Update& c) {
    const ExecState* exec = state_.exec(c.exec);
    const GraphState* graph = state_.graph(c.graph);
    if (exec == nullptr || graph == nullptr) return false;
    base_.set(k_target, Target::kExec);
    base_.set(k_outcome, update_outcome(exec->graph, *graph));
    base_.set(k_same_edge_counts, same_counts(exec->graph, *graph) ? 1 : 0);
    base_.set(k_edges_taken_differ, exec->graph.edges_taken != graph->edges_taken ? 1 : 0);
    if (graph->edited) base_.set(k_edges_taken, exec->graph.edges_taken);
    base_.set(k_same_node_count, nodes_of(exec->graph) == nodes_of(*graph) ? 1 : 0);
    base_.set(k_captured_off_first_device, captured_off_first_device_in(*graph));
    about(*graph);
    return in_each_way(word("update"), [&](Op) { return visit_(base_) || pairs(*graph, &exec->graph, 0); });
  }
  bool operator()(const Destroy& c) {
    base_.set(k_op, word("destroy"));
    if (c.target == Target::kStream || c.target == Target::kEvent) return meets(word("destroy"), c, c.target, c.id);
    const GraphState* graph = target(c.target, c.id);
    return graph != nullptr && whole(*graph);
  }
  bool operator()(const CloneGraph& c) { return asks(word("clone"), Target::kGraph, c.from); }
  bool operator()(const ChangeEdges& c) {
    base_.set(k_dependencies, c.after.size());
    base_.set(k_closes_circle, c.cycle ? 1 : 0);
    return asks(word("edges"), Target::kGraph, c.graph);
  }
  bool operator()(const RemoveNode& c) { return asks(word("remove"), Target::kGraph, c.graph); }
  bool operator()(const EnableNode& c) {
    base_.set(k_enabled, c.enabled ? 1 : 0);
    const GraphState* graph = target(Target::kExec, c.exec);
    const NodeState* before = graph == nullptr ? nullptr : graph->find(c.node);
    if (before == nullptr) return false;
    base_.set(k_op, word("enable"));
    base_.set(k_memory_moved, names_moved_memory(state_, *graph, before->params) ? 1 : 0);
    about(*graph);
    return node(before->params, nullptr, before, 0);
  }
  bool operator()(const Upload& c) { return asks(word("upload"), Target::kExec, c.exec); }
  bool operator()(const SetAttributes& c) {
    if (c.attributes.cooperative) base_.set(k_cooperative, *c.attributes.cooperative ? 1 : 0);
    if (c.attributes.priority) base_.set(k_priority, *c.attributes.priority);
    base_.set(k_op, word("attribute"));
    return visit_(base_);
  }
  bool operator()(const CopyAttributes& c) {
    const GraphState* graph = state_.graph(c.from);
    const NodeState* source = graph == nullptr ? nullptr : graph->find(c.source);
    const GraphState* to = state_.graph(c.graph);
    const NodeState* target = to == nullptr ? nullptr : to->find(c.node);
    if (source != nullptr) attributes(*source);
    if (source != nullptr && target != nullptr) {
      const NodeAttributes &from = source->attributes, &had = target->attributes;
      base_.set(k_loses_attribute, (had.priority && !from.priority) || (had.cooperative && !from.cooperative) ? 1 : 0);
    }
    base_.set(k_op, word("copy_attributes"));
    return visit_(base_);
  }
  bool operator()(const PeerAccess& c) {
    base_.set(k_op, word("peer"));
    base_.set(k_stream_device, c.device);
    return visit_(base_);
  }
  bool operator()(const RetainUserObject& c) { return asks(word("retain"), Target::kGraph, c.graph); }
  bool operator()(const ReleaseUserObject& c) {
    if (c.graph) return asks(word("release"), Target::kGraph, *c.graph);
    base_.set(k_op, word("release"));
    return visit_(base_);
  }
  bool operator()(const PrintDot& c) { return asks(word("dot"), Target::kGraph, c.graph); }
  bool operator()(const Inspect& c) { return asks(word("inspect"), c.target, c.id); }
  bool operator()(const FreeAsync& c) {
    rules(c);
    stream(c.stream);
    return of_a_buffer(word("free_async"), c.buffer);
  }
  bool operator()(const MallocAsync& c) {
    base_.set(k_op, word("malloc_async"));
    rules(c);
    stream(c.stream);
    const auto given_again = [&](bool allocated_here) {
      return std::ranges::count_if(state_.buffers(), [&](const auto& entry) {
        const BufferState& freed = entry.second;
        return freed.given_again_on.contains(c.stream) && (freed.allocated_on == c.stream) == allocated_here &&
               *freed.freed_on != c.stream && state_.work_races({{entry.first, 0, kToTheEnd, true}}, c.stream);
      });
    };
    base_.set(k_freed_by_other_stream, given_again(true));
    base_.set(k_freed_after_waited_event, given_again(false));
    return visit_(base_);
  }
  bool operator()(const Free& c) { return of_a_buffer(word("free"), c.buffer); }
  bool operator()(const Read& c) { return of_a_buffer(word("read"), c.buffer); }
  bool operator()(const BadCall& c) {
    base_.set(k_op, word("bad"));
    base_.set(k_handle_gone, c.error_case.starts_with("gone") ? 1 : 0);
    if (visit_(base_)) return true;
    for (std::size_t release = 0; release < hip::kReleaseNames.size(); ++release) {
      if (find_error_deviation(hip::kReleaseNames[release], c.function, c.error_case) == nullptr) continue;
      base_.set(k_deviates_on, release);
      if (visit_(base_)) return true;
    }
    return false;
  }
  // A command that no release is known to do wrongly has no events.
  template <class C>
    requires(known_deviations_of<C>() == kNoDeviation)
  bool operator()(const C&) {
    return false;
  }
};

}  // namespace

bool any_event(const State& state, const Command& command, StrategyKind strategy,
               const std::function<bool(const Event&)>& visit) {
  return std::visit(Describer(state, strategy, visit), command);
}

}  // namespace verify
