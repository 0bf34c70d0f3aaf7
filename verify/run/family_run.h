// Runs a command of a family, for the executor. Defined in verify/run/run_command.h; the run.cpp of each family
// instantiates its own.
#pragma once

#include "hip/result/result.h"
#include "verify/commands/commands.h"

namespace verify {

struct Run;

template <class Family>
struct FamilyRun;

template <class... Commands>
struct FamilyRun<CommandList<Commands...>> {
  // Runs `command`, which belongs to the family.
  static hip::Status run(Run& run, const Command& command);
};

}  // namespace verify
