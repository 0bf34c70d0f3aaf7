// The streams and events of a program, and the work that may still be running.
//
// Order among launches is kept in clocks. The null stream waits for every blocking stream of device 0 and every such
// stream for it (HIP: legacy default stream).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "verify/program/ranges.h"

namespace verify {

// clock[s]: how many launches of stream s are known to be done or ordered before.
using Clock = std::map<Id, std::uint64_t>;

struct StreamState {
  bool alive = false;
  bool non_blocking = false;
  Clock clock;
  bool per_thread = false;
  bool busy = false;  // it was given something that nobody has waited for
  Id device = 0;
};

struct EventState {
  bool alive = false;
  Clock clock;
  bool timing = false;
  bool recorded = false;      // outside of captures, once
  Id recorded_on = 0;         // then: the stream
  std::optional<Id> told_on;  // the stream of the last record, also of one that was refused
  bool external = false;      // last by a node that a capture made of an external record
  bool busy = false;          // and nobody has waited since
  std::uint64_t capture = 0;  // serial of the one that it was last recorded in; 0: it was not
  std::vector<std::uint32_t> captured;
  Id captured_on = 0;  // the stream
  Id device = 0;

  // Notes that it was recorded on a stream outside of captures, behind the work in `behind`.
  void record(Id stream, Clock behind);
};

// Work that may still be running.
struct Pending {
  Id stream = 0;
  std::uint64_t tick = 0;
  std::vector<ByteRange> ranges;
  std::optional<Id> exec;  // none: eager work

  // Whether something with that clock comes after this work.
  [[nodiscard]] bool before(const Clock& clock) const;
};

struct StreamsState {
  std::map<Id, StreamState> known;
  std::vector<Pending> pending;

  [[nodiscard]] const StreamState* find(Id stream) const;
  [[nodiscard]] bool alive(Id stream) const;
  [[nodiscard]] Id device_of(Id stream) const;
  // The launches that a launch on `stream` would come behind.
  [[nodiscard]] Clock launch_clock(Id stream) const;
  // Whether some pending work that does not come before `clock` conflicts with these ranges.
  [[nodiscard]] bool unordered_conflict(const std::vector<ByteRange>& ranges, const Clock& clock) const;

  // The stream was given something.
  StreamState& occupy(Id stream);
  void give_work(Id stream, std::vector<ByteRange> ranges, std::optional<Id> exec);
  // Whatever comes before `clock` is over.
  void finish(const Clock& clock);
  // Somebody has waited for the stream. HIP's header, hipStreamSynchronize: the null stream's end is that of every
  // stream of the device that it is ordered with.
  void wait_for(Id stream);
};

struct EventsState {
  std::map<Id, EventState> known;

  [[nodiscard]] const EventState* find(Id event) const;
  [[nodiscard]] Id device_of(Id event) const;
  // `clock`, joined with the work behind which each of these events was recorded.
  [[nodiscard]] Clock behind(const Clock& clock, const std::vector<Id>& events) const;
};

}  // namespace verify
