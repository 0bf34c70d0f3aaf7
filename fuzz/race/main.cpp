// hgcheck-race: the command line of command.h.
#include <CLI/CLI.hpp>
#include <iostream>

#include "fuzz/race/command.h"
#include "fuzz/race/options.h"

#ifndef HGCHECK_VERSION
#error "the build defines HGCHECK_VERSION"
#endif

int main(int argc, char** argv) {
  using verify::race::Mode;
  CLI::App app{"Explores the schedules of scenarios: every one within a bound, or random ones", "hgcheck"};
  app.require_subcommand(1);
  fuzz::RaceOptions options;
  const CLI::App* const hunt = fuzz::add_race(app, options);
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
  if (!options.library.empty()) {
    std::cerr << "hgcheck: 'hgcheck race --library' is for hgcheck itself\n";
    return 2;
  }
  const bool pct = options.explore == "pct";
  if (pct && hunt->count("--bound") != 0) {
    std::cerr << "hgcheck: --bound is for exhaustive exploration; pct takes --depth\n";
    return 2;
  }
  const std::string name = app.get_subcommands().front()->get_name();
  if (name == "replay") return fuzz::run(replay);
  if (name == "check") return fuzz::check_race(file);
  if (options.list) return fuzz::list_scenarios();
  fuzz::RaceCommand race{HGCHECK_VERSION, options.scenario, options.fault, {},
                         options.json,    options.report,   options.quiet};
  race.explore.mode = pct ? Mode::kPct : Mode::kExhaustive;
  race.explore.bound = options.bound;
  race.explore.depth = options.depth;
  race.explore.seed = options.seed;
  race.explore.schedules = options.schedules;
  race.explore.seconds = options.seconds;
  return fuzz::run(race);
}
