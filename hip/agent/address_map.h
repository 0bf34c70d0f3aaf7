// The live address ranges, their owners, and the ranges that were freed recently.
//
// Every access of a kernel and of a copy engine is checked here. Live ranges of allocations never overlap; registered
// ranges of host memory may overlap each other, as pages may be pinned twice. The last kHistory freed ranges are kept,
// so that a stale address is explained by the allocation that it used to belong to.
//
// Threads that access memory are Visitors. A visitor may still use a freed range until the end of the instruction that
// it executes: code that unmaps the pages calls quiesce() first. From the visitor's next check on, an access to a freed
// range is a fault.
//
// Not checked: accesses by host threads of the program (only the pages' protection limits them), and bytes between the
// end of an allocation and the next multiple of kAccessGranule (compilers read the dword around a byte).
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hip/agent/types.h"
#include "hip/sync/sync.h"

namespace agent {

inline constexpr std::size_t kHistory = 4096;
inline constexpr u64 kAccessGranule = 4;

enum class Kind : u8 { kDevice, kFineHost, kCoarseHost, kLocked, kMapped, kAttached, kCode, kQueue, kSignals };
[[nodiscard]] const char* kind_name(Kind kind);

struct Range {
  u64 base = 0;
  u64 size = 0;
  Kind kind = Kind::kDevice;
  u32 owner = kHostAgent;
  AgentSet readers = 0;  // agents that may read
  AgentSet writers = 0;  // agents that may write
  u32 pool = 0;          // index of the memory pool; for allocations only
  u64 reservation = 0;   // where the reservation of mapped memory begins
  u64 serial = 0;        // counts allocations; given by the map

  [[nodiscard]] u64 end() const { return base + round_up(size, kAccessGranule); }
  [[nodiscard]] bool holds(u64 address, u64 bytes) const {
    return address >= base && address < end() && bytes <= end() - address;
  }
};

class Visitor {
 public:
  // 0: the visitor accesses no memory. Otherwise the generation of the map that it has seen.
  hip::sync::Atomic<u64> seen{0};
};

class AddressMap {
 public:
  // The range must not overlap a live one (except for registered host memory).
  void insert(Range range);
  // Frees the range that starts at `base`; false if there is none. Of registered ranges, frees the last one inserted.
  bool erase(u64 base, Kind kind, Range* erased = nullptr);
  // The live range around `address` that is not registered host memory.
  [[nodiscard]] bool find(u64 address, Range* found) const;
  [[nodiscard]] bool find_locked(u64 address, Range* found) const;
  // A live range in which `agent` may do the whole access, together with the mappings of its reservation that follow
  // it without a gap.
  [[nodiscard]] bool find_access(u64 address, u64 bytes, u32 agent, bool write, Range* found) const;
  // Replaces the agents of the live range that starts at `base`.
  bool set_access(u64 base, AgentSet readers, AgentSet writers);
  // Why an access is not legal, in words.
  [[nodiscard]] std::string explain(u64 address, u64 bytes, u32 agent, bool write) const;

  [[nodiscard]] u64 generation() const { return generation_.load(std::memory_order_acquire); }
  [[nodiscard]] u64 locked_count() const;
  void add_visitor(Visitor* visitor);
  void remove_visitor(Visitor* visitor);
  // Waits until no visitor can use a range that was freed before the call; false when that takes too long.
  [[nodiscard]] bool quiesce();
  // Calls `work` while every visitor stands still, so that it may replace the pages of live ranges. False when that
  // takes too long: `work` is not called then. `work` must not use the map.
  [[nodiscard]] bool while_still(const std::function<void()>& work);
  void forget_all();

 private:
  using Ranges = std::map<u64, Range>;
  [[nodiscard]] Ranges::const_iterator around(u64 address) const;
  void died(const Range& range);

  mutable hip::sync::SharedMutex mutex_;
  Ranges live_;
  std::multimap<u64, Range> locked_;
  std::deque<Range> dead_;  // freed ranges, the last one first
  u64 next_serial_ = 1;
  hip::sync::Atomic<u64> generation_{1};

  hip::sync::Mutex visitors_mutex_;
  std::vector<Visitor*> visitors_;
};

}  // namespace agent
