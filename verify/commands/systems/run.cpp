// How actions on the systems around the patcher run: on a bench that stands beside the program's graphs.
#include "verify/run/run_command.h"

namespace verify {

template <>
hip::Status run_command(Run& run, const SystemAction& c) {
  if (!run.systems) run.systems.emplace(run.platform, run.system_parts, run.options.schedule_seed);
  if (c.verb != SystemVerb::kInject || run.options.failures) run.systems->perform(c, run.step, run.observation);
  return {};
}

template struct FamilyRun<SystemsCommands>;

}  // namespace verify
