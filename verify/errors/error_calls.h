// The calls behind verify/errors/cases.inc: each with one wrong argument, against a scene of live objects.
#pragma once

#include <string>
#include <string_view>

#include "hip/api/api.h"
#include "verify/errors/error_cases.h"
#include "verify/errors/error_scene.h"

namespace verify {

struct ErrorCall {
  std::string_view function;
  std::string_view name;
  hipError_t expected;  // by HIP's own enumerator
  bool (*exists)(const hip::Api& api);
  hipError_t (*make)(ErrorScene& scene);
};

// Null where the headers of this build do not declare the function.
[[nodiscard]] const ErrorCall* find_error_call(const ErrorCase& error_case);

// Whether a row gives a valid call of the function, which is made after a refused one (ErrorAnswer::changed).
[[nodiscard]] bool has_valid_call(std::string_view function);

struct ErrorAnswer {
  enum class Kind {
    kAnswered,
    kJudged,       // an open case: `changed` says what is wrong with the outcome, or nothing
    kUnsupported,  // no such function or variable
    kUnprepared,   // no scene could be made
  };
  Kind kind = Kind::kAnswered;
  hipError_t status = hipSuccess;
  hipError_t last_error = hipSuccess;  // the status of hipGetLastError after the call
  // Where a call was refused as documented: the state that is not as it was before the call, or after the same call
  // again, or the launch or the valid call of the function that does not work any more. Empty: nothing.
  std::string changed = {};
};
// The answer as it is compared: the status, the last error where that is another status, and a changed state.
[[nodiscard]] std::string describe(const ErrorAnswer& answer);
// Whether the call needs a variable of device code.
[[nodiscard]] bool needs_variable(const ErrorCase& error_case);
// Whether the call is about a function whose module is gone.
[[nodiscard]] bool needs_code(const ErrorCase& error_case);
// The arguments are those of ErrorScene. No documentation names the answer where a function's module is gone (CUDA's of
// cuModuleUnload: undefined). Every error then counts as the answer of the row, and so does a launch that succeeds:
// CUDA 13.0 keeps the code of an executable graph. A crash, a hang and a device that is lost remain deviations.
// `look_around`: look at the scene before and after the call, unless the module is gone (ErrorAnswer::changed).
[[nodiscard]] ErrorAnswer answer_error_case(const hip::Api& api, hipFunction_t kernel, const void* variable,
                                            const void* code, const ErrorCase& error_case, bool look_around = true);

}  // namespace verify
