// The names in a runner's reports: of failures, operations, places and objects.
#include <fmt/format.h>

#include <array>

#include "verify/race/schedule_runner.h"

namespace verify::race {

std::string_view failure_name(FailureKind kind) {
  static constexpr std::string_view kNames[] = {"none",
                                                "data race",
                                                "deadlock",
                                                "lost wake-up",
                                                "use after free",
                                                "double free",
                                                "leak",
                                                "violated invariant",
                                                "non-linearizable history",
                                                "misuse",
                                                "endless schedule",
                                                "crash",
                                                "not deterministic"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(FailureKind::kNotDeterministic) + 1);
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view kind_name(Kind kind) {
  static constexpr std::string_view kNames[] = {"starts",
                                                "joins",
                                                "yields",
                                                "locks",
                                                "tries to lock",
                                                "unlocks",
                                                "locks (shared)",
                                                "tries to lock (shared)",
                                                "unlocks (shared)",
                                                "waits for",
                                                "waits a while for",
                                                "wakes from",
                                                "notifies one of",
                                                "notifies all of",
                                                "loads",
                                                "stores to",
                                                "exchanges",
                                                "fence",
                                                "calls once",
                                                "has called once",
                                                "",
                                                "reads",
                                                "writes",
                                                "destroys"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Kind::kDestroy) + 1);
  return kNames[static_cast<std::size_t>(kind)];
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
