// The family of commands about modules: code that comes and goes while the program runs. `thread` is the host thread
// that makes the call.
#pragma once

#include "verify/commands/fields.h"

namespace verify {

// The project's device code, loaded once more (hipModuleLoadData). Kernels of nodes name it: module=m0.
struct LoadModule {
  Id module = 0;
  Id thread = 0;
  static constexpr auto spec() {
    return describe_command("module",
                            "Loads the project's device code once more (`hipModuleLoadData`), on device 0. A kernel of "
                            "a node or of a stream names it with `module=m0`.",
                            drawn(Topic::kCaptures, 1), kNoDeviation, NameField{&LoadModule::module, 'm', kIsNew},
                            field::thread_key(&LoadModule::thread));
  }
  bool operator==(const LoadModule&) const = default;
};
struct UnloadModule {
  Id module = 0;
  Id thread = 0;
  static constexpr auto spec() {
    return describe_command(
        "unload",
        "`hipModuleUnload`, which a capture may forbid as it may forbid `unsafe`. No graph has a kernel of the module. "
        "Buffers that are variables of the module end with it.",
        drawn(Topic::kForbidden, 1), kDescribedByFields, NameField{&UnloadModule::module, 'm', kNotCovered},
        field::thread_key(&UnloadModule::thread));
  }
  bool operator==(const UnloadModule&) const = default;
};

using ModulesCommands = CommandList<LoadModule, UnloadModule>;

}  // namespace verify
