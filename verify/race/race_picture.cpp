// Draws an interleaving as text, with a column for each thread.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "verify/race/race_file.h"

namespace verify::race {
namespace {

constexpr std::size_t kWidth = 52;  // characters in a column

std::string operation_text(const ScheduleRunner& runner, const Step& step) {
  std::string text;
  if (step.kind == Kind::kStep) {
    text = step.label == nullptr ? "" : step.label;
  } else if (step.kind == Kind::kSpawn || step.kind == Kind::kJoin) {
    text = fmt::format("{} thread {}", kind_name(step.kind), step.other);
  } else {
    text = fmt::format("{} {}", kind_name(step.kind), runner.object_name(step.object));
  }
  if (step.has_value) text += fmt::format(" = {}", static_cast<std::int64_t>(step.value));
  if (!step.result) text += step.kind == Kind::kWake ? " (time is up)" : " (no)";
  const std::string place = place_name(step.where);
  if (!place.empty() && step.kind != Kind::kSpawn) text += "  " + place;
  return text;
}

std::string step_text(const ScheduleRunner& runner, const Step& step) {
  switch (step.what) {
    case Step::What::kBegin: {
      const std::int32_t argument = static_cast<std::int32_t>(static_cast<std::uint32_t>(step.value));
      return argument < 0 ? fmt::format("{} {{", step.label) : fmt::format("{} {} {{", step.label, argument);
    }
    case Step::What::kEnd:
      return fmt::format("}} = {}", static_cast<std::int64_t>(step.value));
    default:
      return "  " + operation_text(runner, step);
  }
}

}  // namespace

std::string picture_of(const ScheduleRunner& runner, const Failure& failure) {
  const std::size_t threads = std::max<std::size_t>(runner.threads(), 1);
  // The threads of the plan, in its order; a system may have started threads of its own before them.
  std::vector<bool> calls(threads, false);
  for (const Step& step : runner.steps()) {
    if (step.what == Step::What::kBegin) calls[step.thread] = true;
  }
  std::string text;
  std::string header;
  for (std::size_t i = 0, client = 0; i < threads; ++i) {
    const std::string role = i == 0     ? "starts and joins"
                             : calls[i] ? fmt::format("the plan's thread {}", ++client)
                                        : "the system's own";
    header += fmt::format("{:<{}}", fmt::format("thread {} ({})", i, role), kWidth);
  }
  while (!header.empty() && header.back() == ' ') header.pop_back();
  text += header + "\n";
  for (const Step& step : runner.steps()) {
    std::string line = step_text(runner, step);
    const bool last = step.thread + 1U == threads;
    if (!last && line.size() >= kWidth) line = line.substr(0, kWidth - 4) + "...";
    text += std::string(step.thread * kWidth, ' ') + line + "\n";
  }
  if (failure.kind != FailureKind::kNone) text += fmt::format("{}: {}\n", failure_name(failure.kind), failure.message);
  return text;
}

}  // namespace verify::race
