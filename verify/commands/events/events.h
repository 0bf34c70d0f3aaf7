// The family of commands about events: declaring and recording them, and letting streams wait for them.
#pragma once

#include "verify/program/node_params.h"

namespace verify {

// What an event tells of when it is recorded (hipEventReleaseToDevice, hipEventReleaseToSystem): no order depends on
// it.
enum class EventRelease : std::uint8_t { kDefault, kDevice, kSystem };
struct DeclareEvent {
  Id event = 0;
  bool timing = false;
  bool blocking = false;
  EventRelease release = EventRelease::kDefault;
  Id device = 0;
  bool operator==(const DeclareEvent&) const = default;
};
struct RecordEvent {
  Id event = 0;
  Id stream = 0;
  bool operator==(const RecordEvent&) const = default;
};
struct WaitEvent {
  Id stream = 0;
  Id event = 0;
  bool operator==(const WaitEvent&) const = default;
};
struct Elapsed {
  Id from = 0, to = 0;
  bool operator==(const Elapsed&) const = default;
};

using EventsCommands = CommandList<DeclareEvent, RecordEvent, WaitEvent, Elapsed>;

}  // namespace verify
