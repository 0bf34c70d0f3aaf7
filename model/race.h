// model::DataRace: two operations that nothing orders touched the same bytes, and one of them wrote.
//
// HIP leaves the outcome undefined, so a program with a race has no reference to be compared with. Detection is exact
// on the bytes that were touched in this run; code that was not reached was not looked at.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "model/interval.h"
#include "model/object.h"

namespace model {

inline constexpr std::size_t kMaxRaces = 64;  // reports that are kept; more are counted only

// An operation is named by its node (0 for an operation on a stream that is no graph's) and its sequence number.
// Operation 0 is the host, which changed a mapping (remapping.cpp).
struct RaceParty {
  ObjectId node = 0;
  std::uint64_t operation = 0;
  bool wrote = false;
  bool operator==(const RaceParty&) const = default;
};

struct DataRace {
  RaceParty a, b;
  Interval bytes;  // the first ones that they share, where they are mapped
  bool operator==(const DataRace&) const = default;
};

// Two conflicting logs, by position, and the first bytes that they share. At most one for each pair.
struct Conflict {
  std::uint32_t a = 0, b = 0;  // a < b
  Interval bytes;
  bool a_wrote = false, b_wrote = false;
};

// Whether the first log, by position, comes before the second.
using Before = std::function<bool(std::uint32_t, std::uint32_t)>;

// More conflicts of one graph, or of two operations, are not looked for.
inline constexpr std::size_t kMaxConflicts = 1 << 16;

// The pairs of logs that conflict and that `ordered` does not order, up to kMaxConflicts. Logs must be normalised.
// Takes the square of the logs that touch the same bytes.
[[nodiscard]] std::vector<Conflict> find_conflicts(std::span<const AccessLog> logs, const Before& ordered);

// Whether find_conflicts() would find any, where `before` is a partial order and `order`, of all logs, keeps to it.
// Asks of each log whether the last writers of its bytes come before it, and the next ones after it. Keeps one log for
// each written piece. Asks at most two questions for each written piece that a log touches: the square of the logs
// where many touch many pieces.
[[nodiscard]] bool any_conflict(std::span<const AccessLog> logs, std::span<const std::uint32_t> order,
                                const Before& before);

// The pairs of a log of `earlier` and a log of `later` that share a byte which one of them writes and of which `before`
// does not say that the first comes before the second, in ascending order. It stops looking at kMaxConflicts.
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> meetings(std::span<const AccessLog> earlier,
                                                                            std::span<const AccessLog> later,
                                                                            const Before& before);

}  // namespace model
