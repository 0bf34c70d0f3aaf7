#include "hip/address_stabilizer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "hip/beside_captures.h"
#include "hip/device_scope.h"
#include "hip/pieces.h"

namespace hip {
namespace {

std::uintptr_t number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}
void* pointer(std::uintptr_t number) {
  return reinterpret_cast<void*>(number);  // NOLINT(performance-no-int-to-ptr): distances between the caller's buffers
}
bool reads(BufferUse use) {
  return use != BufferUse::kOut;
}
bool writes(BufferUse use) {
  return use == BufferUse::kOut || use == BufferUse::kInOut;
}

}  // namespace

AddressStabilizer::AddressStabilizer(const Api& api, const AddressStabilizerOptions& options)
    : api_(api), options_(options) {}

CachedAllocator& AddressStabilizer::memory_of(int device) {
  return memory_.try_emplace(device, api_, CachedAllocatorOptions{.device = device, .errors = options_.errors})
      .first->second;
}

// The destructors of the events and of the allocator try again to free the events and buffers that clear() could not.
AddressStabilizer::~AddressStabilizer() {
  options_.errors(clear());
}

Status AddressStabilizer::check(std::span<const StepBuffer> buffers) const {
  for (const StepBuffer& buffer : buffers) {
    if (buffer.bytes == 0) continue;
    if (buffer.address == nullptr || buffer.bytes > UINTPTR_MAX - number(buffer.address)) {
      return Error{hipErrorInvalidValue, "a buffer of a step has no address; give one of 0 bytes if it is not there"};
    }
    const auto holds = [&](const auto& memory) { return memory.second.holds(buffer.address, buffer.bytes); };
    if (std::ranges::any_of(memory_, holds)) {
      return Error{hipErrorInvalidValue,
                   "a buffer of a step lies in memory of the stabiliser's own; give one of the caller's"};
    }
  }
  return {};
}

// Groups overlapping buffers: by address, each buffer belongs to the region before it, or begins a new one.
void AddressStabilizer::lay_out(Entry& entry, std::span<const StepBuffer> buffers) {
  entry.order.clear();
  entry.regions.clear();
  entry.region.assign(buffers.size(), 0);
  for (std::uint32_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].bytes != 0) entry.order.push_back(i);
  }
  std::ranges::sort(entry.order, [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(number(buffers[a].address), a) < std::pair(number(buffers[b].address), b);
  });
  for (const std::uint32_t i : entry.order) {
    const std::uintptr_t begin = number(buffers[i].address), end = begin + buffers[i].bytes;
    if (entry.regions.empty() || begin >= entry.regions.back().end) {
      entry.regions.push_back({begin, end, i, buffers[i].device});
    } else {
      Region& region = entry.regions.back();
      region.end = std::max(region.end, end);
      region.first = std::min(region.first, i);
      region.slices = region.slices || begin != region.begin;
    }
    entry.region[i] = entry.regions.size() - 1;
  }
}

// Gives each region a persistent buffer and each buffer of the step an address. If a persistent buffer moved, the
// recording is dropped even if this step fails later: a later step may get the address of the recording again.
Status AddressStabilizer::place(Command command, Entry& entry, std::span<const StepBuffer> buffers) {
  for (Region& region : entry.regions) {
    const std::uintptr_t before = region.slices ? region.begin % kPieceAlignment : 0;
    const std::size_t bytes = region.end - region.begin;
    if (bytes > SIZE_MAX - before) return Error{hipErrorOutOfMemory, "a persistent buffer of that size cannot be"};
    entry.names = std::max(entry.names, region.first + 1);
    CachedAllocator& memory = memory_of(region.device);
    const CachedAllocator::Name named = name(command, region.first);
    if (region.device != options_.device && memory.replaces(named, before + bytes)) {
      if (Status waited = synchronize_device(api_, options_.device, options_.errors); !waited) return waited;
    }
    const Result<CachedAllocator::Buffer> own = memory.get(named, before + bytes);
    if (!own) return own.error();
    if (own.value().moved) entry.recorded = false;
    region.stable = number(own.value().address) + before;
  }
  entry.addresses.assign(buffers.size(), nullptr);
  for (const std::uint32_t i : entry.order) {
    const Region& region = entry.regions[entry.region[i]];
    entry.addresses[i] = pointer(region.stable + (number(buffers[i].address) - region.begin));
  }
  return {};
}

// Puts the step behind the earlier one: both use the same persistent buffers, and their streams may be different.
Status AddressStabilizer::order_behind(Entry& entry, const StreamRef& stream) const {
  if (!entry.done) {
    Result<Event> made = Event::create(api_, {.device = options_.device, .errors = options_.errors});
    if (!made) return made.error();
    entry.done.emplace(std::move(made).value());
  }
  const bool same = entry.last == stream && stream.handle() != hipStreamPerThread;  // each thread has another one
  if (entry.unmarked) {
    Status waited = synchronize_device(api_, options_.device, options_.errors);
    if (waited) entry.unmarked = false;
    return waited;
  }
  if (same) return {};
  Status behind = stream.wait(*entry.done);
  if (options_.follow_capturing == nullptr || !refused_for_a_later_capture(behind, stream)) return behind;
  const BesideCaptures beside(api_, options_.errors);
  return entry.done->synchronize();
}

// Copies in the buffers that the step reads, or copies back those that it writes. Overlapping buffers are copied as one
// region, so that no byte is copied twice.
Result<std::uint64_t> AddressStabilizer::copy(const Entry& entry, std::span<const StepBuffer> buffers, Way way,
                                              const StreamRef& stream) const {
  std::uint64_t bytes = 0;
  for (std::size_t at = 0; at < entry.order.size();) {
    const StepBuffer& first = buffers[entry.order[at]];
    const std::size_t of = entry.region[entry.order[at++]];
    const auto wanted = way == Way::kIn ? reads : writes;
    if (!wanted(first.use)) continue;
    const std::uintptr_t begin = number(first.address);
    std::uintptr_t end = begin + first.bytes;
    for (; at < entry.order.size() && entry.region[entry.order[at]] == of; ++at) {
      const StepBuffer& next = buffers[entry.order[at]];
      if (!wanted(next.use)) continue;
      if (number(next.address) > end) break;
      end = std::max(end, number(next.address) + next.bytes);
    }
    const Region& region = entry.regions[of];
    void* const own = pointer(region.stable + (begin - region.begin));
    void* const to = way == Way::kIn ? own : pointer(begin);
    const void* const from = way == Way::kIn ? pointer(begin) : own;
    const Status status =
        call<&Api::hipMemcpyAsync>(api_, to, from, end - begin, hipMemcpyDeviceToDevice, stream.handle());
    if (!status) return status.error();
    bytes += end - begin;
  }
  return bytes;
}

// Records the event behind the step's work. If that fails, waits for the work.
Status AddressStabilizer::mark(Entry& entry, const StreamRef& stream) const {
  Status marked = entry.done->record(stream);
  if (marked) return marked;
  const BesideCaptures beside(api_, options_.errors);
  const Status waited = stream.synchronize();
  if (!waited) {
    entry.unmarked = true;
    return both(std::move(marked), waited);
  }
  options_.errors(marked);
  return {};
}

// The event is recorded behind all work that was given to the stream, also after a failure.
Status AddressStabilizer::enqueue(Entry& entry, std::span<const StepBuffer> buffers, const StreamRef& stream,
                                  StableWork& work, AddressStabilizerCounts& counts) const {
  if (const Status status = order_behind(entry, stream); !status) return status.error();
  entry.last = stream;
  Status done;
  const Result<std::uint64_t> in = copy(entry, buffers, Way::kIn, stream);
  if (in) {
    counts.bytes_in += in.value();
    try {
      done = work.launch(stream);
    } catch (...) {
      options_.errors(mark(entry, stream));
      throw;
    }
  } else {
    done = in.error();
  }
  if (done) {
    const Result<std::uint64_t> back = copy(entry, buffers, Way::kBack, stream);
    if (back)
      counts.bytes_back += back.value();
    else
      done = back.error();
  }
  return both(std::move(done), mark(entry, stream));
}

Result<StableStep> AddressStabilizer::step(Command command, std::span<const StepBuffer> buffers,
                                           const StreamRef& stream, StableWork& work) {
  assert(stream.device() == options_.device && &stream.api() == &api_ && buffers.size() < UINT32_MAX);
  const sync::LockGuard lock(mutex_);
  if (const Status status = check(buffers); !status) return status.error();
  const Result<DeviceScope> scope = DeviceScope::enter(api_, options_.device, options_.errors);
  if (!scope) return scope.error();
  State& state = state_.write();
  Entry& entry = state.commands[command];
  lay_out(entry, buffers);
  if (const Status status = place(command, entry, buffers); !status) return status.error();
  StableStep outcome;
  if (!entry.recorded || entry.addresses != entry.recorded_for) {
    entry.recorded = false;
    if (const Status status = work.record(entry.addresses); !status) return status.error();
    entry.recorded_for = entry.addresses;
    entry.recorded = outcome.recorded = true;
    ++state.counts.recorded;
  }
  if (const Status status = enqueue(entry, buffers, stream, work, state.counts); !status) return status.error();
  ++state.counts.steps;
  return outcome;
}

// The allocator keeps the buffers that it could not free. The destructor of the event tries again to destroy it.
Status AddressStabilizer::give_back(Command command, Entry& entry) {
  // Waits for the work first: a hipFree that fails does not wait, and then the command's next step would not be ordered
  // behind this work.
  const BesideCaptures beside(api_, options_.errors);
  Status all;
  if (entry.done && !entry.unmarked) all = entry.done->synchronize();
  if (entry.unmarked || !all) all = both(std::move(all), synchronize_device(api_, options_.device, options_.errors));
  for (auto& [device, memory] : memory_) {
    for (std::uint32_t i = 0; i < entry.names; ++i) all = both(std::move(all), memory.release(name(command, i)));
  }
  if (entry.done) all = both(std::move(all), entry.done->destroy());
  return all;
}

Status AddressStabilizer::release(Command command) {
  const sync::LockGuard lock(mutex_);
  std::map<Command, Entry>& commands = state_.write().commands;
  const auto found = commands.find(command);
  if (found == commands.end()) return {};
  Status all = give_back(command, found->second);
  commands.erase(found);
  return all;
}

Status AddressStabilizer::clear() {
  const sync::LockGuard lock(mutex_);
  std::map<Command, Entry>& commands = state_.write().commands;
  Status all;
  for (auto& [command, entry] : commands) all = both(std::move(all), give_back(command, entry));
  commands.clear();
  for (auto& [device, memory] : memory_) all = both(std::move(all), memory.clear());
  return all;
}

AddressStabilizerCounts AddressStabilizer::counts() const {
  const sync::LockGuard lock(mutex_);
  return state_.read().counts;
}

}  // namespace hip
