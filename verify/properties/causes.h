// Properties whose detector is the run itself: P1, P4, P11, and S1 of programs. Each function is in the file of its
// property.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "verify/errors/error_cases.h"
#include "verify/execute/runner.h"
#include "verify/program/program.h"
#include "verify/properties/evidence.h"

namespace verify {

// P1: the same run, except that nothing that was passed is overwritten.
[[nodiscard]] RunOptions keeping_what_was_passed(RunOptions options);

// P4: the same run, except that no call is made to fail.
[[nodiscard]] RunOptions without_failures(RunOptions options);
// P4: `reported`: whether `command`, in which a call of `function` was made to fail, reported an error.
void detect_p4(std::size_t step, const std::string& command, std::string_view function, bool reported,
               Violations& found);

// S1: the same program without its stream-ordered frees: it frees that memory at its end. No value when it has none.
[[nodiscard]] std::optional<Program> without_stream_ordered_frees(const Program& program);

// P11: a call with an invalid argument answered `status`, and changed this state, or nothing.
void detect_p11(std::size_t step, const ErrorCase& error_case, int status, const std::string& changed,
                Violations& found);

}  // namespace verify
