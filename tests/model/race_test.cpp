// The race detector against an oracle that looks at every byte of every pair.
#include "model/race.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace model {
namespace {

constexpr Address kBytes = 48;

struct Bytes {
  std::set<Address> reads, writes;
};

AccessLog arbitrary_log(Bytes* bytes) {
  AccessLog log;
  const auto count = *rc::gen::inRange(0, 4);
  for (int i = 0; i < count; ++i) {
    const auto begin = *rc::gen::inRange<Address>(0, kBytes);
    const auto size = *rc::gen::inRange<std::size_t>(1, 8);
    const bool write = *rc::gen::arbitrary<bool>();
    (write ? log.writes : log.reads).add(begin, size);
    for (Address at = begin; at < begin + size; ++at) (write ? bytes->writes : bytes->reads).insert(at);
  }
  log.normalise();
  return log;
}

std::optional<Address> first_common_byte(const Bytes& a, const Bytes& b) {
  for (Address at = 0; at < kBytes + 8; ++at) {
    const bool a_touches = a.reads.contains(at) || a.writes.contains(at);
    const bool b_touches = b.reads.contains(at) || b.writes.contains(at);
    if (a_touches && b_touches && (a.writes.contains(at) || b.writes.contains(at))) return at;
  }
  return std::nullopt;
}

RC_GTEST_PROP(RaceProperty, ExactlyTheUnorderedPairsThatShareAWrittenByteAreReported, ()) {
  const auto count = *rc::gen::inRange<std::uint32_t>(0, 8);
  std::vector<Bytes> bytes(count);
  std::vector<AccessLog> logs;
  for (Bytes& one : bytes) logs.push_back(arbitrary_log(&one));
  std::set<std::pair<std::uint32_t, std::uint32_t>> ordered;
  for (std::uint32_t a = 0; a < count; ++a) {
    for (std::uint32_t b = a + 1; b < count; ++b) {
      if (*rc::gen::inRange(0, 3) == 0) ordered.emplace(a, b);
    }
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, Conflict> found;
  for (const Conflict& c : find_conflicts(logs, [&](auto a, auto b) { return ordered.contains({a, b}); })) {
    RC_ASSERT(c.a < c.b);
    const bool first_report = found.emplace(std::pair{c.a, c.b}, c).second;
    RC_ASSERT(first_report);
  }
  for (std::uint32_t a = 0; a < count; ++a) {
    for (std::uint32_t b = a + 1; b < count; ++b) {
      const auto byte = ordered.contains({a, b}) ? std::nullopt : first_common_byte(bytes[a], bytes[b]);
      const auto report = found.find({a, b});
      RC_ASSERT((report != found.end()) == byte.has_value());
      if (!byte) continue;
      RC_ASSERT(report->second.bytes.begin == *byte);
      RC_ASSERT(report->second.a_wrote == bytes[a].writes.contains(*byte));
      RC_ASSERT(report->second.b_wrote == bytes[b].writes.contains(*byte));
    }
  }
}

// Logs of arbitrary bytes, and an arbitrary partial order that keeps to the order of their positions.
struct OrderedLogs {
  std::vector<AccessLog> logs;
  std::vector<std::uint32_t> order;
  std::set<std::pair<std::uint32_t, std::uint32_t>> before;
  [[nodiscard]] bool ordered(std::uint32_t a, std::uint32_t b) const { return before.contains({a, b}); }
};

OrderedLogs arbitrary_ordered_logs() {
  OrderedLogs made;
  const auto count = *rc::gen::inRange<std::uint32_t>(0, 8);
  const auto tenths = *rc::gen::element(0, 3, 6, 9);  // of the pairs, before the order is closed
  for (std::uint32_t b = 0; b < count; ++b) {
    Bytes unused;
    made.logs.push_back(arbitrary_log(&unused));
    made.order.push_back(b);
    for (std::uint32_t a = b; a-- > 0;) {
      bool comes = *rc::gen::inRange(0, 10) < tenths;
      for (std::uint32_t between = a + 1; between < b; ++between)
        comes = comes || (made.ordered(a, between) && made.ordered(between, b));
      if (comes) made.before.emplace(a, b);
    }
  }
  return made;
}

RC_GTEST_PROP(RaceProperty, ASweepInTopologicalOrderFindsAConflictWhereThereIsOne, ()) {
  const OrderedLogs made = arbitrary_ordered_logs();
  const bool any = !find_conflicts(made.logs, [&](auto a, auto b) { return made.ordered(a, b); }).empty();
  RC_CLASSIFY(any);
  RC_ASSERT(any_conflict(made.logs, made.order, [&](auto a, auto b) { return made.ordered(a, b); }) == any);
}

RC_GTEST_PROP(RaceProperty, TheMeetingsAreThePairsThatConflict, ()) {
  const OrderedLogs earlier = arbitrary_ordered_logs(), later = arbitrary_ordered_logs();
  const auto ordered = [](std::uint32_t i, std::uint32_t j) { return (i + j) % 3 == 0; };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> expected;
  for (std::uint32_t i = 0; i < earlier.logs.size(); ++i) {
    for (std::uint32_t j = 0; j < later.logs.size(); ++j) {
      const AccessLog pair[] = {earlier.logs[i], later.logs[j]};
      if (ordered(i, j)) continue;
      if (!find_conflicts(pair, [](auto, auto) { return false; }).empty()) expected.emplace_back(i, j);
    }
  }
  RC_ASSERT(meetings(earlier.logs, later.logs, ordered) == expected);
}

TEST(RaceTest, ManyConflictsAreBounded) {
  std::vector<AccessLog> writers(400);
  for (AccessLog& log : writers) log.writes.add(0, 4);
  for (AccessLog& log : writers) log.writes.normalise();
  const auto never = [](std::uint32_t, std::uint32_t) { return false; };
  EXPECT_EQ(find_conflicts(writers, never).size(), kMaxConflicts);                      // of 79,800
  EXPECT_LT(meetings(writers, writers, never).size(), kMaxConflicts + writers.size());  // of 160,000
}

TEST(RaceTest, AWriterHasToComeAfterEveryReader) {
  std::vector<AccessLog> logs(3);
  logs[0].reads.add(0, 8);
  logs[1].reads.add(0, 8);
  logs[2].writes.add(4, 4);
  const std::uint32_t order[] = {0, 1, 2};
  EXPECT_FALSE(any_conflict(logs, order, [](auto, auto b) { return b == 2; }));
  for (const std::uint32_t only : {0u, 1u})
    EXPECT_TRUE(any_conflict(logs, order, [&](auto a, auto b) { return a == only && b == 2; })) << only;
}

// Lanes of steps, each behind the one before it in its lane; each lane works on bytes of its own and reads shared ones.
// Counts how often a sweep asks for the order of two steps.
std::size_t questions_about_lanes(std::uint32_t lanes, std::uint32_t length) {
  constexpr Address kShared = 1 << 20;
  std::vector<AccessLog> logs(std::size_t{lanes} * length);
  std::vector<std::uint32_t> order;
  for (std::uint32_t step = 0; step < logs.size(); ++step) {
    logs[step].reads.add(kShared, 16);
    logs[step].reads.add(16 * (step % lanes), 16);
    logs[step].writes.add(16 * (step % lanes), 16);
    logs[step].normalise();
    order.push_back(step);
  }
  std::size_t questions = 0;
  EXPECT_FALSE(any_conflict(logs, order, [&](std::uint32_t a, std::uint32_t b) {
    ++questions;
    return a < b && a % lanes == b % lanes;
  }));
  return questions;
}

TEST(RaceTest, ASweepAsksInProportionToTheSteps) {
  constexpr std::size_t kOfAStep = 5;
  for (const std::uint32_t lanes : {1u, 50u, 2000u}) {
    EXPECT_LE(questions_about_lanes(lanes, 4000 / lanes), 4000 * kOfAStep) << lanes << " lanes";
  }
}

// Readers of a whole buffer, readers of a piece of it each, and one writer of it behind them all or before them all.
TEST(RaceTest, ManyReadersOfManyPiecesAreAskedForOnceEach) {
  constexpr std::uint32_t kReaders = 4000;
  std::vector<AccessLog> logs(kReaders + 1);
  for (std::uint32_t reader = 0; reader < kReaders; ++reader) {
    const bool whole = reader < kReaders / 2;
    logs[reader].reads.add(whole ? 0 : 16 * reader, whole ? 16 * kReaders : 16);
  }
  logs[kReaders].writes.add(0, 16 * kReaders);
  std::vector<std::uint32_t> order(logs.size());
  std::iota(order.begin(), order.end(), 0);
  for (const bool behind : {true, false}) {
    std::size_t questions = 0;
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      ++questions;
      return (behind ? b : a) == kReaders;
    };
    EXPECT_FALSE(any_conflict(logs, order, before)) << behind;
    EXPECT_EQ(questions, kReaders) << behind;
    EXPECT_TRUE(any_conflict(logs, order, [&](auto a, auto b) { return before(a, b) && a != 7 && b != 7; })) << behind;
    std::ranges::reverse(order);
  }
}

}  // namespace
}  // namespace model
