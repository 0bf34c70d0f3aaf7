// The rows as data; the contract is in the header.
#include "verify/errors/error_cases.h"

#include <algorithm>

namespace verify {
namespace {

// HIP's names, for a file that must not include HIP's header; tests compare them with the header.
enum : int {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorInvalidConfiguration = 9,
  hipErrorInvalidPitchValue = 12,
  hipErrorInvalidSymbol = 13,
  hipErrorInvalidMemcpyDirection = 21,
  hipErrorInvalidDeviceFunction = 98,
  hipErrorInvalidDevice = 101,
  hipErrorInvalidContext = 201,
  hipErrorPeerAccessUnsupported = 217,
  hipErrorOperatingSystem = 304,
  hipErrorInvalidHandle = 400,
  hipErrorIllegalState = 401,
  hipErrorContextIsDestroyed = 709,
  hipErrorNotSupported = 801,
  hipErrorStreamCaptureUnsupported = 900,
  hipErrorStreamCaptureImplicit = 906,
  hipErrorGraphExecUpdateFailure = 910,
  hipErrorUnknown = 999,
};

#define AT_LEAST(major, minor) 1
#define ROW(function, name, expected, source, ...) {#function, name, expected, source},
#define OPEN(kind, function, name, codes, source, ...) {#function, name, kAnswerOpen, source, OpenKind::kind},
constexpr ErrorCase kCases[] = {
#include "verify/errors/cases.inc"
};
#undef ROW
#undef OPEN

#define DEVIATION(release, function, name, answer, last_error) {release, #function, name, answer, last_error},
constexpr ErrorDeviation kKnownDeviations[] = {
#include "verify/errors/deviations.inc"
    {"", "", "", hipSuccess, hipSuccess},  // so that the array is never empty
};
#undef DEVIATION

}  // namespace

std::span<const ErrorCase> error_cases() {
  return kCases;
}

const ErrorCase* find_error_case(std::string_view function, std::string_view name) {
  const auto* found = std::find_if(std::begin(kCases), std::end(kCases),
                                   [&](const ErrorCase& one) { return one.function == function && one.name == name; });
  return found == std::end(kCases) ? nullptr : found;
}

std::span<const ErrorDeviation> error_deviations() {
  return std::span(kKnownDeviations).first(std::size(kKnownDeviations) - 1);
}

const ErrorDeviation* find_error_deviation(std::string_view release, std::string_view function, std::string_view name) {
  for (const ErrorDeviation& one : error_deviations()) {
    if (one.release == release && one.function == function && one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace verify
