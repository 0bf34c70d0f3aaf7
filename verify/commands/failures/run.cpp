// How injected failures and calls with wrong arguments run.
#include <cassert>

#include "hip/errors.h"
#include "verify/errors/error_calls.h"
#include "verify/execute/code_objects.h"
#include "verify/run/run_command.h"

namespace verify {

template <>
hip::Status run_command(Run& run, const Fail& c) {
  if (!run.options.failures) return {};
  const std::optional<Function> function = find_function(c.function);
  if (!function) {
    run.observation.unsupported = c.function;
    return {};
  }
  run.interposer.fail(*function, c.nth);
  return {};
}

template <>
hip::Status run_command(Run& run, const FailBelow& c) {
  if (!run.options.failures) return {};
  run.platform.fail_below(c.call, c.nth);
  run.refusal_waits_below = true;
  return {};
}

// Bad calls do not go through the interposer, which counts, fails and poisons the program's own calls.
template <>
hip::Status run_command(Run& run, const BadCall& c) {
  const ErrorCase* error_case = find_error_case(c.function, c.error_case);
  assert(error_case != nullptr);
  Platform& platform = run.platform;
  const ErrorAnswer answer = answer_error_case(
      platform.api(),
      platform.function(static_cast<std::size_t>(find_kernel("count_only") - kernel_catalogue().data()), 0),
      platform.symbol(Platform::kVariableOfBadCalls), project_code(), *error_case, run.options.inspect);
  if (answer.kind == ErrorAnswer::Kind::kUnsupported) run.observation.unsupported = c.function;
  if (answer.kind == ErrorAnswer::Kind::kUnprepared) return hip::called(answer.status, "what a bad call needs");
  run.attempt.seen = describe(answer);
  if (answer.kind == ErrorAnswer::Kind::kAnswered || answer.kind == ErrorAnswer::Kind::kJudged)
    run.detectors.bad_call(run.step, *error_case, answer.status, answer.changed);
  return {};
}

template struct FamilyRun<FailuresCommands>;

}  // namespace verify
