// The family of commands about failures: calls that are made to fail, and calls with one invalid argument.
#pragma once

#include <variant>

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

// The calls below a HIP runtime that may be made to fail.
enum class Below : std::uint8_t { kAllocation, kQueue, kSignal, kCodeObject };
inline constexpr std::array<std::string_view, 4> kBelowWords = {"allocation", "queue", "signal", "code_object"};

// The n-th such call that the subject's runtime makes to the software GPU from here on fails once (P4).
struct FailBelow {
  std::uint32_t nth = 1;
  Below call = Below::kAllocation;
  static constexpr auto spec() {
    return describe_command(
        "fail_below",
        "The N-th allocation, queue, signal or code object that the subject's runtime asks the software GPU for from "
        "here on is refused once. The command in which it happens either succeeds, because the runtime does without "
        "it, or reports an error and succeeds when it is run again. One refusal waits at a time: a later `fail_below` "
        "takes its place, and `sync` ends the wait. The baseline never sees it, nor does a runtime on anything else "
        "than the software GPU.",
        kDrawnByHand, kNoDeviation, field::number_of_call(&FailBelow::nth),
        ChoiceField{&FailBelow::call, kBelowWords, "allocation, queue, signal or code_object",
                    "allocation, queue, signal or code_object may fail below a runtime", "fail below: "});
  }
  bool operator==(const FailBelow&) const = default;
};

using FailuresCommands = CommandList<Fail, BadCall, FailBelow>;

// Whether the command makes a later call fail.
template <class Command>
[[nodiscard]] bool arms_failure(const Command& command) {
  return std::holds_alternative<Fail>(command) || std::holds_alternative<FailBelow>(command);
}

}  // namespace verify
