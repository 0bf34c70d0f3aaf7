// The failures of a schedule.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace verify::race {

enum class FailureKind : std::uint8_t {
  kNone,
  kDataRace,
  kDeadlock,
  kLostWakeUp,
  kUseAfterFree,
  kDoubleFree,
  kLeak,
  kInvariant,
  kNotLinearizable,
  kMisuse,   // wrong use of hip::sync
  kEndless,  // more steps than a schedule may have
  kCrash,
  kNotDeterministic,  // the same choices led to another schedule
};
[[nodiscard]] std::string_view failure_name(FailureKind kind);

struct Failure {
  FailureKind kind = FailureKind::kNone;
  std::string property;  // the property that the scenario names for it, or empty
  std::string message;   // the same in every run of the same schedule
};

}  // namespace verify::race
