#include "fuzz/race/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/report.h"
#include "verify/race/crash.h"
#include "verify/race/operators.h"
#include "verify/race/sanitizers.h"
#include "verify/race/scenario_body.h"
#include "verify/race/shrink_race.h"

namespace fuzz {
namespace {

using namespace verify::race;
using nlohmann::ordered_json;

enum Status : int { kClean = 0, kFound = 1, kUsage = 2, kHarness = 3, kInterrupted = 130 };

constexpr std::uint64_t kPctSchedules = 10'000;  // for one plan, if the options state no limit
constexpr std::uintmax_t kMaxFileBytes = 1 << 20;

volatile std::sig_atomic_t interrupted = 0;

int complain(const std::string& message) {
  std::cerr << "hgcheck: " << message << "\n";
  return kUsage;
}

bool has_fault(const Scenario& scenario, const std::string& fault) {
  return std::ranges::find(scenario.faults, fault) != scenario.faults.end();
}

bool write_file(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text << std::flush;
    return static_cast<bool>(std::cout);
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return static_cast<bool>(file);
}

// One run of the command over the plans that were asked for.
class Hunt {
 public:
  explicit Hunt(const RaceCommand& command) : command_(command) {}

  int run() {
    std::vector<std::pair<const Scenario*, const NamedPlan*>> plans;
    for (const Scenario& scenario : scenarios()) {
      if (!command_.scenario.empty() && scenario.name != command_.scenario) continue;
      if (!command_.fault.empty() && !has_fault(scenario, command_.fault)) continue;
      for (const NamedPlan& plan : scenario.plans) plans.emplace_back(&scenario, &plan);
    }
    for (std::size_t i = 0; i < plans.size() && interrupted == 0; ++i) {
      explore_plan(*plans[i].first, *plans[i].second, plans.size() - i);
      if (!command_.fault.empty() && found_ != 0) break;  // the fault is found
    }
    return finish();
  }

 private:
  // Divides the time evenly among the plans that are left.
  [[nodiscard]] ExploreOptions options_for(std::size_t plans_left, const std::string& name) const {
    ExploreOptions options = command_.explore;
    if (options.seconds > 0) {
      options.seconds = std::max(0.01, (options.seconds - seconds_) / static_cast<double>(plans_left));
    }
    if (options.mode == Mode::kPct && options.schedules == 0 && options.seconds <= 0) options.schedules = kPctSchedules;
    const bool tells = isatty(STDERR_FILENO) == 1 && !command_.quiet;
    options.progress = [tells, name](const Progress& now) {
      if (tells) {
        const std::string share = now.share < 0 ? "" : fmt::format(", {:.1f} % explored", 100 * now.share);
        std::cerr << fmt::format("\r{}: {} schedules, {:.0f} a second{}    ", name, now.schedules,
                                 static_cast<double>(now.schedules) / now.seconds, share)
                  << std::flush;
      }
      return interrupted == 0;
    };
    return options;
  }

  void explore_plan(const Scenario& scenario, const NamedPlan& plan, std::size_t plans_left) {
    const std::string name = fmt::format("{} ({})", scenario.name, plan.name);
    ScenarioBody body(scenario, command_.fault, plan.plan);
    const Exploration result = explore(runner_, body, options_for(plans_left, name));
    if (isatty(STDERR_FILENO) == 1 && !command_.quiet) std::cerr << "\r\033[K";
    schedules_ += result.schedules;
    seconds_ += result.seconds;
    harness_error_ = harness_error_ || result.failure.kind == FailureKind::kNotDeterministic;
    if (!command_.quiet) std::cout << summary(name, result) << std::flush;
    report_.plans.push_back({std::string(scenario.name), std::string(plan.name), explored(result), result.schedules,
                             result.seconds, result.choices, result.threads,
                             result.failure.kind != FailureKind::kNone});
    ordered_json row = row_of(scenario, plan, result);
    if (result.failure.kind != FailureKind::kNone) report_finding(scenario, plan, result);
    rows_.push_back(std::move(row));
  }

  // How far the plan was explored, in words.
  [[nodiscard]] std::string explored(const Exploration& result) const {
    if (command_.explore.mode == Mode::kPct) {
      return fmt::format(
          "PCT, a defect of depth {} shows with probability >= {:.2g} a schedule (1/(n*k^(d-1)), n={}, k={})",
          command_.explore.depth, result.probability, result.threads, result.choices);
    }
    if (!result.complete) {
      return fmt::format("{:.1f} % of those of {} preemptions", 100 * result.share, command_.explore.bound);
    }
    return result.all_schedules ? "every schedule"
                                : fmt::format("every schedule of {} preemptions", command_.explore.bound);
  }

  [[nodiscard]] std::string summary(const std::string& name, const Exploration& result) const {
    return fmt::format("{:<34} {:>9} schedules {:>7.2f} s {:>8.0f}/s  up to {} choices; {}{}\n", name, result.schedules,
                       result.seconds, static_cast<double>(result.schedules) / std::max(result.seconds, 1e-9),
                       result.choices, explored(result), result.failure.kind == FailureKind::kNone ? "" : "; FAILS");
  }

  [[nodiscard]] ordered_json row_of(const Scenario& scenario, const NamedPlan& plan, const Exploration& result) const {
    ordered_json row = {{"scenario", scenario.name},     {"plan", plan.name},
                        {"schedules", result.schedules}, {"seconds", result.seconds},
                        {"complete", result.complete},   {"all_schedules", result.all_schedules},
                        {"choices", result.choices},     {"threads", result.threads}};
    if (result.share >= 0) row["share"] = result.share;
    if (command_.explore.mode == Mode::kPct) row["probability"] = result.probability;
    return row;
  }

  void report_finding(const Scenario& scenario, const NamedPlan& plan, const Exploration& result) {
    ++found_;
    const ShrunkRace small =
        shrink_race(runner_, RaceFile{&scenario, command_.fault, plan.plan, result.failed_choices, {}, {}});
    ScenarioBody body(scenario, command_.fault, small.race.plan);
    const Failure failure = replay(runner_, body, small.race.choices, nullptr);
    const std::string text = print_race(small.race);
    const std::string id =
        fmt::format("{}-{}{}", small.race.property, scenario.name, command_.fault.empty() ? "" : "-" + command_.fault);
    std::string file;
    if (!command_.report.empty()) {
      file = (std::filesystem::path(command_.report) / (id + ".program")).string();
      if (!write_file(file, text)) std::cerr << fmt::format("hgcheck: {} cannot be written\n", file);
    }
    std::cout << fmt::format("\n{} {}: {}\n", small.race.property, failure_name(failure.kind), failure.message)
              << fmt::format(
                     "shown after {} schedules ({:.3f} s); {} threads, {} calls, {} preemptions, {} switches\n\n",
                     result.failed_schedule, result.failed_after, small.threads, small.calls, small.preemptions,
                     small.switches)
              << text << "\n"
              << picture_of(runner_, failure) << "\n";
    if (!file.empty()) std::cout << fmt::format("replay: hgcheck replay {}\n\n", file);
    report_.findings.push_back({.id = id,
                                .property = small.race.property,
                                .failure = std::string(failure_name(failure.kind)),
                                .scenario = std::string(scenario.name),
                                .summary = failure.message,
                                .program_text = text,
                                .program_path = file,
                                .replay = file.empty() ? "" : "hgcheck replay " + file,
                                .interleaving = picture_of(runner_, failure),
                                .threads = small.threads,
                                .calls = small.calls,
                                .preemptions = small.preemptions,
                                .switches = small.switches,
                                .found_after = result.failed_schedule,
                                .found_in = result.failed_after});
    findings_.push_back({{"id", id},
                         {"property", small.race.property},
                         {"failure", failure_name(failure.kind)},
                         {"fault", command_.fault},
                         {"scenario", scenario.name},
                         {"program", file},
                         {"text", text},
                         {"threads", small.threads},
                         {"calls", small.calls},
                         {"preemptions", small.preemptions},
                         {"switches", small.switches},
                         {"schedules", result.failed_schedule},
                         {"seconds", result.failed_after},
                         {"replay", file.empty() ? "" : "hgcheck replay " + file},
                         {"summary", failure.message}});
  }

  [[nodiscard]] int finish() {
    const double rate = static_cast<double>(schedules_) / std::max(seconds_, 1e-9);
    std::cout << fmt::format("{} schedules in {:.2f} s ({:.0f} a second), {} of {} plans fail\n", schedules_, seconds_,
                             rate, found_, rows_.size());
    if (!command_.fault.empty()) {
      std::cout << fmt::format("fault {} is {}\n", command_.fault, found_ != 0 ? "found" : "not found");
    }
    if (!command_.json.empty()) {
      const bool pct = command_.explore.mode == Mode::kPct;
      ordered_json json = {{"version", command_.version}, {"explore", pct ? "pct" : "exhaustive"}};
      json[pct ? "depth" : "bound"] = pct ? command_.explore.depth : command_.explore.bound;
      json["seed"] = command_.explore.seed;
      json["fault"] = command_.fault;
      json["schedules"] = schedules_;
      json["seconds"] = seconds_;
      json["schedules_per_second"] = rate;
      json["scenarios"] = rows_;
      json["findings"] = findings_;
      if (!write_file(command_.json, json.dump(2) + "\n")) {
        return complain(fmt::format("--json: {} cannot be written", command_.json));
      }
    }
    if (!command_.report.empty() && !write_page()) return kUsage;
    if (interrupted != 0) return kInterrupted;
    if (harness_error_) return kHarness;
    return found_ != 0 ? kFound : kClean;
  }

  [[nodiscard]] bool write_page() {
    const bool pct = command_.explore.mode == Mode::kPct;
    report_.version = command_.version;
    report_.explore = pct ? fmt::format("PCT, depth {}, seed {}", command_.explore.depth, command_.explore.seed)
                          : fmt::format("exhaustive, {} preemptions", command_.explore.bound);
    report_.fault = command_.fault;
    report_.schedules = schedules_;
    report_.seconds = seconds_;
    report_.interrupted = interrupted != 0;
    const hip::Status written = reports::write_report(report_, command_.report);
    if (!written) return (void)complain(written.error().message), false;
    std::cout << fmt::format("report: {}\n", (std::filesystem::path(command_.report) / "races.html").string());
    return true;
  }

  const RaceCommand& command_;
  ScheduleRunner runner_;
  verify::RaceResult report_;
  std::uint64_t schedules_ = 0;
  double seconds_ = 0;
  std::uint64_t found_ = 0;
  bool harness_error_ = false;
  ordered_json rows_ = ordered_json::array();
  ordered_json findings_ = ordered_json::array();
};

void prepare() {
  if (count_memory()) catch_crashes();
}

hip::Result<RaceFile> load(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return hip::Error{1, fmt::format("{} cannot be read: {}", path, error.message())};
  if (size > kMaxFileBytes) return hip::Error{1, fmt::format("{} is larger than a race file may be", path)};
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return hip::Error{1, fmt::format("{} cannot be read", path)};
  hip::Result<RaceFile> race = parse_race(text.str());
  if (!race) return hip::Error{1, fmt::format("{}: {}", path, race.error().message)};
  return race;
}

}  // namespace

int run(const RaceCommand& command) {
  prepare();
  if (!command.scenario.empty() && find_scenario(command.scenario) == nullptr) {
    std::string names;
    for (const Scenario& scenario : scenarios()) names += fmt::format(" {}", scenario.name);
    return complain(fmt::format("there is no scenario '{}'; there are:{}", command.scenario, names));
  }
  if (!command.fault.empty()) {
    std::string where;
    for (const Scenario& scenario : scenarios()) {
      if (has_fault(scenario, command.fault)) where += fmt::format(" {}", scenario.name);
    }
    if (where.empty()) {
      return complain(
          fmt::format("no scenario has fault {}; 'hgcheck race --list' says which there are", command.fault));
    }
    if (!command.scenario.empty() && !has_fault(*find_scenario(command.scenario), command.fault)) {
      return complain(
          fmt::format("fault {} does not belong to scenario {}, but to:{}", command.fault, command.scenario, where));
    }
  }
  if (!command.report.empty()) {
    std::error_code error;
    std::filesystem::create_directories(command.report, error);
    if (error) return complain(fmt::format("--report: {} cannot be made: {}", command.report, error.message()));
  }
  std::signal(SIGINT, [](int) { interrupted = 1; });
  return Hunt(command).run();
}

int run(const RaceReplayCommand& command) {
  prepare();
  const hip::Result<RaceFile> race = load(command.file);
  if (!race) return complain(race.error().message);
  ScheduleRunner runner;
  ScenarioBody body(*race.value().scenario, race.value().fault, race.value().plan);
  std::uint32_t different = 0;
  bool as_recorded = true;
  warm_up(runner, body);
  const Failure first = replay(runner, body, race.value().choices, &as_recorded);
  const std::string picture = picture_of(runner, first);
  for (std::uint32_t i = 1; i < command.times; ++i) {
    const Failure& again = replay(runner, body, race.value().choices, nullptr);
    if (again.kind != first.kind || again.message != first.message || picture_of(runner, again) != picture) ++different;
  }
  std::cout << picture;
  if (!as_recorded) std::cout << "the schedule is not possible any more: it was followed as far as it is\n";
  if (command.times > 1) std::cout << fmt::format("{} replays, {} of them differ\n", command.times, different);
  const bool shows = first.kind != FailureKind::kNone;
  const std::string_view property = shows ? property_of(*race.value().scenario, first) : "";
  std::cout << (shows ? fmt::format("diverges: {} {}\n", property, failure_name(first.kind)) : "agrees\n");
  if (!command.json.empty()) {
    const ordered_json json = {{"file", command.file},     {"verdict", shows ? "diverge" : "agree"},
                               {"property", property},     {"failure", failure_name(first.kind)},
                               {"summary", first.message}, {"as_recorded", as_recorded},
                               {"replays", command.times}, {"different", different}};
    if (!write_file(command.json, json.dump(2) + "\n")) {
      return complain(fmt::format("--json: {} cannot be written", command.json));
    }
  }
  if (different != 0) return kHarness;
  return shows ? kFound : kClean;
}

int check_race(const std::string& file) {
  const hip::Result<RaceFile> race = load(file);
  if (!race) return complain(race.error().message);
  std::cout << fmt::format("{}: a race file of scenario {}, {} choices, valid\n", file, race.value().scenario->name,
                           race.value().choices.size());
  return kClean;
}

int list_scenarios() {
  for (const Scenario& scenario : scenarios()) {
    std::string faults;
    for (const std::string_view fault : scenario.faults) faults += fmt::format(" {}", fault);
    std::cout << fmt::format("{:<16} {}{}\n", scenario.name, scenario.summary,
                             faults.empty() ? "" : "; faults" + faults);
    for (const NamedPlan& plan : scenario.plans) std::cout << fmt::format("{:<16}   {}\n", "", plan.name);
  }
  return kClean;
}

}  // namespace fuzz
