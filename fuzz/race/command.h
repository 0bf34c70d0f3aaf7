// hgcheck-race: explores schedules. A program of its own, because all that it links is compiled for exploration;
// `hgcheck race` and `hgcheck replay` of a race file start it.
#pragma once

#include <cstdint>
#include <string>

#include "verify/race/explore.h"

namespace fuzz {

struct RaceCommand {
  std::string version;
  std::string scenario;  // empty: all
  std::string fault;     // switched on; empty: none
  verify::race::ExploreOptions explore;
  std::string json, report;
  bool quiet = false;
};
struct RaceReplayCommand {
  std::string file, json;
  std::uint32_t times = 1;
};

// Exit statuses as hgcheck's (fuzz/commands.h).
[[nodiscard]] int run(const RaceCommand& command);
[[nodiscard]] int run(const RaceReplayCommand& command);
[[nodiscard]] int check_race(const std::string& file);
[[nodiscard]] int list_scenarios();

}  // namespace fuzz
