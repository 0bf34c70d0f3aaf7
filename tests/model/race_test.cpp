// The race detector against an oracle that looks at every byte of every pair.
#include "model/race.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <utility>

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

}  // namespace
}  // namespace model
