// Sweeps over intervals, by address or in topological order; the contract is in the header.
#include "model/race.h"

#include <algorithm>
#include <map>
#include <optional>
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

// The logs that the next log has to come after, for each byte. A log that comes after another one stands for it.
class LastTouches {
 public:
  explicit LastTouches(const Before& before) : before_(before) {}

  // Whether `log` comes after the writer of each of these bytes.
  bool read(const Interval& bytes, std::uint32_t log) {
    for (auto at = cut(bytes); at != bytes_.end() && at->first < bytes.end; ++at) {
      Touchers& last = at->second;
      if (!comes_after(last.writer, log)) return false;
      if (!last.readers.empty() && before_(last.readers.back(), log)) last.readers.pop_back();
      last.readers.push_back(log);
    }
    return true;
  }
  // Whether `log` comes after all of these bytes' readers and their writer.
  bool write(const Interval& bytes, std::uint32_t log) {
    const auto first = cut(bytes);
    auto at = first;
    for (; at != bytes_.end() && at->first < bytes.end; ++at) {
      const auto after = [&](std::uint32_t reader) { return comes_after(reader, log); };
      if (!comes_after(at->second.writer, log) || !std::ranges::all_of(at->second.readers, after)) return false;
    }
    first->second = {log, {}};
    bytes_.erase(std::next(first), at);
    return true;
  }

 private:
  struct Touchers {
    std::optional<std::uint32_t> writer;
    std::vector<std::uint32_t> readers;  // since the writer
  };
  using Bytes = std::map<Address, Touchers>;  // by the first byte; each entry reaches up to the next one

  bool comes_after(std::optional<std::uint32_t> earlier, std::uint32_t log) const {
    return !earlier || *earlier == log || before_(*earlier, log);
  }
  // Makes entries begin at both ends of `bytes`; returns the first of them.
  Bytes::iterator cut(const Interval& bytes) {
    cut(bytes.end);
    return cut(bytes.begin);
  }
  Bytes::iterator cut(Address at) {
    const auto next = bytes_.lower_bound(at);
    if (next != bytes_.end() && next->first == at) return next;
    return bytes_.emplace_hint(next, at, next == bytes_.begin() ? Touchers{} : std::prev(next)->second);
  }

  const Before& before_;
  Bytes bytes_;
};

}  // namespace

bool any_conflict(std::span<const AccessLog> logs, std::span<const std::uint32_t> order, const Before& before) {
  LastTouches last(before);
  return !std::ranges::all_of(order, [&](std::uint32_t log) {
    const auto reads = [&](const Interval& bytes) { return last.read(bytes, log); };
    const auto writes = [&](const Interval& bytes) { return last.write(bytes, log); };
    return std::ranges::all_of(logs[log].reads.intervals(), reads) &&
           std::ranges::all_of(logs[log].writes.intervals(), writes);
  });
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
