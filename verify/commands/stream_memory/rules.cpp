// The rules of the commands about memory that the runtime allocates while the program runs; placed_memory.h says which
// commands may name such memory.
#include <fmt/format.h>

#include "verify/commands/captures/answers.h"
#include "verify/commands/define_rules.h"
#include "verify/commands/stream_memory/placed_memory.h"

namespace verify {

namespace {

Reason missing_pool(const State& state, Id id) {
  const auto found = state.pools().find(id);
  if (found == state.pools().end()) return fmt::format("p{} is not declared", id);
  if (!found->second.alive) return fmt::format("p{} was destroyed", id);
  return {};
}

Reason on_other_device(const State& state, Id stream) {
  if (state.device_of_stream(stream) == 0) return {};
  return "what graphs and streams allocate is device 0's";
}

constexpr const char* kNoMemoryInto = "a graph that is captured into gets no memory nodes";

BufferState allocated(std::uint64_t bytes) {
  BufferState buffer{bytes, bytes, MemoryKind::kDevice, 0, true};
  buffer.of_stream = true;
  return buffer;
}

}  // namespace

// ---- MallocAsync

static Reason open_size(const MemoryState& memory) {
  const auto [surely, maybe] = memory.surely_and_maybe();
  return fmt::format(
      "whether the device has so much memory is open: at most {} bytes are certain to fit, more than {} certain not to",
      surely, maybe);
}

template <>
constexpr Traits kTraits<MallocAsync>{kLegalInCapture, kAnswers, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
CaptureAnswer answer(const State& state, const MallocAsync& c) {
  CaptureAnswer answer = answer_to_work(state, c.stream);
  const bool allocates = answer.status == kAnswerSuccess && state.capture_of(c.stream) == nullptr;
  if (allocates && state.parts().memory.room_for(c.bytes) == Room::kNone) answer.status = kAnswerOutOfMemory;
  return answer;
}

template <>
Reason check(const State& state, const MallocAsync& c) {
  if (Reason reason = state.flaw_of_buffer(c.buffer, c.bytes)) return reason;
  if (Reason reason = state.missing_stream(c.stream)) return reason;
  if (c.pool) {
    if (Reason reason = missing_pool(state, *c.pool)) return reason;
  }
  if (c.by_hand) {
    if (c.pool) return "which pool a node allocates from is not documented";
    if (Reason reason = no_capture_by_hand(state, c.stream)) return reason;
  }
  const CaptureState* capture = state.capture_of(c.stream);
  if (capture == nullptr) {
    if (state.parts().memory.room_for(c.bytes) == Room::kOpen) return open_size(state.parts().memory);
    return on_other_device(state, c.stream);
  }
  if (state.parts().memory.left_free) return kNoMemoryOfItsOwn;
  if (capture->into) return kNoMemoryInto;
  if (capture->graph.instances >= kMaxInstances) return "a graph of so many nodes is too large";
  return on_other_device(state, c.stream);
}

template <>
void apply(State& state, const MallocAsync& c) {
  StateParts& parts = state.change();
  parts.memory.runtime_allocates = true;
  BufferState& buffer = parts.memory.buffers[c.buffer] = allocated(c.bytes);
  const ByteRange range{c.buffer, 0, static_cast<std::int64_t>(c.bytes), true};
  if (CaptureState* capture = parts.captures.push_node(c.stream, state.device_of_stream(c.stream))) {
    NodeState& node = capture->graph.nodes.back();
    node.captured = !c.by_hand;
    node.params = MemoryAllocParams{c.buffer, c.bytes};
    node.ranges = {range};
    buffer.capture = capture->serial;
    capture->graph.addresses[c.buffer] = 0;
    capture->graph.has_memory = true;
    ++capture->graph.instances;
    return;
  }
  buffer.allocated_on = c.stream;
  buffer.pool = c.pool ? c.pool : parts.memory.pool_in_use;
  parts.streams.give_work(c.stream, {range}, {});
}

// ---- Malloc

template <>
constexpr Traits kTraits<Malloc>{kMemoryCall, kAnswers, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
CaptureAnswer answer(const State& state, const Malloc& c) {
  const bool refused = state.parts().memory.room_for(c.bytes) == Room::kNone;
  return refuse(refused ? kAnswerOutOfMemory : kAnswerSuccess);
}

template <>
Reason check(const State& state, const Malloc& c) {
  if (Reason reason = state.flaw_of_buffer(c.buffer, c.bytes)) return reason;
  const MemoryState& memory = state.parts().memory;
  return memory.room_for(c.bytes) == Room::kOpen ? open_size(memory) : Reason();
}

template <>
void apply(State& state, const Malloc& c) {
  MemoryState& memory = state.change().memory;
  memory.runtime_allocates = true;
  memory.buffers[c.buffer] = allocated(c.bytes);
  memory.buffers[c.buffer].plain = true;
}

// ---- FreeAsync

template <>
constexpr Traits kTraits<FreeAsync>{kLegalInCapture, kAnswers, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
CaptureAnswer answer(const State& state, const FreeAsync& c) {
  return answer_to_work(state, c.stream);
}

// HIP's header, hipFreeAsync: in a capture it has to be passed the address of a graph allocation, of this capture or of
// a graph that was launched.
static Reason check_captured_free(const CaptureState& capture, const State& state, const FreeAsync& c) {
  const BufferState& buffer = *state.buffer(c.buffer);
  if (!buffer.graph && buffer.capture != capture.serial) return kMemoryInCapture;
  if (state.has_free_node(c.buffer)) return fmt::format("a node frees b{} already", c.buffer);
  if (buffer.graph) return capture.into ? Reason(kNoMemoryInto) : not_there(state, c.buffer);
  return freed_early(capture.graph, capture.behind.at(c.stream), c.buffer);
}

// CUDA's programming guide, "Stream-Ordered Memory Allocator": cudaFreeAsync may free memory of cudaMalloc as well, if
// the accesses are complete before the free begins.
template <>
Reason check(const State& state, const FreeAsync& c) {
  if (Reason reason = state.missing_buffer(c.buffer)) return reason;
  if (Reason reason = state.missing_stream(c.stream)) return reason;
  if (!state.buffer(c.buffer)->runtime_places() || state.buffer(c.buffer)->view)
    return fmt::format("no graph, no stream and no malloc allocates b{}", c.buffer);
  if (c.by_hand) {
    if (Reason reason = no_capture_by_hand(state, c.stream)) return reason;
  }
  const CaptureState* capture = state.capture_of(c.stream);
  if (capture == nullptr && state.buffer(c.buffer)->capture) return kMemoryInCapture;
  if (capture == nullptr && state.buffer(c.buffer)->plain && !state.captures().empty())
    return "whether a capture elsewhere forbids to free memory of malloc is not documented";
  if (Reason reason = capture == nullptr ? not_there(state, c.buffer) : check_captured_free(*capture, state, c))
    return reason;
  return on_other_device(state, c.stream);
}

template <>
void apply(State& state, const FreeAsync& c) {
  StateParts& parts = state.change();
  BufferState& buffer = parts.memory.buffers.at(c.buffer);
  const ByteRange range{c.buffer, 0, kToTheEnd, true};
  if (CaptureState* capture = parts.captures.push_node(c.stream, state.device_of_stream(c.stream))) {
    NodeState& node = capture->graph.nodes.back();
    node.captured = !c.by_hand;
    node.params = MemoryFreeParams{c.buffer};
    node.ranges = {range};
    capture->graph.addresses[c.buffer] = 0;
    capture->graph.has_memory = true;
    ++capture->graph.instances;
    return;
  }
  parts.streams.give_work(c.stream, {range}, {});
  buffer.unfreed = false;
  buffer.freed_by_program = true;
  buffer.freed_on = c.stream;
  if (buffer.of_stream && !buffer.plain) buffer.given_again_on = {buffer.allocated_on, c.stream};
  if (!buffer.graph) buffer.alive = false;
}

// ---- DeclarePool

template <>
constexpr Traits kTraits<DeclarePool>{kMemoryCall, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
Reason check(const State& state, const DeclarePool& c) {
  if (state.parts().memory.left_free) return kNoMemoryOfItsOwn;
  if (state.pools().contains(c.pool)) return fmt::format("p{} is declared already", c.pool);
  if (!c.of_device) return {};
  for (const auto& [id, pool] : state.pools()) {
    if (pool.of_device) return fmt::format("p{} is the device's default pool already", id);
  }
  return {};
}

template <>
void apply(State& state, const DeclarePool& c) {
  state.change().memory.pools[c.pool] = {true, c.of_device};
}

// ---- AskPool

template <>
constexpr Traits kTraits<AskPool>{kMemoryCall, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

// HIP's header: high watermarks can only be reset to zero, and counts are not set at all.
template <>
Reason check(const State& state, const AskPool& c) {
  if (Reason reason = missing_pool(state, c.pool)) return reason;
  if (!c.value || c.attribute == PoolAttribute::kThreshold) return {};
  if (is_kept(c.attribute)) return *c.value <= 1 ? Reason() : Reason("a flag is 0 or 1");
  const bool mark = c.attribute == PoolAttribute::kReservedHigh || c.attribute == PoolAttribute::kUsedHigh;
  if (!mark) return "HIP only tells this";
  return *c.value == 0 ? Reason() : Reason("a high watermark is only reset to 0");
}

template <>
void apply(State&, const AskPool&) {}

// ---- TrimPool

template <>
constexpr Traits kTraits<TrimPool>{kMemoryCall, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
Reason check(const State& state, const TrimPool& c) {
  return missing_pool(state, c.pool);
}

template <>
void apply(State&, const TrimPool&) {}

// ---- AccessPool

template <>
constexpr Traits kTraits<AccessPool>{kMemoryCall, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
Reason check(const State& state, const AccessPool& c) {
  return missing_pool(state, c.pool);
}

template <>
void apply(State&, const AccessPool&) {}

// ---- UsePool

template <>
constexpr Traits kTraits<UsePool>{kMemoryCall, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
Reason check(const State& state, const UsePool& c) {
  return c.pool ? missing_pool(state, *c.pool) : Reason();
}

template <>
void apply(State& state, const UsePool& c) {
  state.change().memory.pool_in_use = c.pool;
}

// ---- DestroyPool

template <>
constexpr Traits kTraits<DestroyPool>{kMemoryCall, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
Reason check(const State& state, const DestroyPool& c) {
  if (Reason reason = missing_pool(state, c.pool)) return reason;
  if (state.pools().at(c.pool).of_device) return "a device's default pool cannot be destroyed";
  return {};
}

// HIP's header, hipMemPoolDestroy: destroying the current pool of a device makes its default pool the current one.
template <>
void apply(State& state, const DestroyPool& c) {
  MemoryState& memory = state.change().memory;
  memory.pools.at(c.pool).alive = false;
  if (memory.pool_in_use == c.pool) memory.pool_in_use.reset();
}

// ---- ManageGraphMemory

template <>
constexpr Traits kTraits<ManageGraphMemory>{kMemoryCall, kSucceeds, kNeverRefused, kNothingSeen,
                                            kNoDevice,   kTwice,    kAgain};

template <>
Reason check(const State&, const ManageGraphMemory& c) {
  const bool mark = c.call == GraphMemoryCall::kUsedHigh || c.call == GraphMemoryCall::kReservedHigh;
  return c.reset && !mark ? Reason("only a high mark is reset") : Reason();
}

template <>
void apply(State& state, const ManageGraphMemory&) {
  state.change().finish_all();
}

template struct Rules<MallocAsync>;
template struct Rules<Malloc>;
template struct Rules<FreeAsync>;
template struct Rules<DeclarePool>;
template struct Rules<AskPool>;
template struct Rules<TrimPool>;
template struct Rules<AccessPool>;
template struct Rules<UsePool>;
template struct Rules<DestroyPool>;
template struct Rules<ManageGraphMemory>;

}  // namespace verify
