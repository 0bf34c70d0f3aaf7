// hgcheck-race: the command line of command.h.
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>

#include "fuzz/race/command.h"

#ifndef HGCHECK_VERSION
#error "the build defines HGCHECK_VERSION"
#endif

int main(int argc, char** argv) {
  using verify::race::Mode;
  CLI::App app{"Explores the schedules of scenarios: every one within a bound, or random ones", "hgcheck"};
  app.require_subcommand(1);
  fuzz::RaceCommand race;
  race.version = HGCHECK_VERSION;
  bool list = false;
  CLI::App* const hunt = app.add_subcommand("race", "Explore the schedules of threads that share a system");
  hunt->add_option("--scenario", race.scenario, "Only this one ('--list' lists them)");
  hunt->add_option("--explore", race.explore.mode, "exhaustive: every schedule within a bound; pct: random priorities")
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, Mode>{{"exhaustive", Mode::kExhaustive}, {"pct", Mode::kPct}}))
      ->default_str("exhaustive");
  CLI::Option* const bound = hunt->add_option("--bound", race.explore.bound, "Preemptions of a schedule (exhaustive)")
                                 ->check(CLI::Range(0U, 1000U))
                                 ->capture_default_str();
  hunt->add_option("--depth", race.explore.depth, "Of the defects looked for: change points and one (pct)")
      ->check(CLI::Range(1U, 32U))
      ->capture_default_str();
  CLI::Option* const schedules = hunt->add_option("--schedules", race.explore.schedules, "At most, of each plan")
                                     ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 48U));
  hunt->add_option("--seconds", race.explore.seconds, "At most, altogether")
      ->check(CLI::Range(0.01, 1e8))
      ->excludes(schedules);
  hunt->add_option("--seed", race.explore.seed, "Of the random priorities (pct)")->capture_default_str();
  hunt->add_option("--fault", race.fault, "Switch on a known defect");
  hunt->add_option("--json", race.json, "File for the result as JSON ('-': standard output)");
  hunt->add_option("--report", race.report, "Folder for the findings' programs");
  hunt->add_flag("--quiet", race.quiet, "Findings and the verdict only");
  hunt->add_flag("--list", list, "List the scenarios, their plans and their faults");
  fuzz::RaceReplayCommand replay;
  CLI::App* const again = app.add_subcommand("replay", "Run the schedule of a race file and print it");
  again->add_option("file", replay.file)->required();
  again->add_option("--times", replay.times, "As often; each has to be the same")->check(CLI::Range(1U, 1U << 20U));
  again->add_option("--json", replay.json, "File for the result as JSON ('-': standard output)");
  std::string file;
  app.add_subcommand("check", "Parse a race file")->add_option("file", file)->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    std::cerr << "hgcheck: " << error.what() << " ('--help' after a command explains it)\n";
    return 2;
  }
  if (race.explore.mode == Mode::kPct && bound->count() != 0) {
    std::cerr << "hgcheck: --bound is for exhaustive exploration; pct takes --depth\n";
    return 2;
  }
  const std::string name = app.get_subcommands().front()->get_name();
  if (name == "replay") return fuzz::run(replay);
  if (name == "check") return fuzz::check_race(file);
  return list ? fuzz::list_scenarios() : fuzz::run(race);
}
