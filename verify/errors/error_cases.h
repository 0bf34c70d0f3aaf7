// verify::ErrorCase: one known invalid argument: the function, the case in words joined by '-', the status that HIP
// documents, and the source of the rule. The rows are data (verify/errors/cases.inc); their calls are in
// verify/errors/error_calls.cpp. Different answers of AMD's releases are data, too (deviations.inc).
#pragma once

#include <span>
#include <string_view>

namespace verify {

struct ErrorCase {
  std::string_view function;
  std::string_view name;
  int expected = 0;  // hipError_t
  std::string_view source;
};

// In the order of the functions in the table; each pair of function and name occurs once.
[[nodiscard]] std::span<const ErrorCase> error_cases();
// Null: there is no such case.
[[nodiscard]] const ErrorCase* find_error_case(std::string_view function, std::string_view name);

// Answers that are not a status.
inline constexpr int kAnswerCrash = -1;
inline constexpr int kAnswerHang = -2;
inline constexpr int kAnswerUndefined = -3;  // the call uses memory that is not its own: anything may happen
inline constexpr int kAnswerChanges = -4;    // refused as documented, and ErrorAnswer::changed is not empty

struct ErrorDeviation {
  std::string_view release;
  std::string_view function;
  std::string_view name;
  int answer = 0;      // hipError_t, or one of the answers above
  int last_error = 0;  // the status of hipGetLastError after the call
};
[[nodiscard]] std::span<const ErrorDeviation> error_deviations();
// Returns the known deviation of a release for one error case; null when it does not deviate.
[[nodiscard]] const ErrorDeviation* find_error_deviation(std::string_view release, std::string_view function,
                                                         std::string_view name);

}  // namespace verify
