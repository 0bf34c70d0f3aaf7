// Functions that the body of a reproducer may call, as HIP source. A file holds only the functions that it needs.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>

namespace verify {

// In the order in which they have to stand in the file.
enum class HelperFunction : std::uint8_t {
  kLoad,
  kHex,
  kStore,
  kFill,
  kHost,
  kKernel,
  kExtra,
  kThread,
  kCaptured,
  kCapturedInto,
  kUnsafe,
  kUnsafePinned,
  kUnsafeRegister,
  kMemoryInfo,
  kOwnCode,
  kOfModule,
  kContext,
  kSemaphore,
  kDot
};

[[nodiscard]] std::string_view source_of(HelperFunction helper);
// The helpers, and the helpers that they call.
[[nodiscard]] std::set<HelperFunction> with_used(std::set<HelperFunction> helpers);

// synchronize_devices(), as a format that takes the number of devices.
inline constexpr std::string_view kWaitHelper = R"(hipError_t synchronize_devices() {{
  hipError_t status = hipSuccess;
  for (int device = 0; device < {} && status == hipSuccess; ++device) {{
    status = hipSetDevice(device);
    if (status == hipSuccess) status = hipDeviceSynchronize();
  }}
  const hipError_t back = hipSetDevice(0);
  return status == hipSuccess ? back : status;
}}
)";

// How a plain HIP file checks. kMust: a call that has to succeed. kMustOrDie: the same in a file that shows a crash: a
// call that fails after the process was damaged counts as the failure, too.
extern const std::string_view kMust, kMustOrDie;
extern const std::string_view kFails;  // a call that has to fail with one error
extern const std::string_view kCheck;  // a value that is shown if it is not the expected one
extern const std::string_view kDies;   // lines of main() that catch the process's signals

}  // namespace verify
