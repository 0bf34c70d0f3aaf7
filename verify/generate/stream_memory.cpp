#include "verify/generate/stream_memory.h"

#include <algorithm>
#include <array>

namespace verify {

namespace {

constexpr std::size_t kMaxThere = 4;

}  // namespace

std::vector<Id> StreamMemoryDraft::there() const {
  std::vector<Id> ids;
  for (const auto& [id, buffer] : state_.buffers()) {
    if (buffer.alive && buffer.of_stream && !buffer.capture) ids.push_back(id);
  }
  return ids;
}

std::vector<Id> StreamMemoryDraft::own_pools() const {
  std::vector<Id> ids;
  for (const auto& [id, pool] : state_.pools()) {
    if (pool.alive && !pool.of_device) ids.push_back(id);
  }
  return ids;
}

std::uint64_t StreamMemoryDraft::size() {
  static constexpr std::array<std::uint64_t, 5> kSizes = {64, 256, 512, 1000, 4096};
  return kSizes[choices_.below(kSizes.size())];
}

// Gives the stream work that races with nothing, after waiting for the device where needed; a capture cannot wait.
bool StreamMemoryDraft::give(Id stream, NodeParams params) {
  const Enqueue command{stream, std::move(params), 0};
  if (state_.check(command)) return false;
  const std::vector<ByteRange> ranges = state_.ranges_of(command.params, 1);
  if (const CaptureState* capture = state_.capture_of(stream)) {
    return !state_.node_races(capture->graph, ranges, capture->behind.at(stream)) && take(command);
  }
  if (state_.captures().empty() && state_.work_races(ranges, stream)) take(Synchronize{Target::kDevice, 0});
  return !state_.work_races(ranges, stream) && take(command);
}

bool StreamMemoryDraft::by_hand(Id stream) {
  const CaptureState* capture = state_.capture_of(stream);
  return capture != nullptr && capture->valid && choices_.percent(50);
}

bool StreamMemoryDraft::request(Id stream, std::uint64_t bytes, unsigned plain_percent) {
  if (state_.captures().empty() && choices_.percent(plain_percent)) return take(Malloc{next_.buffer, bytes});
  MallocAsync command{next_.buffer, bytes, stream, {}};
  const std::vector<Id> pools = own_pools();
  if (!pools.empty() && choices_.percent(40)) command.pool = pick(pools);
  if (!command.pool && by_hand(stream)) command.by_hand = true;
  return take(command);
}

bool StreamMemoryDraft::allocate(Id stream, std::uint64_t bytes, Id* buffer) {
  if (!request(stream, bytes, 20) || state_.buffer(next_.buffer) == nullptr) return false;
  *buffer = next_.buffer++;
  MemsetParams fill;
  fill.dst = {*buffer, 0};
  fill.value = static_cast<std::uint32_t>(choices_.below(1 << 16));
  fill.element = choices_.percent(50) ? 1 : choices_.percent(50) ? 2 : 4;
  fill.width = bytes / fill.element;
  return give(stream, fill);
}

void StreamMemoryDraft::carry_out(Id stream, Id buffer) {
  std::vector<Id> targets;
  for (const auto& [id, other] : state_.buffers()) {
    if (other.alive && !other.runtime_places() && other.memory == MemoryKind::kDevice) targets.push_back(id);
  }
  if (targets.empty()) return;
  CopyParams copy;
  copy.dst.ref = {pick(targets), 0};
  copy.src.ref = {buffer, 0};
  copy.width = std::min(state_.buffer(buffer)->bytes, state_.buffer(copy.dst.ref.buffer)->bytes);
  copy.kind = choices_.percent(70) ? CopyKind::kDeviceToDevice : CopyKind::kDefault;
  give(stream, copy);
}

void StreamMemoryDraft::order_streams(Id before, Id behind) {
  std::vector<Id> events = state_.live_events();
  if (events.empty()) {
    if (!take(DeclareEvent{next_.event})) return;
    events.push_back(next_.event++);
  }
  const Id event = pick(events);
  if (take(RecordEvent{event, before})) take(WaitEvent{behind, event});
}

// Orders the free behind all work that uses the memory.
void StreamMemoryDraft::free(Id buffer, Id stream) {
  if (state_.work_races({{buffer, 0, kToTheEnd, true}}, stream)) take(Synchronize{Target::kDevice, 0});
  take(FreeAsync{buffer, stream});
}

void StreamMemoryDraft::free_somehow(Id buffer) {
  if (choices_.percent(20)) {
    take(Free{buffer});
  } else {
    free(buffer, pick(state_.live_streams()));
  }
}

void StreamMemoryDraft::reuse() {
  while (state_.live_streams().size() < 3) {
    const std::size_t streams = state_.live_streams().size();
    declare_stream();
    if (state_.live_streams().size() == streams) break;
  }
  const std::vector<Id> streams = state_.live_streams();
  const Id first = pick(streams), second = choices_.percent(25) ? first : pick(streams);
  const std::uint64_t bytes = size();
  Id old = 0, fresh = 0;
  if (!allocate(first, bytes, &old)) return;
  for (std::uint64_t i = choices_.below(3); i > 0; --i) work(first);
  carry_out(first, old);
  // If the memory is handed over, the other stream uses and frees it, and the stream that allocated it goes on with an
  // allocation.
  const bool hands_over = first != second && choices_.percent(35);
  const Id last = hands_over ? second : first, next = hands_over ? first : second;
  if (hands_over) {
    order_streams(first, second);
    for (std::uint64_t i = choices_.below(3); i > 0; --i) work(last);
    carry_out(last, old);
  }
  // Frees the memory only where stream order suffices, because here nothing is waited for.
  if (!state_.work_races({{old, 0, kToTheEnd, true}}, last)) take(FreeAsync{old, last});
  if (last != next && choices_.percent(35)) order_streams(last, next);
  if (!allocate(next, bytes, &fresh)) return;
  carry_out(next, fresh);
  if (choices_.percent(40)) take(Synchronize{Target::kStream, next});
  if (choices_.percent(60)) free(fresh, next);
}

// Takes most of the free memory, so that the request behind it is refused.
void StreamMemoryDraft::run_short() {
  constexpr std::uint64_t kMiB = 1 << 20;
  const DeviceMemory device{DeviceMemory::kLeast + choices_.below(16) * kMiB};
  const std::uint64_t left = MemoryState::kRuntimeBytes + 8 * kMiB;
  const Id stream = pick(state_.live_streams()), held = next_.buffer;
  if (!take(device) || !request(stream, device.bytes - left, 50)) return;
  ++next_.buffer;
  const std::uint64_t too_much = left + MemoryState::kMaxBesides + choices_.between(1, kMiB);
  request(pick(state_.live_streams()), too_much, 50);
  if (choices_.percent(40)) free(held, stream);
}

void StreamMemoryDraft::stream_memory() {
  if (!state_.parts().memory.runtime_allocates && choices_.percent(4)) run_short();
  if (choices_.percent(70)) by_fields(Topic::kPools);
  const std::vector<Id> buffers = there();
  if (buffers.size() < kMaxThere && choices_.percent(60)) return reuse();
  if (buffers.size() < kMaxThere && (buffers.empty() || choices_.percent(30))) {
    const Id stream = pick(state_.live_streams());
    Id buffer = 0;
    if (allocate(stream, size(), &buffer) && choices_.percent(70)) carry_out(stream, buffer);
    return;
  }
  const Id buffer = pick(buffers);
  const std::uint64_t draw = choices_.below(100);
  if (draw < 25) {
    take(Read{buffer});
  } else if (draw < 35) {
    take(Write{buffer, choices_.below(1000)});
  } else if (draw < 55) {
    if (state_.buffer(buffer)->filled) carry_out(pick(state_.live_streams()), buffer);
  } else {
    free_somehow(buffer);
  }
}

// On a stream that takes no part in a capture.
void StreamMemoryDraft::beside_capture() {
  std::vector<Id> streams = state_.live_streams();
  std::erase_if(streams, [&](Id stream) {
    return state_.capture_of(stream) != nullptr || state_.answer(MallocAsync{next_.buffer, 64, stream, {}}).status != 0;
  });
  if (streams.empty()) return;
  const Id stream = pick(streams);
  const std::vector<Id> buffers = there();
  if (!buffers.empty() && choices_.percent(40)) {
    const Id buffer = pick(buffers);
    if (!state_.work_races({{buffer, 0, kToTheEnd, true}}, stream)) take(FreeAsync{buffer, stream});
    return;
  }
  Id buffer = 0;
  if (allocate(stream, size(), &buffer) && choices_.percent(50)) carry_out(stream, buffer);
}

void StreamMemoryDraft::in_capture(Id stream) {
  if (choices_.percent(15)) return beside_capture();
  const CaptureState* capture = state_.capture_of(stream);
  const unsigned likely = capture == nullptr || capture->valid ? 35 : 95;  // an invalid capture with memory is rare
  for (const auto& [id, captured] : state_.buffers()) {
    if (!captured.alive || (!captured.capture && !captured.unfreed) || state_.has_free_node(id)) continue;
    if (choices_.percent(captured.capture ? likely : 15) && take(FreeAsync{id, stream, by_hand(stream)})) return;
  }
  Id buffer = 0;
  if (!allocate(stream, size(), &buffer)) return;
  if (choices_.percent(80)) carry_out(stream, buffer);
  if (choices_.percent(60)) take(FreeAsync{buffer, stream, by_hand(stream)});
}

}  // namespace verify
