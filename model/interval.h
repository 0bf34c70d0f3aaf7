// model::AccessLog: the exact sets of bytes that an operation read and wrote, as half-open intervals of addresses.
//
// A kernel walks its buffers side by side, so add() tries to join a range to the interval where the walk is expected,
// then to one of the last few intervals; normalise() makes the sets sorted, disjoint and minimal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace model {

using Address = std::uint64_t;

struct Interval {
  Address begin = 0;
  Address end = 0;
  bool operator==(const Interval&) const = default;
};

class IntervalSet {
 public:
  void add(Address begin, std::size_t size);
  // Sorts and merges.
  void normalise();
  // Takes the bytes of [begin, end) out. A normalised set stays normalised.
  void remove(Address begin, Address end);
  void clear() { intervals_.clear(), next_ = 0; }
  [[nodiscard]] std::span<const Interval> intervals() const { return intervals_; }
  [[nodiscard]] bool empty() const { return intervals_.empty(); }

 private:
  [[nodiscard]] bool join(std::size_t index, Address begin, Address end);

  std::vector<Interval> intervals_;
  std::size_t next_ = 0;  // where the next range is expected
};

// The bytes that both sets hold, as sorted disjoint intervals. Both must be normalised.
[[nodiscard]] std::vector<Interval> intersection(std::span<const Interval> a, std::span<const Interval> b);

struct AccessLog {
  IntervalSet reads;
  IntervalSet writes;
  // Addresses of mapped memory that were read and written. The two others name its bytes by the memory
  // (virtual_memory.h).
  IntervalSet mapped_reads;
  IntervalSet mapped_writes;
  void normalise() { reads.normalise(), writes.normalise(), mapped_reads.normalise(), mapped_writes.normalise(); }
  void clear() { reads.clear(), writes.clear(), mapped_reads.clear(), mapped_writes.clear(); }
};

}  // namespace model
