// The strategy `stabilise`: an executable graph whose buffers move is recorded once for buffers that never move
// (hip::AddressStabilizer). From then on each launch copies the contents of the program's buffers there and back.
//
// Buffers of device memory that the program allocated are stable. A graph names all other buffers at their own
// addresses, and a move of one records it again. HIP's setters and hipGraphExecUpdate record it again for the program's
// own buffers, which ends stability until the next patch. Graphs with memory nodes are never stable: the runtime
// chooses the addresses. A launch into a capture is captured as if nothing were stable, from a graph recorded for it.
//
// A launch with stable addresses is waited for, before and after: concurrent work may touch other bytes of the same
// buffers, and the copies touch all bytes. This strategy does not look for wrong order on streams.
#pragma once

#include <memory>

#include "verify/execute/strategy.h"

namespace verify {

[[nodiscard]] std::unique_ptr<Strategy> make_stabilise_strategy();

}  // namespace verify
