// The streams and events of a program, and the work that may still be running.
//
// Order among the work of streams is kept in clocks. The null stream waits for every blocking stream of device 0, and
// each of these streams waits for the null stream (HIP: legacy default stream).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "verify/program/ranges.h"

namespace verify {

// clock[s]: how many operations of stream s are known to be done or ordered before. Launches and other work, records,
// waits: each takes a tick of its stream, and a launch with event nodes takes several.
using Clock = std::map<Id, std::uint64_t>;

struct StreamState {
  bool alive = false;
  bool non_blocking = false;
  Clock clock;
  bool per_thread = false;
  Id device = 0;
};

struct EventState {
  bool alive = false;
  Clock clock;
  bool timing = false;
  bool recorded = false;      // at least once, outside of captures
  Id recorded_on = 0;         // the stream of that record
  std::optional<Id> told_on;  // the stream of the last record, even if that record was refused
  bool external = false;      // recorded last by a node that a capture made of an external record
  bool waited_for = false;    // by the host, since it was recorded
  std::uint64_t over_at = 0;  // the tick of the stream with which the record is over, at the latest
  std::uint64_t capture = 0;  // serial of the capture that it was last recorded in; 0: last recorded in none
  std::vector<std::uint32_t> captured;
  Id captured_on = 0;      // the stream of the record in that capture
  bool had_nodes = false;  // a record in a capture, this one or an earlier one, stood behind nodes
  Id device = 0;

  // Notes that the event was recorded on a stream outside of captures, behind the work in `behind`.
  void record(Id stream, Clock behind, std::uint64_t tick);
};

// Work that may still be running.
struct Pending {
  Id stream = 0;
  std::uint64_t tick = 0;
  std::vector<ByteRange> ranges;
  std::optional<Id> exec;  // the executable graph that was launched; none: eager work

  // Whether a launch with that clock comes after this work.
  [[nodiscard]] bool before(const Clock& clock) const;
};

struct StreamsState {
  std::map<Id, StreamState> known;
  std::vector<Pending> pending;
  Clock over;  // what the host has waited for

  [[nodiscard]] const StreamState* find(Id stream) const;
  [[nodiscard]] bool alive(Id stream) const;
  [[nodiscard]] Id device_of(Id stream) const;
  // The launches that a new launch on `stream` would come behind.
  [[nodiscard]] Clock launch_clock(Id stream) const;
  // Whether some pending work that does not come before `clock` conflicts with these ranges.
  [[nodiscard]] bool unordered_conflict(const std::vector<ByteRange>& ranges, const Clock& clock) const;

  // Whether the host has waited for an operation of the stream, or for all of them.
  [[nodiscard]] bool is_over(Id stream, std::uint64_t tick) const;
  [[nodiscard]] bool is_over(Id stream) const;

  // Notes that the stream has one more operation.
  StreamState& occupy(Id stream);
  void give_work(Id stream, std::vector<ByteRange> ranges, std::optional<Id> exec);
  // Notes that the host has waited for everything in `clock`. Removes the pending work that comes before it.
  void finish(const Clock& clock);
  // Notes a wait for the stream. HIP's header, hipStreamSynchronize: a wait for the null stream waits for every stream
  // of the device that is ordered with it.
  void wait_for(Id stream);
};

struct EventsState {
  std::map<Id, EventState> known;

  [[nodiscard]] const EventState* find(Id event) const;
  [[nodiscard]] Id device_of(Id event) const;
  // `clock`, merged with the clocks at which these events were recorded.
  [[nodiscard]] Clock behind(const Clock& clock, const std::vector<Id>& events) const;
};

}  // namespace verify
