// The strategy `stabilise`: an executable graph whose buffers move is recorded once for buffers that never move
// (hip::AddressStabilizer), and from then on each launch copies what is in the program's buffers there and back.
//
// Stable are the buffers of device memory that the program allocated. All others a graph names where they are: when one
// of those moves, it is recorded again. What HIP's setters and hipGraphExecUpdate change is recorded again for the
// program's own buffers, which ends stability until the next patch; so do graphs with memory nodes, whose addresses the
// runtime chooses. A launch into a capture is captured as if nothing were stable, from a graph recorded for it.
//
// Launches with stable addresses are waited for, before and after: what runs beside them may touch other bytes of the
// same buffers, and the copies touch all. Order on streams is not what this strategy is there to find.
#pragma once

#include <memory>

#include "verify/execute/strategy.h"

namespace verify {

[[nodiscard]] std::unique_ptr<Strategy> make_stabilise_strategy();

}  // namespace verify
