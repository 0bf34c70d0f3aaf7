// One sweep over all intervals, by address; the contract is in the header.
#include "model/race.h"

#include <algorithm>
#include <set>
#include <utility>

namespace model {
namespace {

struct Touch {
  Interval bytes;
  std::uint32_t log = 0;
  bool write = false;
};

std::vector<Touch> touches_by_address(std::span<const AccessLog> logs) {
  std::vector<Touch> touches;
  for (std::uint32_t log = 0; log < logs.size(); ++log) {
    for (const Interval& bytes : logs[log].reads.intervals()) touches.push_back({bytes, log, false});
    for (const Interval& bytes : logs[log].writes.intervals()) touches.push_back({bytes, log, true});
  }
  std::ranges::sort(touches, [](const Touch& a, const Touch& b) { return a.bytes.begin < b.bytes.begin; });
  return touches;
}

bool holds(std::span<const Interval> intervals, Address address) {
  const auto next = std::upper_bound(intervals.begin(), intervals.end(), address,
                                     [](Address wanted, const Interval& i) { return wanted < i.begin; });
  return next != intervals.begin() && std::prev(next)->end > address;
}

}  // namespace

std::vector<Conflict> find_conflicts(std::span<const AccessLog> logs,
                                     const std::function<bool(std::uint32_t, std::uint32_t)>& ordered) {
  std::vector<Conflict> conflicts;
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  std::vector<Touch> open;
  for (const Touch& touch : touches_by_address(logs)) {
    std::erase_if(open, [&touch](const Touch& other) { return other.bytes.end <= touch.bytes.begin; });
    for (const Touch& other : open) {
      if (other.log == touch.log || (!other.write && !touch.write)) continue;
      const auto [a, b] = std::minmax(other.log, touch.log);
      if (ordered(a, b) || !seen.emplace(a, b).second) continue;
      const Interval bytes{touch.bytes.begin, std::min(touch.bytes.end, other.bytes.end)};
      conflicts.push_back({a, b, bytes, holds(logs[a].writes.intervals(), bytes.begin),
                           holds(logs[b].writes.intervals(), bytes.begin)});
    }
    open.push_back(touch);
  }
  return conflicts;
}

}  // namespace model
