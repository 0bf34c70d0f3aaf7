// Sets of bytes against std::set of single addresses.
#include "model/interval.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace model {
namespace {

std::set<Address> bytes_of(std::span<const Interval> intervals) {
  std::set<Address> bytes;
  for (const Interval& interval : intervals) {
    for (Address at = interval.begin; at < interval.end; ++at) bytes.insert(at);
  }
  return bytes;
}

IntervalSet arbitrary_set(std::set<Address>* bytes) {
  IntervalSet set;
  const auto count = *rc::gen::inRange(0, 40);
  for (int i = 0; i < count; ++i) {
    const auto begin = *rc::gen::inRange<Address>(0, 200);
    const auto size = *rc::gen::inRange<std::size_t>(0, 20);
    set.add(begin, size);
    for (Address at = begin; at < begin + size; ++at) bytes->insert(at);
  }
  set.normalise();
  return set;
}

RC_GTEST_PROP(IntervalProperty, ANormalisedSetHoldsExactlyTheBytesThatWereAdded, ()) {
  std::set<Address> bytes;
  const IntervalSet set = arbitrary_set(&bytes);
  RC_ASSERT(bytes_of(set.intervals()) == bytes);
  for (std::size_t i = 1; i < set.intervals().size(); ++i) {
    RC_ASSERT(set.intervals()[i - 1].end < set.intervals()[i].begin);  // sorted, disjoint and minimal
  }
}

RC_GTEST_PROP(IntervalProperty, AnIntersectionHoldsExactlyTheCommonBytes, ()) {
  std::set<Address> a, b, common;
  const IntervalSet first = arbitrary_set(&a), second = arbitrary_set(&b);
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(common, common.end()));
  RC_ASSERT(bytes_of(intersection(first.intervals(), second.intervals())) == common);
}

RC_GTEST_PROP(IntervalProperty, RemovingARangeTakesOutExactlyItsBytes, ()) {
  std::set<Address> bytes;
  IntervalSet set = arbitrary_set(&bytes);
  const auto begin = *rc::gen::inRange<Address>(0, 200);
  const auto end = begin + *rc::gen::inRange<Address>(1, 100);
  set.remove(begin, end);
  std::erase_if(bytes, [&](Address at) { return at >= begin && at < end; });
  RC_ASSERT(bytes_of(set.intervals()) == bytes);
}

TEST(Interval, BuffersThatAreWalkedSideBySideStayOneIntervalEach) {
  IntervalSet set;
  constexpr Address kBuffers = 50;
  for (Address i = 0; i < 1000; ++i) {
    for (Address buffer = 0; buffer < kBuffers; ++buffer) set.add(buffer * 0x10000 + i * 4, 4);
  }
  EXPECT_EQ(set.intervals().size(), kBuffers);  // before any sorting: this is about cost
  set.normalise();
  EXPECT_EQ(set.intervals().size(), kBuffers);
  EXPECT_EQ(set.intervals()[7], (Interval{7 * 0x10000, 7 * 0x10000 + 4000}));
}

}  // namespace
}  // namespace model
