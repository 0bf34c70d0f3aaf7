// The rules of the commands about failures.
#include "verify/commands/define_rules.h"
#include "verify/errors/error_cases.h"

namespace verify {

// ---- Fail

template <>
constexpr Traits kTraits<Fail>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
Reason check(const State&, const Fail& c) {
  if (c.nth == 0 || !c.function.starts_with("hip")) return "fail takes a count from 1 and a HIP function";
  return {};
}

template <>
void apply(State&, const Fail&) {}

// ---- BadCall

template <>
constexpr Traits kTraits<BadCall>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kAgain};

template <>
Reason check(const State& state, const BadCall& c) {
  if (find_error_case(c.function, c.error_case) == nullptr) return "there is no such case";
  if (!state.captures().empty()) return "bad calls make objects of their own, which open captures forbid";
  return {};
}

template <>
void apply(State&, const BadCall&) {}

// ---- FailBelow

template <>
constexpr Traits kTraits<FailBelow>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
Reason check(const State&, const FailBelow& c) {
  return c.nth == 0 ? Reason("calls are counted from 1") : Reason();
}

template <>
void apply(State& state, const FailBelow& c) {
  state.change().failing_below = c.call;
}

template struct Rules<Fail>;
template struct Rules<BadCall>;
template struct Rules<FailBelow>;

}  // namespace verify
