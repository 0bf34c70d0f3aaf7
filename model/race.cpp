// Sweeps over intervals, by address or in topological order; the contract is in the header.
#include "model/race.h"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <set>

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

// The last log that wrote each byte, as logs are walked in one direction.
class LastWriters {
 public:
  // Whether `follows` says so of the writer of each of these bytes.
  template <typename Follows>
  [[nodiscard]] bool all(const Interval& bytes, const Follows& follows) const {
    auto at = writers_.upper_bound(bytes.begin);
    if (at != writers_.begin()) --at;
    for (; at != writers_.end() && at->first < bytes.end; ++at) {
      if (at->second && !follows(*at->second)) return false;
    }
    return true;
  }
  void write(const Interval& bytes, std::uint32_t log) {
    const auto end = cut(bytes.end), begin = cut(bytes.begin);
    begin->second = log;
    writers_.erase(std::next(begin), end);
  }

 private:
  using Writers = std::map<Address, std::optional<std::uint32_t>>;  // each entry reaches up to the next one

  // Makes an entry begin at `at`.
  Writers::iterator cut(Address at) {
    const auto next = writers_.lower_bound(at);
    if (next != writers_.end() && next->first == at) return next;
    return writers_.emplace_hint(next, at, next == writers_.begin() ? std::nullopt : std::prev(next)->second);
  }

  Writers writers_;
};

// Whether each log, in this order, stands in `follows` to the last log before it that wrote a byte that it touches.
template <typename Order, typename Follows>
bool each_follows_its_writers(std::span<const AccessLog> logs, const Order& order, const Follows& follows) {
  LastWriters last;
  return std::ranges::all_of(order, [&](std::uint32_t log) {
    const auto fits = [&](const Interval& bytes) {
      return last.all(bytes, [&](std::uint32_t writer) { return follows(writer, log); });
    };
    const auto writes = logs[log].writes.intervals();
    if (!std::ranges::all_of(logs[log].reads.intervals(), fits) || !std::ranges::all_of(writes, fits)) return false;
    for (const Interval& bytes : writes) last.write(bytes, log);
    return true;
  });
}

}  // namespace

// Two writers of a byte are in order if each neighbouring pair is, and a reader is in order with all of them if it is
// with the writer before it and, in the second walk, with the one after it.
bool any_conflict(std::span<const AccessLog> logs, std::span<const std::uint32_t> order, const Before& before) {
  const auto precedes = [&](std::uint32_t later, std::uint32_t log) { return before(log, later); };
  return !each_follows_its_writers(logs, order, before) ||
         !each_follows_its_writers(logs, std::views::reverse(order), precedes);
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> meetings(std::span<const AccessLog> earlier,
                                                              std::span<const AccessLog> later, const Before& before) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  const std::vector<Touch> touches[] = {touches_by_address(earlier), touches_by_address(later)};
  std::vector<Touch> open[2][2];  // by side, and by whether they write
  std::size_t next[2] = {};
  const auto meet = [&](const Touch& touch, bool side, std::vector<Touch>& others) {
    std::erase_if(others, [&touch](const Touch& other) { return other.bytes.end <= touch.bytes.begin; });
    for (const Touch& other : others) {
      const auto [first, second] = side ? std::pair(other.log, touch.log) : std::pair(touch.log, other.log);
      if (!before(first, second)) pairs.emplace(first, second);
    }
  };
  while (pairs.size() < kMaxConflicts && (next[0] < touches[0].size() || next[1] < touches[1].size())) {
    const bool ended = next[0] == touches[0].size(), last = next[1] == touches[1].size();
    const bool side = ended || (!last && touches[1][next[1]].bytes.begin < touches[0][next[0]].bytes.begin);
    const Touch& touch = touches[side][next[side]++];
    meet(touch, side, open[!side][true]);
    if (touch.write) meet(touch, side, open[!side][false]);
    open[side][touch.write].push_back(touch);
  }
  return {pairs.begin(), pairs.end()};
}

std::vector<Conflict> find_conflicts(std::span<const AccessLog> logs, const Before& ordered) {
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
      if (conflicts.size() == kMaxConflicts) return conflicts;
    }
    open.push_back(touch);
  }
  return conflicts;
}

}  // namespace model
