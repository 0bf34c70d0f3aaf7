// The commands of hgcheck: each takes its options and returns the exit status.
#pragma once

#include <string>

#include "fuzz/campaign.h"

namespace fuzz {

// Scripts rely on these.
enum ExitStatus : int {
  kAgreed = 0,
  kDiverged = 1,     // with --fault: the fault was found
  kUsage = 2,        // usage, bad input, an unusable path, library, subject or report folder
  kHarness = 3,      // a harness error or a cap that was exceeded
  kCannotRun = 125,  // replay: the subject cannot run the program (git bisect run skips it)
  kInterrupted = 130,
};

struct CampaignCommand {
  CampaignOptions campaign;
  std::string json, accept;
  bool quiet = false;
};
struct ReplayCommand {
  std::string file;
  SetupOptions setup;
  bool trace = false;
  std::string json;
};
struct ShrinkCommand {
  std::string file;
  SetupOptions setup;
  std::string output;  // empty: standard output
};

[[nodiscard]] int run(CampaignCommand command);
[[nodiscard]] int run(const ReplayCommand& command);
[[nodiscard]] int run(const ShrinkCommand& command);
[[nodiscard]] int check(const std::string& file);
[[nodiscard]] int list_subjects(const std::string& json);
[[nodiscard]] int list_faults(const std::string& json);
[[nodiscard]] int list_properties(const std::string& json);
[[nodiscard]] int list_quirks(const std::string& json);

}  // namespace fuzz
