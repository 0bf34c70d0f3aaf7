// verify::EventEmitter: makes the events of one command, and shows each to a visitor until the visitor returns true.
//
// A command's declaration says who describes it (Known, verify/commands/fields.h): its fields (describe.cpp), or a
// function describe_events() in verify/commands/<family>/describe.cpp, which the family's header declares. Every
// function that emits returns whether the visitor returned true.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>

#include "verify/program/state.h"
#include "verify/quirks/event.h"
#include "verify/quirks/graph_facts.h"
#include "verify/quirks/node_facts.h"

namespace verify {

using enum Attribute;

// A value of the attribute `op`, by its word in attributes.inc. Another word does not compile.
struct Op {
  consteval Op(const char* word) : Op(std::string_view(word)) {}
  consteval Op(std::string_view word) : number(find_word(k_op, word).value()) {}
  constexpr bool operator==(const Op&) const = default;
  std::int64_t number;
};

class EventEmitter {
 public:
  EventEmitter(const State& before, const Command& command, Handling handling,
               const std::function<bool(const Event&)>& visit)
      : state(before),
        strategy(handling.strategy),
        in_place_too(strategy == StrategyKind::kCareful || strategy == StrategyKind::kCommandBuffer),
        library_(handling.library),
        visit_(visit) {
    set(k_busy, !state.idle());
    if (const MemoryState& memory = state.parts().memory; memory.left_free) {
      constexpr std::uint64_t kSmall = std::uint64_t{16} << 20;
      set(k_memory_short, memory.room_for(kSmall) != Room::kEnough);
    }
    if (const std::optional<Below> call = state.parts().failing_below) {
      set(k_failing_below, *call);
      set(k_null_stream_new, std::ranges::all_of(state.buffers(), [](const auto& entry) {
            const BufferState& buffer = entry.second;  // a foreign variable keeps its contents
            return buffer.runtime_places() || buffer.variable || buffer.memory != MemoryKind::kDevice;
          }));
    }
    set(k_open_captures, state.captures().size());
    set(k_blocking_captures, std::ranges::count_if(state.captures(), [this](const CaptureState& capture) {
          return std::ranges::any_of(capture.behind, [this](const auto& entry) { return blocks(entry.first); });
        }));
    set(k_invalid_captures, std::ranges::count_if(state.captures(), [](const CaptureState& c) { return !c.valid; }));
    rules_of_capture(state.answer(command));
  }

  const State& state;
  const StrategyKind strategy;
  const bool in_place_too;  // patches in place where that is right, and records again where it is not

  template <class Value>
  void set(Attribute attribute, Value value) {
    base_.set(attribute, value);
  }
  void set_op(Op op) { set(k_op, op.number); }
  bool emit() { return visit_(base_); }

  bool about_buffer(Id id) {
    const BufferState* buffer = state.buffer(id);
    set(k_from_pool, buffer != nullptr && buffer->of_pool());
    return emit();
  }
  void stream(Id id) {
    set(k_stream, id);
    set(k_stream_blocks, blocks(id));
    const CaptureState* capture = state.capture_of(id);
    set(k_capturing, capture != nullptr);
    if (capture != nullptr) set(k_capture_origin, capture->origin == id);
    set(k_stream_device, state.device_of_stream(id));
  }
  void attributes(const NodeAttributes& attributes) {
    if (attributes.cooperative) set(k_cooperative, *attributes.cooperative);
    if (attributes.priority) set(k_priority, *attributes.priority);
    if (attributes.window) set(k_window, *attributes.window);
  }
  // One event for a command about a stream, an event or the device.
  bool about_object(Target object, Id id) {
    set(k_object, object);
    if (object == Target::kStream) stream_of_capture(id);
    if (object == Target::kEvent) event(id);
    return emit();
  }
  // The events of a command that changes an object. `patch` changes it in place. The other strategies record it again
  // and then instantiate or update. `careful` and a command buffer do whichever of these the release does correctly.
  template <class Visit>
  bool in_each_way(Op op, const Visit& visit) {
    const bool exec = base_[k_target] == static_cast<std::int64_t>(Target::kExec);
    const auto way = [&](Op now) { return set_op(now), visit(now); };
    if (strategy == StrategyKind::kPatch) return way(op);
    if (in_place_too && way(op)) return true;
    if (way("add")) return true;
    return exec && way(strategy == StrategyKind::kUpdate ? Op("update") : Op("instantiate"));
  }
  // Describes the nodes of `graph`, each with the node of `exec` that it replaces (by their order), in children too.
  bool pairs(const GraphState& graph, const GraphState* exec, int level) {
    const Event around = base_;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const NodeState& now = graph.nodes[i];
      const NodeState* before = exec != nullptr && i < exec->nodes.size() ? &exec->nodes[i] : nullptr;
      if (level > 0) set(k_nodes, nodes_of(graph));
      if (node(now.params, now.child.get(), before, level)) return true;
      if (now.child && pairs(*now.child, before == nullptr ? nullptr : before->child.get(), level + 1)) return true;
      base_ = around;
    }
    return false;
  }
  const GraphState* target(Target target, Id id) {
    set(k_target, target);
    return target == Target::kGraph ? state.graph(id) : &state.exec(id)->graph;
  }
  void about(const GraphState& graph) {
    facts_.begin(state, graph);
    for (const Attribute attribute : FactsOfGraph::attributes()) set(attribute, kNotCounted);
    set(k_cyclic, graph.cyclic);
    set(k_graph_cloned, graph.cloned);
    set(k_graph_edited, graph.edited);
  }
  bool whole(const GraphState& graph) {
    about(graph);
    return emit() || inside(graph, 0);
  }
  bool inside(const GraphState& graph, int level) {
    return std::ranges::any_of(graph.nodes, [&](const NodeState& n) {
      set(k_dependencies, n.after.size());
      set(k_enabled, n.enabled);
      set(k_was_driver, n.form == NodeForm::kDriver);
      set(k_was_captured, n.captured);
      set(k_cooperative, kUnset);
      set(k_priority, kUnset);
      set(k_window, kUnset);
      attributes(n.attributes);
      if (node(n.params, n.child.get(), nullptr, level)) return true;
      return n.child != nullptr && inside(*n.child, level + 1);
    });
  }
  // A node that is added to `graph` by hand.
  bool added(const GraphState& graph, std::size_t dependencies, const NodeParams& params, NodeForm form) {
    set_op("add");
    about(graph);
    set(k_dependencies, dependencies);
    set(k_generic, form == NodeForm::kGeneric);
    set(k_driver, form == NodeForm::kDriver);
    set(k_names_freed_memory, names_freed_memory(state, params));
    if (const auto* freed = std::get_if<MemoryFreeParams>(&params)) memory_of_free_node(graph, freed->buffer);
    const auto* child = std::get_if<ChildParams>(&params);
    return node(params, child == nullptr ? nullptr : state.graph(child->graph), nullptr, 0);
  }
  // A node that is added by hand to the graph that the stream captures into, behind what the stream captured last.
  bool added_to_capture(Id stream, const NodeParams& params) {
    const CaptureState& capture = *state.capture_of(stream);
    return added(capture.graph, capture.behind.at(stream).size(), params, NodeForm::kTyped);
  }
  bool node(const NodeParams& params, const GraphState* child, const NodeState* before, int level) {
    Event event = base_;
    event.set(k_level, level);
    describe_node(state, params, child, before, event);
    return visit_(event) || (library_ && is_traced(params) && traced(params, level));
  }

 private:
  // Whether hip/patcher_abi.h has no struct for the node, or for its attributes.
  [[nodiscard]] bool is_traced(const NodeParams& params) const {
    const auto stated = [this](Attribute attribute) { return base_[attribute] != kUnset; };
    return may_be_traced(params) || stated(k_cooperative) || stated(k_priority) || stated(k_window);
  }
  // The node as a child graph of its own.
  bool traced(const NodeParams& params, int level) {
    Event event = base_;
    event.set(k_level, level);
    describe_traced(params, event);
    return visit_(event);
  }
  void memory_of_free_node(const GraphState& graph, Id buffer) {
    const std::optional<Id> origin = state.buffer(buffer)->graph;  // none: the capture that frees it allocates it
    const GraphState& allocates = origin ? *state.graph(*origin) : graph;
    // Where a graph is recorded again, its memory belongs to a graph that ends with the executable graph.
    const bool ended = origin && in_place_too && std::ranges::none_of(state.execs(), [origin](const auto& entry) {
                         return entry.second.alive && entry.second.origin == *origin;
                       });
    set(k_handle_gone, (origin && !allocates.alive) || ended);
    const NodeState* allocation = allocation_of(allocates, buffer);
    set(k_unlisted_memory, allocation != nullptr && (allocation->captured || allocation->form == NodeForm::kGeneric));
  }
  void stream_of_capture(Id id) {
    stream(id);
    const CaptureState* capture = state.capture_of(id);
    if (capture == nullptr) return;
    set(k_into_graph, capture->into.has_value());
    set(k_dependencies_removed, capture->taken_out.size());
    set(k_removed_on_side_stream, capture->taken_from_side);
    about(capture->graph);
  }
  void rules_of_capture(const CaptureAnswer& answer) {
    set(k_capture_answer, answer.status);
    set(k_captures_invalidated, answer.invalidates.size());
    const auto invalidated = [&](const auto& holds) {
      return std::ranges::count_if(state.captures(), [&](const CaptureState& capture) {
        const auto& gone = answer.invalidates;
        return holds(capture) && std::ranges::find(gone, capture.serial) != gone.end();
      });
    };
    set(k_invalidates_into_graph, invalidated([](const CaptureState& capture) { return capture.into.has_value(); }));
    set(k_invalidates_forked, invalidated([](const CaptureState& capture) { return capture.behind.size() > 1; }) > 0);
  }
  [[nodiscard]] bool blocks(Id id) const {
    const StreamState* stream = state.parts().streams.find(id);
    return stream == nullptr || !stream->non_blocking;
  }
  void event(Id id) {
    set(k_event_captured, state.event_captured(id));
    set(k_event_external, state.event_external(id));
    set(k_event_had_nodes, state.event_had_nodes(id));
    set(k_event_stream_captures, state.event_stream_captures(id));
    set(k_event_stream_gone, state.event_stream_gone(id));
    const auto& all = state.captures();
    const auto on_origin = [&](const CaptureState& each) { return state.event_captured_on(id, each.origin); };
    set(k_event_of_side_stream, state.event_captured(id) && std::ranges::none_of(all, on_origin));
    if (base_[k_stream] == kUnset) return;
    set(k_event_of_this_stream, state.event_captured_on(id, static_cast<Id>(base_[k_stream])));
  }

  const bool library_;
  const std::function<bool(const Event&)>& visit_;
  FactsOfGraph facts_;
  Event base_{facts_};
};

}  // namespace verify
