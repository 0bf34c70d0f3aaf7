#include "hip/remapped_buffers.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "hip/beside_captures.h"
#include "hip/device_scope.h"

namespace hip {
namespace {

constexpr unsigned kQuickPolls = 64;  // of a launch, before the thread sleeps between polls
constexpr std::chrono::microseconds kBetweenPolls{50};
constexpr int kTries = 2;  // of the destructor

}  // namespace

RemappedBuffers::RemappedBuffers(const Api& api, std::vector<RemappedBuffer> buffers, RemappedBuffersOptions options)
    : api_(api), buffers_(std::move(buffers)), options_(std::move(options)) {
  const auto add = [&](int device) {
    access_.push_back({memory_of_device(device).location, hipMemAccessFlagsProtReadWrite});
  };
  for (const int device : options_.devices) add(device);
  if (access_.empty()) add(options_.device);
}

// Memory must not be unmapped under a launch, so this waits as long as the launch takes.
RemappedBuffers::~RemappedBuffers() {
  for (Set& set : state_.write().sets) options_.errors(wait_without_limit(set));
  for (int tries = 0; tries < kTries; ++tries) {
    const Status cleared = clear();
    options_.errors(cleared);
    if (cleared) break;
  }
}

// ---- sizes

std::size_t RemappedBuffers::rounded_up(const State& state, std::size_t bytes) const {
  const std::size_t rest = bytes % state.granularity;
  return rest == 0 ? bytes : bytes + (state.granularity - rest);
}

std::size_t RemappedBuffers::room(const State& state, const RemappedBuffer& buffer) const {
  return rounded_up(state, std::max(buffer.bytes, buffer.most_bytes));
}

Status RemappedBuffers::ask_granularity(State& state) const {
  if (state.granularity != 0) return {};
  const char* missing =
      first_missing<&Api::hipMemGetAllocationGranularity, &Api::hipMemAddressReserve, &Api::hipMemAddressFree,
                    &Api::hipMemMap, &Api::hipMemUnmap, &Api::hipMemSetAccess, &Api::hipMemGetAccess>(api_);
  if (missing != nullptr) {
    return Error{hipErrorNotSupported, std::string("remapped buffers need ") + missing +
                                           ", which this runtime lacks; patch the graph or use hip::AddressStabilizer"};
  }
  std::size_t largest = 1;
  for (const hipMemAccessDesc& access : access_) {
    const hipMemAllocationProp prop = memory_of_device(access.location.id);
    std::size_t one = 0;
    Status asked = call<&Api::hipMemGetAllocationGranularity>(api_, &one, &prop, options_.granularity);
    if (!asked) return asked;
    largest = std::max(largest, one);
  }
  for (const RemappedBuffer& buffer : buffers_) {
    if (std::max(buffer.bytes, buffer.most_bytes) > SIZE_MAX - 2 * largest) {
      return Error{hipErrorOutOfMemory, "a remapped buffer of that size cannot be"};
    }
  }
  state.granularity = largest;
  return {};
}

Result<std::size_t> RemappedBuffers::granularity() {
  const sync::LockGuard lock(mutex_);
  State& state = state_.write();
  if (const Status asked = ask_granularity(state); !asked) return asked.error();
  return state.granularity;
}

Status RemappedBuffers::check(const State& state, std::span<const PhysicalMemory> memories) const {
  if (memories.size() != buffers_.size()) {
    return Error{hipErrorInvalidValue, "a step of remapped buffers needs one memory for each buffer, " +
                                           std::to_string(buffers_.size()) + ", and got " +
                                           std::to_string(memories.size())};
  }
  for (std::size_t i = 0; i < memories.size(); ++i) {
    if (buffers_[i].bytes == 0) continue;
    const PhysicalMemory& memory = memories[i];
    const std::size_t least = rounded_up(state, buffers_[i].bytes), most = room(state, buffers_[i]);
    const bool fits = memory.bytes >= least && memory.bytes <= most && memory.bytes % state.granularity == 0;
    if (fits && memory.handle != nullptr && memory.number != 0) continue;
    return Error{hipErrorInvalidValue,
                 "the memory of buffer " + std::to_string(i) + " has " + std::to_string(memory.bytes) +
                     " bytes; give one with a handle and a number, of " + std::to_string(least) + " to " +
                     std::to_string(most) + " bytes, a multiple of " + std::to_string(state.granularity) +
                     " (larger ones: RemappedBuffer::most_bytes)"};
  }
  return {};
}

// ---- waiting

Error RemappedBuffers::still_running(const StillRunning& words) const {
  return {hipErrorNotReady, std::string(words.launch) + " is still running after " +
                                std::to_string(options_.patience.count()) + " ms, and " + words.state +
                                "; give its stream what it waits for, or raise RemappedBuffersOptions::patience, and " +
                                words.remedy};
}

Result<bool> RemappedBuffers::over(const Set& set) const {
  return set.unmarked ? set.stream->idle() : set.done->done();
}

// A launch without an event is waited for by its stream. The handle of the calling thread's own stream may mean another
// stream here than at the launch: only the device can be waited for then, which has no limit.
Status RemappedBuffers::wait(State& state, Set& set, const StillRunning& then) const {
  if (!set.in_flight) return {};
  if (set.unmarked && set.stream->handle() == hipStreamPerThread) return wait_without_limit(set);
  const BesideCaptures beside(api_, options_.errors);
  const auto deadline = std::chrono::steady_clock::now() + options_.patience;
  for (unsigned polls = 0;; ++polls) {
    const Result<bool> answer = over(set);
    if (!answer) return answer.error();
    if (answer.value()) {
      set.in_flight = set.unmarked = false;
      return {};
    }
    if (polls == 0) ++state.counts.waits;
    if (std::chrono::steady_clock::now() >= deadline) return still_running(then);
    if (polls < kQuickPolls) {
      sync::yield();
    } else {
      sync::sleep_for(kBetweenPolls);
    }
  }
}

// If the event cannot be waited for, the device can.
Status RemappedBuffers::wait_without_limit(Set& set) const {
  if (!set.in_flight) return {};
  const BesideCaptures beside(api_, options_.errors);
  Status waited;
  if (!set.unmarked) waited = set.done->synchronize();
  if (set.unmarked || !waited) {
    const Status device = synchronize_device(api_, options_.device, options_.errors);
    if (!device) return both(std::move(waited), device);
    options_.errors(waited);
  }
  set.in_flight = set.unmarked = false;
  return {};
}

// ---- ranges of addresses

// Some releases do not heed the alignment: the range is then made larger, and begins at the first multiple in it.
Status RemappedBuffers::reserve(State& state, Slot& slot, std::size_t bytes) const {
  for (const std::size_t more : {std::size_t{0}, state.granularity}) {
    Slot got;
    got.reserved_bytes = bytes + more;
    const Result<void*> reserved = ranges().reserve(api_, got.reserved_bytes, state.granularity);
    if (!reserved) return reserved.error();
    got.reserved = reserved.value();
    ++state.counts.reserved;
    const std::size_t past = reinterpret_cast<std::uintptr_t>(got.reserved) % state.granularity;
    if (past == 0 || more != 0) {
      got.address = static_cast<std::byte*>(got.reserved) + (past == 0 ? 0 : state.granularity - past);
      slot = got;
      return {};
    }
    Status freed = call<&Api::hipMemAddressFree>(api_, got.reserved, got.reserved_bytes);  // nothing was mapped there
    if (!freed) {
      state.replaced.push_back(got);
      return freed;
    }
  }
  return {};
}

// Gives the set its event, and every buffer a range that can be used. New addresses make recording due. Ranges that are
// replaced stay reserved, so that they are not reserved again: 7.2 confuses them with the earlier ones.
Status RemappedBuffers::prepare(State& state, Set& set) const {
  set.slots.resize(buffers_.size());
  set.addresses.resize(buffers_.size());
  set.before.reserve(buffers_.size());
  if (!set.done) {
    Result<Event> made = Event::create(api_, {.device = options_.device, .errors = options_.errors});
    if (!made) return made.error();
    set.done.emplace(std::move(made).value());
  }
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    Slot& slot = set.slots[i];
    if (slot.broken) {
      state.replaced.push_back(std::exchange(slot, Slot{}));
      ++state.counts.replaced;
    }
    if (buffers_[i].bytes == 0 || slot.reserved != nullptr) continue;
    set.recorded = false;
    if (Status reserved = reserve(state, slot, room(state, buffers_[i])); !reserved) return reserved;
    set.addresses[i] = slot.address;
  }
  return {};
}

// ---- mappings

// All devices at once, and then asked for one by one.
Status RemappedBuffers::give_access(State& state, const Slot& slot) const {
  Status set = call<&Api::hipMemSetAccess>(api_, slot.address, slot.memory.bytes, access_.data(), access_.size());
  if (!set) return set;
  ++state.counts.accesses;
  for (const hipMemAccessDesc& one : access_) {
    unsigned long long flags = 0;
    Status told = call<&Api::hipMemGetAccess>(api_, &flags, &one.location, slot.address);
    if (!told) return told;
    if (flags == hipMemAccessFlagsProtReadWrite) continue;
    return Error{hipErrorInvalidValue, "hipMemMap and hipMemSetAccess answered hipSuccess, and device " +
                                           std::to_string(one.location.id) +
                                           " has no access; name devices that can access the memory's device"};
  }
  return {};
}

bool RemappedBuffers::nothing_is_mapped(const Slot& slot) const {
  unsigned long long flags = 0;
  return api_.hipMemGetAccess(&flags, &access_.front().location, slot.address) == hipErrorInvalidValue;
}

// If it fails, the slot has the memory that could not be unmapped, none, or is broken. After a map that was refused
// with success, 6.4 ends the process when the range is unmapped, and 7.2 gives no access to later mappings there.
Status RemappedBuffers::map(State& state, Slot& slot, const PhysicalMemory& memory) const {
  Status mapped = call<&Api::hipMemMap>(api_, slot.address, memory.bytes, std::size_t{0}, memory.handle, 0ULL);
  if (!mapped) return mapped;
  slot.memory = memory;
  if (Status access = give_access(state, slot); !access) {
    if (nothing_is_mapped(slot)) {
      slot.memory = {};
      slot.broken = true;
      return both(std::move(access), Error{hipErrorInvalidValue,
                                           "hipMemMap answered hipSuccess and mapped nothing; give memory of the size "
                                           "that hipMemCreate was given"});
    }
    return both(std::move(access), unmap(state, slot));
  }
  ++state.counts.maps;
  return {};
}

// If it fails, the memory is mapped as before.
Status RemappedBuffers::unmap(State& state, Slot& slot) const {
  if (slot.memory.bytes == 0) return {};
  Status unmapped = call<&Api::hipMemUnmap>(api_, slot.address, slot.memory.bytes);
  if (!unmapped) return unmapped;
  slot.memory = {};
  slot.refused = false;
  ++state.counts.unmaps;
  return {};
}

Status RemappedBuffers::remap(State& state, Set& set, std::span<const PhysicalMemory> memories) const {
  set.before.clear();
  std::uint64_t kept = 0;
  for (std::size_t i = 0; i < memories.size(); ++i) {
    Slot& slot = set.slots[i];
    set.before.push_back(slot.memory);
    if (buffers_[i].bytes == 0) continue;
    if (slot.memory == memories[i]) {
      ++kept;
      continue;
    }
    Status changed = unmap(state, slot);
    if (changed) changed = map(state, slot, memories[i]);
    if (!changed) return both(std::move(changed), put_back(state, set));
  }
  state.counts.kept += kept;
  return {};
}

// Where the earlier memory cannot be mapped again, the range is replaced by the set's next step.
Status RemappedBuffers::put_back(State& state, Set& set) const {
  Status all;
  bool broken = false;
  for (std::size_t i = set.before.size(); i-- > 0;) {
    Slot& slot = set.slots[i];
    if (!slot.broken && slot.memory != set.before[i]) {
      Status back = unmap(state, slot);
      if (back && set.before[i].bytes != 0) back = map(state, slot, set.before[i]);
      slot.broken = !back;
      all = both(std::move(all), back);
    }
    broken = broken || slot.broken;
  }
  if (!broken) {
    ++state.counts.put_back;
    return all;
  }
  return both(std::move(all), Error{hipErrorUnknown,
                                    "what was mapped before could not be put back, so recording again is due; the "
                                    "next step on these addresses replaces them and records"});
}

// ---- giving back

bool RemappedBuffers::holds(std::uint64_t number) const {
  const sync::LockGuard lock(mutex_);
  const State& state = state_.read();
  const auto is_it = [&](const Slot& slot) { return slot.memory.bytes != 0 && slot.memory.number == number; };
  return std::ranges::any_of(state.replaced, is_it) ||
         std::ranges::any_of(state.sets, [&](const Set& set) { return std::ranges::any_of(set.slots, is_it); });
}

// Addresses stay reserved, also of a range that was or will be replaced: prepare() says why. A replaced range is in no
// recording that may be in flight.
Status RemappedBuffers::withdraw(std::uint64_t number) {
  const auto has_it = [&](const Slot& slot) { return slot.memory.bytes != 0 && slot.memory.number == number; };
  const sync::LockGuard lock(mutex_);
  State& state = state_.write();
  Status all;
  for (Slot& slot : state.replaced) all = both(std::move(all), has_it(slot) ? unmap(state, slot) : Status());
  for (Set& set : state.sets) {
    for (Slot& slot : set.slots) {
      if (!has_it(slot)) continue;
      Status gone =
          wait(state, set, {"a launch on addresses of the memory", "the memory stays mapped there", "withdraw again"});
      if (gone) gone = unmap(state, slot);
      all = both(std::move(all), gone);
    }
  }
  return all;
}

// A range can be freed only when nothing is mapped there: if it can, a failure to unmap does not matter.
Status RemappedBuffers::give_back(State& state, Slot& slot) const {
  if (slot.reserved == nullptr) return {};
  Status unmapped = unmap(state, slot);
  // AMD's 7.2 crashes when addresses are freed under a mapping. After a fault of the device every call fails, also one
  // that unmaps: what was refused twice is freed.
  if (!unmapped && !slot.broken && !std::exchange(slot.refused, true)) return unmapped;
  Status freed = ranges().free(api_, slot.reserved, slot.reserved_bytes, unmapped.ok() && !slot.broken);
  if (!freed) return both(std::move(unmapped), freed);
  slot = {};
  return {};
}

Status RemappedBuffers::give_back_replaced(State& state) const {
  Status all;
  for (Slot& slot : state.replaced) all = both(std::move(all), give_back(state, slot));
  std::erase_if(state.replaced, [](const Slot& slot) { return slot.reserved == nullptr; });
  return all;
}

// After an error of the wait, other than a launch that still runs, the device is waited for; whatever that answers,
// everything is given back. Recording is due in any case: the caller may have destroyed its graphs.
Status RemappedBuffers::give_back(State& state, Set& set) const {
  Status all =
      wait(state, set, {"a launch on these addresses", "they and their memory were not given back", "clear again"});
  if (!all && all.error().code == hipErrorNotReady) return all;
  set.recorded = false;
  if (!all) all = both(std::move(all), wait_without_limit(set));
  for (Slot& slot : set.slots) all = both(std::move(all), give_back(state, slot));
  if (set.done) {
    Status destroyed = set.done->destroy();
    if (destroyed) set.done.reset();
    all = both(std::move(all), destroyed);
  }
  set.in_flight = set.unmarked = false;
  return all;
}

Status RemappedBuffers::clear() {
  const sync::LockGuard lock(mutex_);
  State& state = state_.write();
  Status all;
  for (Set& set : state.sets) all = both(std::move(all), give_back(state, set));
  return both(std::move(all), give_back_replaced(state));
}

RemappedBuffersCounts RemappedBuffers::counts() const {
  const sync::LockGuard lock(mutex_);
  return state_.read().counts;
}

}  // namespace hip
