// The family of commands about events: declaring and recording them, and letting streams wait for them.
#pragma once

#include "verify/commands/fields.h"

namespace verify {

// The scope of the release when an event is recorded (hipEventReleaseToDevice, hipEventReleaseToSystem). No order
// depends on it.
enum class EventRelease : std::uint8_t { kDefault, kDevice, kSystem };
inline constexpr std::array<std::string_view, 3> kReleaseWords = {"", "device", "system"};
struct DeclareEvent {
  Id event = 0;
  bool timing = false;
  bool blocking = false;
  EventRelease release = EventRelease::kDefault;
  Id device = 0;
  static constexpr auto spec() {
    return describe_command(
               "event", "An event. Without `timing` it is made with `hipEventDisableTiming`.", kDrawnByHand,
               kNoDeviation, NameField{&DeclareEvent::event, 'v', kIsNew},
               FlagKey{"timing", &DeclareEvent::timing, "event with timing"},
               FlagKey{"blocking", &DeclareEvent::blocking, "event that blocks"},
               ChoiceKey{"release", &DeclareEvent::release, kReleaseWords, "release", "event with a release"},
               field::device_key(&DeclareEvent::device, "event of another device"))
        .uncounted();
  }
  bool operator==(const DeclareEvent&) const = default;
};
struct RecordEvent {
  Id event = 0;
  Id stream = 0;
  static constexpr auto spec() {
    return describe_command(
        "record",
        "`hipEventRecord`. On a stream that captures, the event stands for the nodes that the stream's next "
        "node depends on.",
        kDrawnByHand, kDescribedByFields, NameField{&RecordEvent::event, 'v', meets("record", Leaves::kRecorded)},
        NameField{&RecordEvent::stream, 's', meets("record on", Leaves::kNothing)});
  }
  bool operator==(const RecordEvent&) const = default;
};
struct WaitEvent {
  Id stream = 0;
  Id event = 0;
  static constexpr auto spec() {
    return describe_command(
        "wait",
        "`hipStreamWaitEvent`. Where the event was recorded in a capture, the stream joins the capture: a "
        "fork when it takes part in none yet, a join when it does.",
        kDrawnByHand, kDescribedByFields, NameField{&WaitEvent::stream, 's', meets("wait", Leaves::kBehindAnEvent)},
        NameField{&WaitEvent::event, 'v', meets("wait for", Leaves::kWaitedFor)});
  }
  bool operator==(const WaitEvent&) const = default;
};
struct Elapsed {
  Id from = 0, to = 0;
  static constexpr auto spec() {
    return describe_command("elapsed", "`hipEventElapsedTime`. Its status is observed, not the time.", kDrawnByHand,
                            kDescribedByFields, NameField{&Elapsed::from, 'v', meets("elapsed", Leaves::kNothing)},
                            NameField{&Elapsed::to, 'v', meets("elapsed", Leaves::kNothing)});
  }
  bool operator==(const Elapsed&) const = default;
};

using EventsCommands = CommandList<DeclareEvent, RecordEvent, WaitEvent, Elapsed>;

}  // namespace verify
