// A launch of an executable graph into a capture, for strategies that launch another graph than the program's.
//
// A capture keeps such a launch as a child graph node, as HIP documents it, and programs may inspect that node. So the
// capture gets the graph as the program recorded it, at the program's addresses.
#pragma once

#include "verify/execute/objects.h"

namespace verify {

// Whether the stream captures.
[[nodiscard]] bool captures(const StrategyContext& context, hipStream_t stream);
// Works on any release. Asserts that no node of `exec` is disabled: HIP does not document the capture of disabled
// nodes, and no valid program captures one. A function that the runtime lacks is noted in the context.
[[nodiscard]] hip::Status launch_as_child(StrategyContext& context, const ExecObject& exec,
                                          const hip::StreamRef& stream);

}  // namespace verify
