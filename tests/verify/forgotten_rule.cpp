// A command with every part of its rules, and switches that leave out one part, or have its row ask for no part.
// tests/verify/CMakeLists.txt compiles it with one switch at a time and expects an error that names the part. It is
// never linked.
#include "verify/commands/define_rules.h"

namespace verify {

struct Forgotten {};

#ifdef ASKED_FOR_NOTHING
template <>
constexpr Traits kTraits<Forgotten>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};
#elif !defined(WITHOUT_kTraits)
template <>
constexpr Traits kTraits<Forgotten>{kCheckInCapture, kNotesRefusal, kSometimesRefusable, kSeen,
                                    kNamesDevices,   kTwice,        kSometimesAgain};
#endif
#ifndef WITHOUT_check
template <>
Reason check(const State&, const Forgotten&) {
  return {};
}
#endif
#ifndef WITHOUT_check_in_capture
template <>
Reason check_in_capture(const State&, const Forgotten&) {
  return {};
}
#endif
#ifndef WITHOUT_answer
template <>
CaptureAnswer answer(const State&, const Forgotten&) {
  return {};
}
#endif
#ifndef WITHOUT_apply
template <>
void apply(State&, const Forgotten&) {}
#endif
#ifndef WITHOUT_apply_refused
template <>
void apply_refused(State&, const Forgotten&, int) {}
#endif
#ifndef WITHOUT_may_be_refused
template <>
bool may_be_refused(const State&, const Forgotten&) {
  return false;
}
#endif
#ifndef WITHOUT_seen
template <>
std::string seen(const State&, const Forgotten&) {
  return {};
}
#endif
#ifndef WITHOUT_highest_device
template <>
Id highest_device(const Forgotten&) {
  return 0;
}
#endif

#ifndef WITHOUT_may_stand_again
template <>
bool may_stand_again(const State&, const Forgotten&) {
  return false;
}
#endif

template struct Rules<Forgotten>;

}  // namespace verify
