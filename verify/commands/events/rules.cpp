// The rules of the commands about events.
#include <fmt/format.h>

#include <algorithm>

#include "verify/commands/captures/answers.h"
#include "verify/commands/define_rules.h"

namespace verify {

// ---- DeclareEvent

template <>
constexpr Traits kTraits<DeclareEvent>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen,
                                       kNamesDevices,   kTwice,    kOnce};

template <>
Reason check(const State& state, const DeclareEvent& c) {
  if (state.parts().events.find(c.event) != nullptr) return fmt::format("v{} is declared already", c.event);
  return unknown_device(c.device);
}

template <>
Id highest_device(const DeclareEvent& c) {
  return c.device;
}

template <>
void apply(State& state, const DeclareEvent& c) {
  EventState event;
  event.alive = true;
  event.timing = c.timing;
  event.device = c.device;
  state.change().events.known[c.event] = std::move(event);
}

// ---- RecordEvent

template <>
constexpr Traits kTraits<RecordEvent>{kLegalInCapture, kNotesRefusal, kNeverRefused, kNothingSeen,
                                      kNoDevice,       kTwice,        kAgain};

static bool of_other_device(const State& state, const RecordEvent& c) {
  return state.device_of_event(c.event) != state.device_of_stream(c.stream);
}

template <>
Reason check(const State& state, const RecordEvent& c) {
  if (Reason reason = state.missing_event(c.event)) return reason;
  if (Reason reason = state.missing_stream(c.stream)) return reason;
  if (state.capture_of(c.stream) == nullptr || !of_other_device(state, c)) return {};
  return "what a capture does with an event of another device is not documented";
}

// HIP, multi-device management: an event is recorded on streams of its own device.
template <>
CaptureAnswer answer(const State& state, const RecordEvent& c) {
  CaptureAnswer answer = answer_to_work(state, c.stream);
  return answer.status == 0 && of_other_device(state, c) ? refuse(kAnswerInvalidHandle) : answer;
}

template <>
void apply(State& state, const RecordEvent& c) {
  StateParts& parts = state.change();
  EventState& event = parts.events.known.at(c.event);
  event.told_on = c.stream;
  if (const CaptureState* capture = state.capture_of(c.stream)) {
    event.capture = capture->serial;
    event.captured = capture->behind.at(c.stream);
    event.captured_on = c.stream;
    event.had_nodes |= !event.captured.empty();
    event.external = false;
    return;
  }
  const std::uint64_t tick = parts.streams.occupy(c.stream).clock.at(c.stream);
  event.record(c.stream, parts.streams.launch_clock(c.stream), tick);
}

template <>
void apply_refused(State& state, const RecordEvent& c, int) {
  state.change().events.known.at(c.event).told_on = c.stream;
}

// ---- WaitEvent

template <>
constexpr Traits kTraits<WaitEvent>{kLegalInCapture, kAnswers, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kAgain};

template <>
Reason check(const State& state, const WaitEvent& c) {
  if (Reason reason = state.missing_event(c.event)) return reason;
  return state.missing_stream(c.stream);
}

template <>
CaptureAnswer answer(const State& state, const WaitEvent& c) {
  const CaptureState* capture = state.capture_of(c.stream);
  if (capture == nullptr) {
    if (CaptureAnswer refused = answer_to_null_stream(state, c.stream); refused.status != 0) return refused;
  }
  const EventState* event = state.parts().events.find(c.event);
  if (event == nullptr || (event->capture == 0 && (capture == nullptr || !event->recorded))) return {};
  const CaptureState* of_event = state.parts().captures.with_serial(event->capture);
  if (of_event == nullptr) {
    const int status = event->capture != 0 ? kAnswerCapturedEvent : kAnswerIsolation;
    return capture == nullptr ? refuse(status) : invalidate(status, *capture);
  }
  if (capture != nullptr && capture != of_event) return {kAnswerMerge, {capture->serial, of_event->serial}};
  if (!of_event->valid) return refuse(kAnswerInvalidated);
  return c.stream == kNullStream ? invalidate(kAnswerImplicit, *of_event) : CaptureAnswer{};
}

// When a stream waits for an event, AMD's pools treat the stream as ordered behind frees on the event's stream after
// the record, and hand that memory out again (docs/findings.md, on stream-ordered memory).
static void note_given_again(State& state, const WaitEvent& c, const EventState& event) {
  const std::optional<Id> told = event.told_on;
  if (!told || *told == kNullStream || state.device_of_stream(*told) != state.device_of_stream(c.stream)) return;
  for (auto& [id, buffer] : state.change().memory.buffers) {
    if (buffer.given_again_on.contains(*told)) buffer.given_again_on.insert(c.stream);
  }
}

template <>
void apply(State& state, const WaitEvent& c) {
  StateParts& parts = state.change();
  const EventState& event = parts.events.known.at(c.event);
  if (CaptureState* of_event = parts.captures.with_serial(event.capture)) {
    add_sorted(of_event->behind[c.stream], event.captured);
    return;
  }
  if (state.capture_of(c.stream) != nullptr) return;  // the event was never recorded: there is nothing to wait for
  StreamState& stream = parts.streams.occupy(c.stream);
  for (const auto& [id, tick] : event.clock) {
    std::uint64_t& known = stream.clock[id];
    known = std::max(known, tick);
  }
  note_given_again(state, c, event);
}

// ---- Elapsed

template <>
constexpr Traits kTraits<Elapsed>{kLegalInCapture, kAnswers, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
Reason check(const State& state, const Elapsed& c) {
  for (const Id id : {c.from, c.to}) {
    if (Reason reason = state.missing_event(id)) return reason;
    const EventState& event = *state.parts().events.find(id);
    if (event.capture != 0) return fmt::format("v{} was recorded in a capture last", id);
    if (!state.event_over(id)) return fmt::format("whether v{} is over is a matter of time: synchronise first", id);
  }
  return {};
}

template <>
CaptureAnswer answer(const State& state, const Elapsed& c) {
  for (const Id id : {c.from, c.to}) {
    const EventState* event = state.parts().events.find(id);
    if (event != nullptr && (!event->timing || !event->recorded)) return refuse(kAnswerInvalidHandle);
  }
  return refuse(state.device_of_event(c.from) == state.device_of_event(c.to) ? kAnswerSuccess : kAnswerInvalidHandle);
}

template <>
void apply(State&, const Elapsed&) {}

template struct Rules<DeclareEvent>;
template struct Rules<RecordEvent>;
template struct Rules<WaitEvent>;
template struct Rules<Elapsed>;

}  // namespace verify
