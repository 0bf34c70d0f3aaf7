// verify::SystemsRun: the system actions of one run of a program, on a bench of their own.
//
// Actions run beside the program's graphs and share nothing with them: where the runtime is a model, actions have
// another instance of it (two devices, memory that the process can touch); elsewhere they use the same runtime. The
// findings of the bench go into the observation as violations; statuses of actions are no observations, so they are not
// compared with a baseline.
#pragma once

#include <optional>

#include "verify/execute/observation.h"
#include "verify/execute/platform.h"
#include "verify/systems/bench.h"

namespace verify {

class SystemsRun {
 public:
  // `platform` is the platform of the program.
  SystemsRun(Platform& platform, const Parts& parts, std::uint64_t schedule_seed);
  SystemsRun(const SystemsRun&) = delete;
  SystemsRun& operator=(const SystemsRun&) = delete;
  ~SystemsRun();

  void perform(const SystemAction& action, std::size_t step, Observation& observation);
  // Tears everything down. Called once, at the program's end.
  void finish(std::size_t step, Observation& observation);

 private:
  // For the time of a call, enters the bench's platform, inside of the program's own, which is entered already, and
  // makes the device current that the actions chose. Between calls device 0 is current: the program expects it.
  class Inside {
   public:
    explicit Inside(SystemsRun& run);
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside();

   private:
    SystemsRun& run_;
  };
  void note(SystemsBench::Outcome outcome, std::size_t step, Observation& observation);

  Platform& platform_;
  const bool own_;  // whether the bench has another platform than the program
  int devices_ = 1;
  int current_ = 0;  // the device that the actions made current
  std::optional<SystemsBench> bench_;
};

}  // namespace verify
