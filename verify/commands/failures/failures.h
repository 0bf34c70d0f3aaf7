// The family of commands about failures: calls that are made to fail, and calls with one invalid argument.
#pragma once

#include "verify/commands/fields.h"

namespace verify {

// The n-th call of a HIP function that the subject makes from here on fails once (P4). The baseline never sees it.
struct Fail {
  std::uint32_t nth = 1;
  std::string function;
  static constexpr auto spec() {
    return describe_command(
        "fail",
        "The N-th call of a HIP function that the subject makes from here on fails once. The command in which "
        "it happens has to report an error; it is then run again and has to succeed as if nothing had failed. "
        "The baseline never sees the failure.",
        kDrawnByHand, kNoDeviation, field::number_of_call(&Fail::nth), FunctionField{&Fail::function});
  }
  bool operator==(const Fail&) const = default;
};
// A call with one invalid argument, against objects of its own (verify/errors/cases.inc). Its answer is observed.
struct BadCall {
  std::string function;
  std::string error_case;
  static constexpr auto spec() {
    return describe_command(
        "bad",
        "A call of a HIP function with one invalid argument, by the case's name in `verify/errors/cases.inc`, "
        "against live objects of its own. Its status, and the answer of `hipGetLastError` behind it, are "
        "observations.",
        kDrawnByHand, kDescribedByHand, ErrorCaseField{&BadCall::function, &BadCall::error_case});
  }
  bool operator==(const BadCall&) const = default;
};
bool describe_events(EventEmitter& out, const BadCall& c);

using FailuresCommands = CommandList<Fail, BadCall>;

}  // namespace verify
