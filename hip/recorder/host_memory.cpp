#include "hip/recorder/host_memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "hip/recorder/log.h"
#include "hip/sync/sync.h"

namespace hip::recorder {

namespace {

constexpr std::size_t kMaxLookedAt = std::size_t{1} << 20;  // bytes of one range; larger ranges are not compared

struct Range {
  std::size_t bytes = 0;
  std::uint64_t hash = 0;
  bool adopted = false;
  bool written = false;  // the device may write to it
};
struct Ranges {
  hip::sync::Mutex mutex;
  std::map<std::uintptr_t, Range> by_address;
};
// Never destroyed: programs call HIP while they end.
Ranges& ranges() {
  static Ranges& instance = *new Ranges();
  return instance;
}

// The bytes of the range. A pageable range is copied, or nothing is returned: the program may have unmapped it by now,
// which must not crash it. Memory that HIP allocated exists until the call that frees it, which waits for the lock.
std::span<const std::byte> contents(std::uintptr_t address, const Range& range) {
  if (!range.adopted) return {reinterpret_cast<const std::byte*>(address), range.bytes};
  static thread_local std::vector<std::byte> copy;
  copy.resize(range.bytes);
  const iovec to{copy.data(), range.bytes};
  const iovec from{reinterpret_cast<void*>(address), range.bytes};
  const bool whole = process_vm_readv(getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(range.bytes);
  return whole ? std::span<const std::byte>(copy) : std::span<const std::byte>();
}

// The range that holds these bytes, or nothing.
Range* held(std::uintptr_t address, std::size_t bytes) {
  auto after = ranges().by_address.upper_bound(address);
  if (after == ranges().by_address.begin()) return nullptr;
  auto& [start, range] = *--after;
  return address + bytes <= start + range.bytes ? &range : nullptr;
}

void write_change(std::uintptr_t at, Range& range) {
  if (range.bytes > kMaxLookedAt) return;
  const std::span<const std::byte> bytes = contents(at, range);
  const std::uint64_t now = hash_of(bytes);
  if (bytes.empty() || now == range.hash) return;
  range.hash = now;
  Line("host").number(at).number(range.bytes).data(bytes.data(), bytes.size());
}

}  // namespace

static void begin_range(const void* address, Range range) {
  const hip::sync::LockGuard lock(ranges().mutex);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  // The inverted hash makes write_changes() log the present bytes before the range is used for the first time.
  if (range.bytes <= kMaxLookedAt) range.hash = ~hash_of(contents(at, range));
  ranges().by_address[at] = range;
  if (range.bytes > kMaxLookedAt) Line("lost").word("contents-of-large-host-memory");
}

void host_range_begins(const void* address, std::size_t bytes) {
  begin_range(address, {bytes});
}

void host_range_ends(const void* address) {
  const hip::sync::LockGuard lock(ranges().mutex);
  ranges().by_address.erase(reinterpret_cast<std::uintptr_t>(address));
}

void adopt(const void* address, std::size_t bytes, std::size_t room) {
  if (bytes == 0) return;
  {
    const hip::sync::LockGuard lock(ranges().mutex);
    if (held(reinterpret_cast<std::uintptr_t>(address), bytes) != nullptr) return;
  }
  Line("adopt").address(address).number(bytes).number(room);
  begin_range(address, {.bytes = bytes, .adopted = true});
}

void write_changes() {
  const hip::sync::LockGuard lock(ranges().mutex);
  for (auto& [at, range] : ranges().by_address) write_change(at, range);
}

void device_may_write(const void* address) {
  const hip::sync::LockGuard lock(ranges().mutex);
  if (Range* const range = held(reinterpret_cast<std::uintptr_t>(address), 1)) range->written = true;
}

void device_waited_for() {
  const hip::sync::LockGuard lock(ranges().mutex);
  for (auto& [at, range] : ranges().by_address) {
    if (!range.written) {
      write_change(at, range);
    } else if (range.bytes <= kMaxLookedAt) {
      range.hash = hash_of(contents(at, range));
    }
  }
}

}  // namespace hip::recorder
