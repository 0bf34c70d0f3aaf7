// The arithmetic of sets of bytes; the contract is in the header.
#include "model/interval.h"

#include <algorithm>
#include <utility>

namespace model {

bool IntervalSet::join(std::size_t index, Address begin, Address end) {
  Interval& open = intervals_[index];
  if (begin > open.end || end < open.begin) return false;
  open.begin = std::min(open.begin, begin);
  open.end = std::max(open.end, end);
  next_ = index + 1;
  return true;
}

void IntervalSet::add(Address begin, std::size_t size) {
  if (size == 0) return;
  const Address end = begin + size;
  // A loop touches its buffers in the same order again and again: the interval behind the last one is tried first.
  if (next_ >= intervals_.size()) next_ = 0;
  if (!intervals_.empty() && join(next_, begin, end)) return;
  constexpr std::size_t kLast = 4;
  const std::size_t first = intervals_.size() > kLast ? intervals_.size() - kLast : 0;
  for (std::size_t i = intervals_.size(); i-- > first;) {
    if (join(i, begin, end)) return;
  }
  intervals_.push_back({begin, end});
  next_ = intervals_.size();
}

void IntervalSet::normalise() {
  if (intervals_.size() < 2) return;
  std::ranges::sort(intervals_, {}, &Interval::begin);
  std::size_t last = 0;
  for (std::size_t i = 1; i < intervals_.size(); ++i) {
    if (intervals_[i].begin <= intervals_[last].end) {
      intervals_[last].end = std::max(intervals_[last].end, intervals_[i].end);
    } else {
      intervals_[++last] = intervals_[i];
    }
  }
  intervals_.resize(last + 1);
}

void IntervalSet::remove(Address begin, Address end) {
  std::vector<Interval> left;
  for (const Interval& interval : intervals_) {
    if (interval.begin < begin) left.push_back({interval.begin, std::min(interval.end, begin)});
    if (interval.end > end) left.push_back({std::max(interval.begin, end), interval.end});
  }
  intervals_ = std::move(left);
  next_ = 0;
}

std::vector<Interval> intersection(std::span<const Interval> a, std::span<const Interval> b) {
  std::vector<Interval> both;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Interval common{std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
    if (common.begin < common.end) both.push_back(common);
    a[i].end < b[j].end ? ++i : ++j;
  }
  return both;
}

}  // namespace model
