// A family's rules.cpp writes this down for each of its commands C:
//
//   kTraits<C>                a row that answers every question, if only by 'this depends on the state'
//   check<C>                  why the command may not stand; the row adds the refusals by open captures
//   apply<C>                  its effect
//   the functions that the row names
//   template struct Rules<C>  makes the rules known to verify::State
//
// A part that is missing is an error of the compiler: the functions are deleted, and kTraits has no value, until a
// family specialises them. Rules<C> that no family defines are an error of the linker. tests/verify/forgotten_rule.cpp
// holds the compiler to that.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "verify/program/rules.h"

namespace verify {

// Whether the command may stand while some stream captures.
enum class InCapture : std::uint8_t {
  kLegalInCapture,
  kMemoryCall,      // no: it changes memory by several calls, of which HIP would refuse some
  kGraphChange,     // no: a strategy may wait for the device to carry out the command
  kCheckInCapture,  // check_in_capture<C> says
};
// HIP's answer while some stream captures.
enum class Answer : std::uint8_t {
  kSucceeds,      // success
  kAnswers,       // answer<C> says; a command that is refused has no effect
  kNotesRefusal,  // answer<C> says; apply_refused<C> is the effect of a command that is refused
};
// Whether the runtime may refuse the command for reasons other than captures.
enum class Refusal : std::uint8_t {
  kNeverRefused,
  kAlwaysRefusable,
  kSometimesRefusable,  // may_be_refused<C> says
};
// Whether the command has a determined answer besides its status.
enum class Seen : std::uint8_t {
  kNothingSeen,
  kSeen,  // seen<C> says
};
enum class Devices : std::uint8_t {
  kNoDevice,
  kNamesDevices,  // highest_device<C> says
};
// Whether a command that may stand twice may stand any number of times with no new effect (P8).
enum class Again : std::uint8_t {
  kOnce,  // it makes, ends or answers something that it cannot make, end or answer again
  kAgain,
  kSometimesAgain,  // may_stand_again<C> says
};
using enum InCapture;
using enum Answer;
using enum Refusal;
using enum Seen;
using enum Devices;
using enum Again;

// How many repetitions of a command differ from each other.
inline constexpr std::uint32_t kTwice = 2;  // from the second time on it has the same effect
inline constexpr std::uint32_t kEachTime = std::numeric_limits<std::uint32_t>::max();

struct Traits {
  consteval Traits(InCapture in_capture_, Answer answer_, Refusal refusal_, Seen seen_, Devices devices_,
                   std::uint32_t repeats_, Again again_)
      : in_capture(in_capture_),
        answer(answer_),
        refusal(refusal_),
        seen(seen_),
        devices(devices_),
        repeats(repeats_),
        again(again_) {}
  InCapture in_capture;
  Answer answer;
  Refusal refusal;
  Seen seen;
  Devices devices;
  std::uint32_t repeats;
  Again again;
};

template <class C>
extern const Traits kTraits;
template <class C>
Reason check(const State& state, const C& c) = delete;
template <class C>
Reason check_in_capture(const State& state, const C& c) = delete;
template <class C>
CaptureAnswer answer(const State& state, const C& c) = delete;
template <class C>
void apply(State& state, const C& c) = delete;
template <class C>
void apply_refused(State& state, const C& c, int status) = delete;
template <class C>
bool may_be_refused(const State& state, const C& c) = delete;
template <class C>
std::string seen(const State& state, const C& c) = delete;
template <class C>
Id highest_device(const C& c) = delete;
template <class C>
bool may_stand_again(const State& state, const C& c) = delete;

// Each function below calls the functions that the row names. It asserts that the family defines no function that the
// row does not name, because nothing would call that function.

template <class C>
Reason Rules<C>::check(const State& state, const C& c) {
  static_assert(
      kTraits<C>.in_capture == kCheckInCapture || !requires { verify::check_in_capture<C>(state, c); },
      "the row says that check_in_capture is not asked");
  if (Reason reason = verify::check<C>(state, c)) return reason;
  if (state.captures().empty()) return {};
  if constexpr (kTraits<C>.in_capture == kCheckInCapture) return verify::check_in_capture<C>(state, c);
  if constexpr (kTraits<C>.in_capture == kMemoryCall)
    return "memory stays as it is while a stream captures: its calls are 'unsafe'";
  if constexpr (kTraits<C>.in_capture == kGraphChange) return "graphs are not changed while a stream captures";
  return {};
}

template <class C>
CaptureAnswer Rules<C>::answer(const State& state, const C& c) {
  static_assert(
      kTraits<C>.answer != kSucceeds || !requires { verify::answer<C>(state, c); },
      "the row says that answer is not asked");
  if constexpr (kTraits<C>.answer != kSucceeds) return verify::answer<C>(state, c);
  return {};
}

template <class C>
void Rules<C>::apply(State& state, const C& c) {
  static_assert(
      kTraits<C>.answer == kNotesRefusal || !requires { verify::apply_refused<C>(state, c, 0); },
      "the row says that apply_refused is not called");
  const CaptureAnswer answer = Rules<C>::answer(state, c);
  state.change().captures.invalidate(answer.invalidates);
  if (answer.status == kAnswerSuccess) return verify::apply<C>(state, c);
  if constexpr (kTraits<C>.answer == kNotesRefusal) verify::apply_refused<C>(state, c, answer.status);
}

template <class C>
bool Rules<C>::may_be_refused(const State& state, const C& c) {
  static_assert(
      kTraits<C>.refusal == kSometimesRefusable || !requires { verify::may_be_refused<C>(state, c); },
      "the row says that may_be_refused is not asked");
  if constexpr (kTraits<C>.refusal == kAlwaysRefusable) return true;
  if constexpr (kTraits<C>.refusal == kSometimesRefusable) {
    if (verify::may_be_refused<C>(state, c)) return true;
  }
  return Rules<C>::answer(state, c).status != kAnswerSuccess;
}

template <class C>
std::string Rules<C>::seen(const State& state, const C& c) {
  static_assert(
      kTraits<C>.seen == kSeen || !requires { verify::seen<C>(state, c); }, "the row says that seen is not asked");
  if constexpr (kTraits<C>.seen == kSeen) {
    if (Rules<C>::answer(state, c).status == kAnswerSuccess) return verify::seen<C>(state, c);
  }
  return {};
}

template <class C>
Id Rules<C>::highest_device(const C& c) {
  static_assert(
      kTraits<C>.devices == kNamesDevices || !requires { verify::highest_device<C>(c); },
      "the row says that highest_device is not asked");
  if constexpr (kTraits<C>.devices == kNamesDevices) return verify::highest_device<C>(c);
  return 0;
}

template <class C>
bool Rules<C>::may_stand_again(const State& state, const C& c) {
  static_assert(
      kTraits<C>.again == kSometimesAgain || !requires { verify::may_stand_again<C>(state, c); },
      "the row says that may_stand_again is not asked");
  if constexpr (kTraits<C>.again == kSometimesAgain) return verify::may_stand_again<C>(state, c);
  return kTraits<C>.again == kAgain;
}

template <class C>
std::uint32_t Rules<C>::repeats_that_matter(std::uint32_t repeats) {
  return std::min(repeats, kTraits<C>.repeats);
}

}  // namespace verify
