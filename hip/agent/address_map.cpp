// The interval maps behind every access check; the contract is in the header.
#include "hip/agent/address_map.h"

#include <cassert>
#include <chrono>
#include <cstdio>

namespace agent {
namespace {

constexpr std::chrono::milliseconds kQuiesceLimit{20};
constexpr int kStillAttempts = 100;

std::string hexadecimal(u64 value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string describe(const Range& r) {
  return "allocation #" + std::to_string(r.serial) + " (" + std::to_string(r.size) + " bytes of " + kind_name(r.kind) +
         " at " + hexadecimal(r.base) + ")";
}

// Mappings of one reservation without a gap between them are one piece of memory to a device.
bool joins(const Range& first, const Range& second) {
  const bool both_mapped = first.kind == Kind::kMapped && second.kind == Kind::kMapped;
  return both_mapped && first.reservation == second.reservation && first.end() == second.base;
}

}  // namespace

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::kDevice:
      return "device memory";
    case Kind::kFineHost:
      return "fine-grained host memory";
    case Kind::kCoarseHost:
      return "coarse-grained host memory";
    case Kind::kLocked:
      return "registered host memory";
    case Kind::kMapped:
      return "mapped virtual memory";
    case Kind::kAttached:
      return "memory shared by a process";
    case Kind::kCode:
      return "a code object";
    case Kind::kQueue:
      return "a queue";
    case Kind::kSignals:
      return "signals";
  }
  return "memory";
}

void AddressMap::insert(Range range) {
  const hip::sync::ExclusiveLock lock(mutex_);
  range.serial = next_serial_++;
  if (range.kind == Kind::kLocked) {
    locked_.emplace(range.base, range);
    return;
  }
  const bool fresh = live_.emplace(range.base, range).second;
  assert(fresh && "two live ranges at one address");
  static_cast<void>(fresh);
}

bool AddressMap::erase(u64 base, Kind kind, Range* erased) {
  const hip::sync::ExclusiveLock lock(mutex_);
  if (kind == Kind::kLocked) {
    const auto [first, last] = locked_.equal_range(base);
    if (first == last) return false;
    const auto it = std::prev(last);
    if (erased != nullptr) *erased = it->second;
    died(it->second);
    locked_.erase(it);
    return true;
  }
  const auto it = live_.find(base);
  if (it == live_.end() || it->second.kind != kind) return false;
  if (erased != nullptr) *erased = it->second;
  died(it->second);
  live_.erase(it);
  return true;
}

void AddressMap::died(const Range& range) {
  dead_.push_front(range);
  if (dead_.size() > kHistory) dead_.pop_back();
  generation_.fetch_add(1, std::memory_order_seq_cst);
}

AddressMap::Ranges::const_iterator AddressMap::around(u64 address) const {
  auto it = live_.upper_bound(address);
  if (it == live_.begin()) return live_.end();
  --it;
  return it->second.holds(address, 1) ? it : live_.end();
}

bool AddressMap::find(u64 address, Range* found) const {
  const hip::sync::SharedLock lock(mutex_);
  const auto it = around(address);
  if (it == live_.end()) return false;
  *found = it->second;
  return true;
}

bool AddressMap::find_locked(u64 address, Range* found) const {
  const hip::sync::SharedLock lock(mutex_);
  for (auto it = locked_.begin(); it != locked_.end() && it->first <= address; ++it) {
    if (!it->second.holds(address, 1)) continue;
    *found = it->second;
    return true;
  }
  return false;
}

bool AddressMap::find_access(u64 address, u64 bytes, u32 agent, bool write, Range* found) const {
  const hip::sync::SharedLock lock(mutex_);
  const auto allowed = [&](const Range& r) { return ((write ? r.writers : r.readers) & agent_bit(agent)) != 0; };
  if (auto it = around(address); it != live_.end() && allowed(it->second)) {
    *found = it->second;
    for (++it; it != live_.end() && joins(*found, it->second) && allowed(it->second); ++it) {
      found->size += it->second.size;
    }
    if (found->holds(address, bytes)) return true;
  }
  for (auto it = locked_.begin(); it != locked_.end() && it->first <= address; ++it) {
    if (!it->second.holds(address, bytes) || !allowed(it->second)) continue;
    *found = it->second;
    return true;
  }
  return false;
}

bool AddressMap::set_access(u64 base, AgentSet readers, AgentSet writers) {
  const hip::sync::ExclusiveLock lock(mutex_);
  const auto it = live_.find(base);
  if (it == live_.end()) return false;
  it->second.readers = readers;
  it->second.writers = writers;
  generation_.fetch_add(1, std::memory_order_seq_cst);
  return true;
}

std::string AddressMap::explain(u64 address, u64 bytes, u32 agent, bool write) const {
  const hip::sync::SharedLock lock(mutex_);
  if (const auto it = around(address); it != live_.end()) {
    if (!it->second.holds(address, bytes)) return "runs over the end of " + describe(it->second);
    const char* verb = write ? " may not write " : " may not read ";
    return "agent " + std::to_string(agent) + verb + describe(it->second);
  }
  for (const Range& r : dead_) {
    if (address >= r.base && address < r.end()) {
      return "use after free: " + std::to_string(address - r.base) + " bytes into " + describe(r);
    }
  }
  auto it = live_.upper_bound(address);
  if (it != live_.begin()) {
    --it;
    if (address - it->second.end() < kLargePage) {
      return std::to_string(address - it->second.end()) + " bytes behind the end of " + describe(it->second);
    }
  }
  return "no allocation is there, and no registered host memory";
}

u64 AddressMap::locked_count() const {
  const hip::sync::SharedLock lock(mutex_);
  return locked_.size();
}

void AddressMap::add_visitor(Visitor* visitor) {
  const hip::sync::LockGuard lock(visitors_mutex_);
  visitors_.push_back(visitor);
}

void AddressMap::remove_visitor(Visitor* visitor) {
  const hip::sync::LockGuard lock(visitors_mutex_);
  std::erase(visitors_, visitor);
}

bool AddressMap::quiesce() {
  const u64 now = generation_.load(std::memory_order_seq_cst);
  const auto deadline = std::chrono::steady_clock::now() + kQuiesceLimit;
  const hip::sync::LockGuard lock(visitors_mutex_);
  for (Visitor* visitor : visitors_) {
    for (u64 seen = visitor->seen.load(std::memory_order_seq_cst); seen != 0 && seen < now;
         seen = visitor->seen.load(std::memory_order_seq_cst)) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      hip::sync::yield();
    }
  }
  return true;
}

bool AddressMap::while_still(const std::function<void()>& work) {
  for (int attempt = 0; attempt < kStillAttempts; ++attempt) {
    // Each visitor's next check waits for this lock, and then begins with nothing that it knew before.
    const hip::sync::ExclusiveLock lock(mutex_);
    generation_.fetch_add(1, std::memory_order_seq_cst);
    // A visitor may wait for the lock in the middle of an instruction: the next attempt finds it further on.
    if (!quiesce()) continue;
    work();
    return true;
  }
  return false;
}

void AddressMap::forget_all() {
  const hip::sync::ExclusiveLock lock(mutex_);
  live_.clear();
  locked_.clear();
  dead_.clear();
  generation_.fetch_add(1, std::memory_order_seq_cst);
}

}  // namespace agent
