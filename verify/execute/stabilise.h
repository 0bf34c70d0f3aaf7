// The strategy `stabilise`: an executable graph whose buffers move is recorded once for buffers that never move
// (hip::AddressStabilizer). From then on each launch copies the contents of the program's buffers to them and back.
//
// Buffers of device memory that the program allocated get stable addresses. The graph uses all other buffers at their
// own addresses and is recorded again when one of them moves. HIP's setters and hipGraphExecUpdate record it again for
// the program's own buffers, without stable addresses until the next patch. Graphs with memory nodes never get stable
// addresses: the runtime chooses theirs. A launch into a capture captures a graph recorded without stable addresses.
//
// All devices are synchronized before and after a launch with stable addresses: concurrent work may touch other bytes
// of the same buffers, and the copies touch all bytes. So this strategy does not find wrong order on streams.
#pragma once

#include <memory>

#include "verify/execute/strategy.h"

namespace verify {

[[nodiscard]] std::unique_ptr<Strategy> make_stabilise_strategy();

}  // namespace verify
