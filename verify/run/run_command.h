// How the commands of a program run: each command has one specialisation of run_command(), in
// verify/commands/<family>/run.cpp.
//
// That file ends with an explicit instantiation of FamilyRun for its family's list. A command of the list without a
// specialisation does not compile there, because it would use the deleted template; a family without the instantiation
// does not link.
#pragma once

#include "hip/result/result.h"
#include "verify/commands/commands.h"
#include "verify/run/family_run.h"
#include "verify/run/run.h"

namespace verify {

// Returns HIP's status; all other answers of the command are put into run.attempt.
template <class C>
hip::Status run_command(Run& run, const C& command) = delete;

template <class... Commands>
hip::Status FamilyRun<CommandList<Commands...>>::run(Run& run, const Command& command) {
  hip::Status status;
  const auto run_if = [&]<class C>(const C* held) {
    if (held != nullptr) status = run_command(run, *held);
    return held != nullptr;
  };
  static_cast<void>((run_if(std::get_if<Commands>(&command)) || ...));
  return status;
}

}  // namespace verify
