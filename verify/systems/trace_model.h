// The sequential model of hip::TraceCache over hip::capture_trace: the promises of traces and command buffers.
//
// A trace is launched as it was captured when the command and the identity and the address of each of its buffers are
// unchanged. Otherwise it is captured: when a buffer of a trace that has work has moved (it is not known where the
// trace holds the address), and always when another buffer is at the old address. At most `max` traces are kept, and
// the least recently used one is dropped. A trace is not kept after an error. Keeping fewer traces costs additional
// captures; keeping more does no harm.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <vector>

#include "hip/trace_cache.h"

namespace verify {

class TraceModel {
 public:
  explicit TraceModel(std::size_t max) : max_(max) {}

  [[nodiscard]] bool kept(std::uint64_t command, const std::vector<hip::TraceBuffer>& buffers) const {
    return std::ranges::any_of(traces_,
                               [&](const Kept& each) { return each.command == command && each.buffers == buffers; });
  }
  // Whether the command was ever executed for these buffers, at any addresses.
  [[nodiscard]] bool done_before(std::uint64_t command, const std::vector<hip::TraceBuffer>& buffers) const {
    return std::ranges::any_of(
        done_, [&](const Kept& each) { return each.command == command && same(each.buffers, buffers); });
  }
  void executed(std::uint64_t command, const std::vector<hip::TraceBuffer>& buffers, bool succeeded) {
    traces_.remove_if([&](const Kept& each) { return each.command == command && same(each.buffers, buffers); });
    traces_.push_back({command, buffers});
    if (traces_.size() > max_) traces_.pop_front();
    if (!succeeded) traces_.pop_back();
    done_.push_back({command, buffers});
  }

 private:
  struct Kept {
    std::uint64_t command = 0;
    std::vector<hip::TraceBuffer> buffers;
  };
  static bool same(const std::vector<hip::TraceBuffer>& one, const std::vector<hip::TraceBuffer>& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](const auto& a, const auto& b) { return a.identity == b.identity; });
  }

  std::size_t max_;
  std::list<Kept> traces_;  // the last used trace is at the end
  std::vector<Kept> done_;
};

}  // namespace verify
