// A library of a user behind hip/patcher_abi.h, loaded into this process: a patcher (version 1), or a command buffer
// (version 2, verify/execute/command_library.h).
//
// The library gets a copy of all data. With poison the copy is overwritten when the call has returned, so that a
// library that kept a pointer reads poison (P1). A library that asks for definitions gets them; for other libraries a
// graph's definition is recorded again.
//
// The library is not isolated: a crash in it ends this process, which is a finding for the caller that runs it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "hip/result/result.h"
#include "verify/execute/patcher.h"
#include "verify/execute/strategy.h"

namespace verify {

struct CommandLibrary;

// The members of the other version are empty. The library stays loaded as long as a member, or what it made, lives.
struct LoadedLibrary {
  PatcherFactory patchers;                              // of version 1, for the strategy `patch`
  std::function<std::unique_ptr<Strategy>()> strategy;  // of version 2
  std::shared_ptr<const CommandLibrary> commands{};     // of version 2: its functions
};
// An error names the path, the library's flaw and the remedy.
[[nodiscard]] hip::Result<LoadedLibrary> load_library(const std::string& path);

}  // namespace verify
