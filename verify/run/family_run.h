// The way of a command into its family, for the executor. Defined in verify/run/run_command.h for the families'
// run.cpp, each of which instantiates its own.
#pragma once

#include "hip/result/result.h"
#include "verify/commands/commands.h"

namespace verify {

struct Run;

template <class Family>
struct FamilyRun;

template <class... Commands>
struct FamilyRun<CommandList<Commands...>> {
  // Runs `command`, which is one of the family's.
  static hip::Status run(Run& run, const Command& command);
};

}  // namespace verify
