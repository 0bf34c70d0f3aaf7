// The options of `hgcheck race`. hgcheck-race parses them; hgcheck has them in its manual page and its completions.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace fuzz {

struct RaceOptions {
  std::string scenario, explore = "exhaustive", fault, json, report, library;
  std::uint32_t bound = 2, depth = 3, ranks = 2;
  std::uint64_t seed = 1, schedules = 0;
  double seconds = 0;
  bool quiet = false, list = false;
};

inline CLI::App* add_race(CLI::App& app, RaceOptions& race) {
  CLI::App* const hunt = app.add_subcommand("race", "Explore the schedules of threads that share a system");
  CLI::Option* const scenario = hunt->add_option("--scenario", race.scenario, "Only this one ('--list' lists them)");
  CLI::Option* const explore =
      hunt->add_option("--explore", race.explore, "exhaustive: every schedule within a bound; pct: random priorities")
          ->check(CLI::IsMember({"exhaustive", "pct"}))
          ->capture_default_str();
  hunt->add_option("--bound", race.bound, "Preemptions of a schedule (exhaustive)")
      ->check(CLI::Range(0U, 1000U))
      ->capture_default_str();
  CLI::Option* const depth =
      hunt->add_option("--depth", race.depth, "Of the defects looked for: change points and one (pct)")
          ->check(CLI::Range(1U, 32U))
          ->capture_default_str();
  CLI::Option* const schedules = hunt->add_option("--schedules", race.schedules, "At most, of each plan")
                                     ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 48U));
  hunt->add_option("--seconds", race.seconds, "At most, altogether")->check(CLI::Range(0.01, 1e8))->excludes(schedules);
  CLI::Option* const seed =
      hunt->add_option("--seed", race.seed, "Of the random priorities (pct)")->capture_default_str();
  CLI::Option* const fault = hunt->add_option("--fault", race.fault, "Switch on a known defect");
  hunt->add_option("--json", race.json, "File for the result as JSON ('-': standard output)");
  CLI::Option* const report = hunt->add_option("--report", race.report, "Folder for the findings' programs");
  hunt->add_flag("--quiet", race.quiet, "Findings and the verdict only");
  CLI::Option* const list = hunt->add_flag("--list", race.list, "List the scenarios, their plans and their faults");
  CLI::Option* const library = hunt->add_option("--library", race.library,
                                                "Ranks that share this library of a client (patcher_abi.h, version 2)");
  for (CLI::Option* const other : {scenario, explore, depth, seed, fault, report, list}) library->excludes(other);
  hunt->add_option("--ranks", race.ranks, "That share the library")
      ->check(CLI::Range(2U, 4U))
      ->capture_default_str()
      ->needs(library);
  return hunt;
}

}  // namespace fuzz
