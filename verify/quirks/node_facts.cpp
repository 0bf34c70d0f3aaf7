#include "verify/quirks/node_facts.h"

#include <algorithm>

#include "verify/quirks/graph_facts.h"

namespace verify {

namespace {

using enum Attribute;

bool is_pageable(const State& state, const CopyEnd& end) {
  const BufferState* buffer = state.buffer(end.ref.buffer);
  return buffer != nullptr && buffer->memory == MemoryKind::kPageable;
}

// Whether a runtime tells the memory of the two apart by the call that allocated it: pageable memory, memory of a pool,
// all else.
bool is_other_memory(const State& state, const CopyEnd& a, const CopyEnd& b) {
  const auto of_pool = [&](const CopyEnd& end) {
    const BufferState* buffer = state.buffer(end.ref.buffer);
    return buffer != nullptr && buffer->of_pool();
  };
  return is_pageable(state, a) != is_pageable(state, b) || of_pool(a) != of_pool(b);
}

bool has_pageable_end(const State& state, const CopyParams& copy) {
  return is_pageable(state, copy.dst) || is_pageable(state, copy.src);
}

void set_memory(const State& state, Attribute attribute, const BufferRef& ref, Event& event) {
  if (const BufferState* buffer = state.buffer(ref.buffer)) event.set(attribute, buffer->memory);
}

// Set the attributes that findings use for nodes of some types, besides the type.
void describe(const State&, const KernelParams& p, Event& event) {
  event.set(k_device, p.device);
}
void describe(const State& state, const CopyParams& p, Event& event) {
  const Id to = device_of(state, p.dst.ref), from = device_of(state, p.src.ref);
  event.set(k_kind, p.kind);
  event.set(k_pageable, has_pageable_end(state, p) ? 1 : 0);
  event.set(k_linear, p.linear ? 1 : 0);
  event.set(k_height, p.height);
  set_memory(state, k_destination_memory, p.dst.ref, event);
  set_memory(state, k_source_memory, p.src.ref, event);
  event.set(k_device, std::max(to, from));
  event.set(k_between_devices, to != from ? 1 : 0);
  event.set(k_peer_copy, p.peer);
  event.set(k_symbol, p.symbol);
}
void describe(const State& state, const MemsetParams& p, Event& event) {
  event.set(k_element, p.element);
  event.set(k_uncut_value, p.element < sizeof p.value && p.value >> (p.element * 8) != 0 ? 1 : 0);
  event.set(k_height, p.height);
  set_memory(state, k_memory, p.dst, event);
  event.set(k_device, device_of(state, p.dst));
}
void describe(const State&, const MemoryAllocParams& p, Event& event) {
  event.set(k_access, p.access);
}
bool uses_memory_by_access(const State& state, const NodeParams& params, Id device) {
  bool uses = false;
  for_each_ref(params, [&](const BufferRef& ref) {
    const BufferState* buffer = state.buffer(ref.buffer);
    uses = uses || (buffer != nullptr && (buffer->access >> device & 1) != 0 && buffer->device != device);
  });
  return uses;
}
void describe(const State& state, const EventWaitParams& p, Event& event) {
  event.set(k_event_stream_gone, state.event_stream_gone(p.event) ? 1 : 0);
}
// Sets the attributes about the node as it was before, when it was of the same type.
void describe_before(const State& state, const NodeParams& params, const NodeState& before, Event& event) {
  event.set(k_other_nodes, event[k_nodes] - 1);
  const auto* copy = std::get_if<CopyParams>(&before.params);
  if (copy == nullptr) return;
  event.set(k_was_pageable, has_pageable_end(state, *copy) ? 1 : 0);
  event.set(k_was_linear, copy->linear ? 1 : 0);
  if (const auto* now = std::get_if<CopyParams>(&params)) {
    const bool other = is_other_memory(state, copy->dst, now->dst) || is_other_memory(state, copy->src, now->src);
    event.set(k_other_memory, other ? 1 : 0);
  }
}

}  // namespace

Id device_of(const State& state, const BufferRef& ref) {
  const BufferState* buffer = state.buffer(ref.buffer);
  return buffer == nullptr ? 0 : buffer->device;
}

bool names_freed_memory(const State& state, const NodeParams& params) {
  bool freed = false;
  for_each_ref(params, [&](const BufferRef& ref) {
    const BufferState* buffer = state.buffer(ref.buffer);
    freed = freed || (buffer != nullptr && buffer->graph && buffer->freed_by_program);
  });
  return freed;
}

bool names_moved_memory(const State& state, const GraphState& graph, const NodeParams& params) {
  bool moved = false;
  for_each_ref(params, [&](const BufferRef& ref) {
    const auto known = graph.addresses.find(ref.buffer);
    const BufferState* buffer = state.buffer(ref.buffer);
    moved = moved || (known != graph.addresses.end() && buffer != nullptr && buffer->version != known->second);
  });
  return moved;
}

bool may_be_traced(const NodeParams& params) {
  const auto* kernel = std::get_if<KernelParams>(&params);
  const auto* copy = std::get_if<CopyParams>(&params);
  return (kernel != nullptr && kernel->opaque) || (copy != nullptr && copy->symbol != CopySymbol::kNone) ||
         std::holds_alternative<BatchParams>(params) || semaphores_in(params) != nullptr;
}

void describe_traced(const NodeParams& params, Event& event) {
  const auto* kernel = std::get_if<KernelParams>(&params);
  event.set(k_node, NodeParams(ChildParams{}).index());
  event.set(k_child_nodes, 1);
  event.set(k_child_depth, 1);
  event.set(k_nodes_off_first_device, kernel != nullptr && kernel->device != 0 ? 1 : 0);
}

void describe_node(const State& state, const NodeParams& params, const GraphState* child, const NodeState* before,
                   Event& event) {
  event.set(k_node, params.index());  // the words of `node` in attributes.inc are in the order of NodeParams
  if (const auto* kernel = std::get_if<KernelParams>(&params)) {
    describe(state, *kernel, event);
    event.set(k_memory_by_access, uses_memory_by_access(state, params, kernel->device) ? 1 : 0);
  }
  if (const auto* memory = std::get_if<MemoryAllocParams>(&params)) describe(state, *memory, event);
  if (const auto* copy = std::get_if<CopyParams>(&params)) describe(state, *copy, event);
  if (const auto* memset = std::get_if<MemsetParams>(&params)) describe(state, *memset, event);
  if (const auto* wait = std::get_if<EventWaitParams>(&params)) describe(state, *wait, event);
  if (const auto* p = std::get_if<ChildParams>(&params)) {
    event.set(k_child_nodes, child == nullptr ? 0 : nodes_of(*child));
    event.set(k_child_depth, p->nest - 1 + (child == nullptr ? 1 : child->depth));
    event.set(k_nodes_off_first_device, child == nullptr ? 0 : nodes_off_first_device_in(*child));
  }
  if (before == nullptr) return;
  event.set(k_was_driver, before->form == NodeForm::kDriver ? 1 : 0);
  if (event[k_enabled] == kUnset) event.set(k_enabled, before->enabled ? 1 : 0);
  if (before->params.index() == params.index()) describe_before(state, params, *before, event);
}

}  // namespace verify
