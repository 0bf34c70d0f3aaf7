#include "hip/recorder/host_memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <utility>
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
  bool written = false;     // the device may write to it at any time
  std::size_t writing = 0;  // calls that write to it now
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
std::pair<const std::uintptr_t, Range>* held(std::uintptr_t address, std::size_t bytes) {
  const auto after = ranges().by_address.upper_bound(address);
  if (after == ranges().by_address.begin()) return nullptr;
  auto& entry = *std::prev(after);
  return address + bytes <= entry.first + entry.second.bytes ? &entry : nullptr;
}

// The present bytes do not count as a change of the host.
void look_again(std::uintptr_t at, Range& range) {
  if (range.bytes <= kMaxLookedAt) range.hash = hash_of(contents(at, range));
}

void write_change(std::uintptr_t at, Range& range) {
  if (range.bytes > kMaxLookedAt || range.writing != 0) return;
  const std::span<const std::byte> bytes = contents(at, range);
  const std::uint64_t now = hash_of(bytes);
  if (bytes.empty() || now == range.hash) return;
  range.hash = now;
  Line("host").number(at).number(range.bytes).data(bytes.data(), bytes.size());
}

// The range that this thread ended last, and where it was.
thread_local std::pair<const void*, Range> last_ended;

}  // namespace

void hold_host_memory() {
  ranges().mutex.lock();
}
void let_go_of_host_memory(bool in_child) {
  if (in_child) ranges().by_address.clear();
  ranges().mutex.unlock();
}

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
  const auto found = ranges().by_address.find(reinterpret_cast<std::uintptr_t>(address));
  last_ended = {};
  if (found == ranges().by_address.end()) return;
  last_ended = {address, found->second};
  ranges().by_address.erase(found);
}

void host_range_kept(const void* address) {
  if (address == nullptr || last_ended.first != address) return;
  const hip::sync::LockGuard lock(ranges().mutex);
  ranges().by_address.try_emplace(reinterpret_cast<std::uintptr_t>(address), last_ended.second);
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
  if (auto* const entry = held(reinterpret_cast<std::uintptr_t>(address), 1)) entry->second.written = true;
}

void device_may_write_anywhere() {
  const hip::sync::LockGuard lock(ranges().mutex);
  for (auto& [at, range] : ranges().by_address) range.written = true;
}

void device_begins_to_write(const void* address) {
  const hip::sync::LockGuard lock(ranges().mutex);
  if (auto* const entry = held(reinterpret_cast<std::uintptr_t>(address), 1)) ++entry->second.writing;
}

void device_wrote(const void* address) {
  const hip::sync::LockGuard lock(ranges().mutex);
  auto* const entry = held(reinterpret_cast<std::uintptr_t>(address), 1);
  if (entry == nullptr) return;
  look_again(entry->first, entry->second);
  if (entry->second.writing != 0) --entry->second.writing;  // 0: the range began during the call
}

void device_waited_for() {
  const hip::sync::LockGuard lock(ranges().mutex);
  for (auto& [at, range] : ranges().by_address) {
    if (range.written) {
      look_again(at, range);
    } else {
      write_change(at, range);
    }
  }
}

}  // namespace hip::recorder
