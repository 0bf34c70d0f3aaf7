// The calls of verify/errors/cases/open.inc, whose outcome no documentation names. verify/errors/open_scene.h says
// which outcomes are allowed.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "hip/api/api.h"
#include "verify/errors/error_cases.h"
#include "verify/errors/open_scene.h"

namespace verify {

struct OpenCall {
  std::string_view function;
  std::string_view name;
  std::span<const hipError_t> codes;  // of an allowed refusal
  bool (*exists)(const hip::Api& api);
  hipError_t (*make)(OpenScene& scene);
};

// Null where the headers of this build do not declare the function.
[[nodiscard]] const OpenCall* find_open_call(const ErrorCase& error_case);

// Whether the executable graph of the case is launched before the call.
[[nodiscard]] bool launches_before(std::string_view case_name);

}  // namespace verify
