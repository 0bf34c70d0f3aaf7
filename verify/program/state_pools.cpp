// Stream-ordered memory and pools in State; the rules are in the header.
#include "verify/program/state_pools.h"

#include <fmt/format.h>

#include <algorithm>

#include "verify/program/state_capture.h"

namespace verify {

namespace {

using Reason = std::optional<std::string>;

Reason live_pool(const State& state, Id id) {
  const auto found = state.pools().find(id);
  if (found == state.pools().end()) return fmt::format("p{} is not declared", id);
  if (!found->second.alive) return fmt::format("p{} was destroyed", id);
  return {};
}

}  // namespace

Reason check_pool_command(const State& state, const MallocAsync& c) {
  if (c.bytes == 0 || c.bytes > kMaxBufferBytes) return fmt::format("a buffer has 1 to {} bytes", kMaxBufferBytes);
  if (state.buffer(c.buffer) != nullptr) return fmt::format("b{} is declared already", c.buffer);
  const std::vector<Id> streams = state.live_streams();
  if (std::find(streams.begin(), streams.end(), c.stream) == streams.end())
    return fmt::format("s{} is not declared or was destroyed", c.stream);
  if (c.pool) {
    if (Reason reason = live_pool(state, *c.pool)) return reason;
  }
  if (state.captures().empty()) return {};
  const CaptureState* capture = state.capture_of(c.stream);
  if (capture == nullptr) return "memory stays as it is while a stream captures: its calls are 'unsafe'";
  if (capture->into) return "a graph that is captured into gets no memory nodes";
  if (capture->graph.instances >= kMaxInstances) return "a graph of so many nodes is too large";
  return {};
}

Reason check_pool_command(const State& state, const DeclarePool& c) {
  if (state.pools().contains(c.pool)) return fmt::format("p{} is declared already", c.pool);
  if (!c.of_device) return {};
  for (const auto& [id, pool] : state.pools()) {
    if (pool.of_device) return fmt::format("p{} is the device's default pool already", id);
  }
  return {};
}

// HIP's header: high watermarks can only be reset to zero, and counts are not set at all.
Reason check_pool_command(const State& state, const AskPool& c) {
  if (Reason reason = live_pool(state, c.pool)) return reason;
  if (!c.value || c.attribute == PoolAttribute::kThreshold) return {};
  if (is_kept(c.attribute)) return *c.value <= 1 ? Reason() : Reason("a flag is 0 or 1");
  const bool mark = c.attribute == PoolAttribute::kReservedHigh || c.attribute == PoolAttribute::kUsedHigh;
  if (!mark) return "HIP only tells this";
  return *c.value == 0 ? Reason() : Reason("a high watermark is only reset to 0");
}

Reason check_pool_command(const State& state, const TrimPool& c) {
  return live_pool(state, c.pool);
}
Reason check_pool_command(const State& state, const AccessPool& c) {
  return live_pool(state, c.pool);
}
Reason check_pool_command(const State& state, const UsePool& c) {
  return c.pool ? live_pool(state, *c.pool) : Reason();
}
Reason check_pool_command(const State& state, const DestroyPool& c) {
  if (Reason reason = live_pool(state, c.pool)) return reason;
  if (state.pools().at(c.pool).of_device) return "a device's default pool cannot be destroyed";
  return {};
}

// ---- effects

void PoolApplier::operator()(const MallocAsync& c) const {
  state.graph_memory_ = true;
  if (capture(c)) return;
  BufferState buffer{c.bytes, c.bytes, MemoryKind::kDevice, 0, true};
  buffer.of_stream = true;
  buffer.allocated_on = c.stream;
  buffer.pool = c.pool ? c.pool : state.pool_in_use_;
  state.buffers_[c.buffer] = buffer;
  state.give_work(c.stream, {{c.buffer, 0, static_cast<std::int64_t>(c.bytes), true}}, {});
}

bool PoolApplier::capture(const MallocAsync& c) const {
  CaptureState* capture = push_captured_node(state.captures_, c.stream, state.device_of_stream(c.stream));
  if (capture == nullptr) return false;
  NodeState& node = capture->graph.nodes.back();
  node.params = MemoryAllocParams{c.buffer, c.bytes};
  append_ranges(node.params, 1, node.ranges);
  BufferState buffer{c.bytes, c.bytes, MemoryKind::kDevice, 0, true};
  buffer.of_stream = true;
  buffer.capture = capture->serial;
  state.buffers_[c.buffer] = buffer;
  capture->graph.addresses[c.buffer] = 0;
  capture->graph.has_memory = true;
  ++capture->graph.instances;
  return true;
}

bool PoolApplier::capture(const FreeAsync& c) const {
  CaptureState* capture = push_captured_node(state.captures_, c.stream, state.device_of_stream(c.stream));
  if (capture == nullptr) return false;
  NodeState& node = capture->graph.nodes.back();
  node.params = MemoryFreeParams{c.buffer};
  append_ranges(node.params, 1, node.ranges);
  state.buffers_.at(c.buffer).has_free_node = true;
  ++capture->graph.instances;
  return true;
}

void PoolApplier::wait(const WaitEvent& c) const {
  const std::optional<Id> told = state.events_.at(c.event).told_on;
  if (!told || *told == kNullStream || state.device_of_stream(*told) != state.device_of_stream(c.stream)) return;
  for (auto& [id, buffer] : state.buffers_) {
    if (buffer.given_again_on.contains(*told)) buffer.given_again_on.insert(c.stream);
  }
}

void PoolApplier::operator()(const DeclarePool& c) const {
  state.pools_[c.pool] = {true, c.of_device};
}

void PoolApplier::operator()(const UsePool& c) const {
  state.pool_in_use_ = c.pool;
}

// HIP's header, hipMemPoolDestroy: destroying the current pool of a device makes its default pool the current one.
void PoolApplier::operator()(const DestroyPool& c) const {
  state.pools_.at(c.pool).alive = false;
  if (state.pool_in_use_ == c.pool) state.pool_in_use_.reset();
}

}  // namespace verify
