// Names of what a runner reports.
#include <fmt/format.h>

#include <array>

#include "verify/race/schedule_runner.h"

namespace verify::race {

std::string_view failure_name(FailureKind kind) {
  switch (kind) {
    case FailureKind::kNone:
      return "none";
    case FailureKind::kDataRace:
      return "data race";
    case FailureKind::kDeadlock:
      return "deadlock";
    case FailureKind::kLostWakeUp:
      return "lost wake-up";
    case FailureKind::kUseAfterFree:
      return "use after free";
    case FailureKind::kDoubleFree:
      return "double free";
    case FailureKind::kLeak:
      return "leak";
    case FailureKind::kInvariant:
      return "violated invariant";
    case FailureKind::kNotLinearizable:
      return "non-linearizable history";
    case FailureKind::kMisuse:
      return "misuse";
    case FailureKind::kEndless:
      return "endless schedule";
    case FailureKind::kCrash:
      return "crash";
    case FailureKind::kNotDeterministic:
      return "not deterministic";
  }
  return "?";
}

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kSpawn:
      return "starts";
    case Kind::kJoin:
      return "joins";
    case Kind::kYield:
      return "yields";
    case Kind::kLock:
      return "locks";
    case Kind::kTryLock:
      return "tries to lock";
    case Kind::kUnlock:
      return "unlocks";
    case Kind::kLockShared:
      return "locks (shared)";
    case Kind::kTryLockShared:
      return "tries to lock (shared)";
    case Kind::kUnlockShared:
      return "unlocks (shared)";
    case Kind::kWait:
      return "waits for";
    case Kind::kWaitTimed:
      return "waits a while for";
    case Kind::kWake:
      return "wakes from";
    case Kind::kNotifyOne:
      return "notifies one of";
    case Kind::kNotifyAll:
      return "notifies all of";
    case Kind::kLoad:
      return "loads";
    case Kind::kStore:
      return "stores to";
    case Kind::kExchange:
      return "exchanges";
    case Kind::kFence:
      return "fence";
    case Kind::kOnce:
      return "calls once";
    case Kind::kOnceDone:
      return "has called once";
    case Kind::kStep:
      return "";
    case Kind::kRead:
      return "reads";
    case Kind::kWrite:
      return "writes";
    case Kind::kDestroy:
      return "destroys";
  }
  return "?";
}

std::string place_name(const Where& where) {
  if (where.line() == 0) return {};
  std::string_view file = where.file_name();
  const std::size_t slash = file.rfind('/');
  if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return fmt::format("{}:{}", file, where.line());
}

std::string ScheduleRunner::object_name(std::uint32_t object) const {
  constexpr std::array<const char*, 7> kNames = {"mutex", "shared mutex", "condition", "atomic",
                                                 "once",  "cell",         "object"};
  if (object >= object_count_) return {};
  return fmt::format("{} {}", kNames.at(static_cast<std::size_t>(objects_[object].sort)), objects_[object].number);
}

}  // namespace verify::race
