// The result of an exploration of schedules, as reports show it: the counterpart of CampaignResult (result.h) for
// threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace verify {

// One plan of a scenario, explored.
struct RacePlanResult {
  std::string scenario, plan;
  std::string explored;  // how far, in words: "every schedule of 2 preemptions"
  std::uint64_t schedules = 0;
  double seconds = 0;
  std::uint32_t choices = 0;  // places at which threads were chosen, of the longest schedule
  std::uint32_t threads = 0;
  bool fails = false;
};

// The smallest plan and schedule that show a failure.
struct RaceFinding {
  std::string id;  // "C2-stable-buffers-F26"
  std::string property, failure, scenario, summary;
  std::string program_text;
  std::string program_path;  // where it was written, or empty
  std::string replay;        // the one-line command
  std::string interleaving;  // one column for each thread
  std::uint32_t threads = 0, calls = 0, preemptions = 0, switches = 0;
  std::uint64_t found_after = 0;  // number of schedules
  double found_in = 0;            // seconds
};

struct RaceResult {
  std::string version;
  std::string explore;  // "exhaustive, bound 2"
  std::string fault;    // the fault that was switched on, or empty
  std::uint64_t schedules = 0;
  double seconds = 0;
  bool interrupted = false;
  std::vector<RacePlanResult> plans;
  std::vector<RaceFinding> findings;
};

}  // namespace verify
