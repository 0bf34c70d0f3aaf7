// A launch of an executable graph into a capture, for strategies that launch another one than the program's.
//
// A capture keeps what it captures, and programs look into it: it is given the executable graph as the program recorded
// it, at the program's addresses, as the child graph node that such a launch is documented to be.
#pragma once

#include "verify/execute/objects.h"

namespace verify {

// Whether the stream captures.
[[nodiscard]] bool captures(const StrategyContext& context, hipStream_t stream);
// On any release. No node of `exec` is disabled (asserted): what a capture makes of those is not documented, and no
// valid program asks. A runtime that lacks a function of it is noted in the context.
[[nodiscard]] hip::Status launch_as_child(StrategyContext& context, const ExecObject& exec,
                                          const hip::StreamRef& stream);

}  // namespace verify
