// How the commands about modules run.
#include "verify/run/run_command.h"

namespace verify {

template <>
hip::Status run_command(Run& run, const LoadModule& c) {
  if (project_code() == nullptr) return run.unsupported("device kernels of the project in this build");
  return run.on_thread(c.thread, [&] { return run.records.load_module(c.module); });
}

template <>
hip::Status run_command(Run& run, const UnloadModule& c) {
  // HIP would refuse a wait in the middle of a capture.
  if (!run.captures.capturing()) {
    if (hip::Status s = synchronize_devices(run.context.api, run.context.devices); !s) return s;
  }
  hip::Status status = run.on_thread(c.thread, [&] { return run.records.unload_module(c.module); });
  if (status) run.memory.module_gone(c.module);
  return status;
}

template struct FamilyRun<ModulesCommands>;

}  // namespace verify
