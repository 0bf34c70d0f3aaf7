// The strategy `remap`: an executable graph is recorded for addresses of its own, and before each launch the memory of
// the program's buffers is mapped there (hip::RemappedBuffers).
//
// The program's buffers of device memory are then physical memory, mapped at the addresses that the program sees
// (verify/execute/mapped_allocations.h), in programs with native placement. With the placement `arena` buffers share
// one allocation, which cannot be mapped in parts: every graph is recorded again there when a buffer moves.
//
// The graph uses all other buffers at their own addresses and is recorded again when one of them moves, when a node is
// set, switched on or off, or when it is updated. Graphs with memory nodes are never remapped: the runtime chooses the
// addresses. While a stream captures, in a block of threads, and on another device than 0, a launch records a graph for
// itself alone, at the program's addresses.
#pragma once

#include <memory>

#include "verify/execute/strategy.h"

namespace verify {

[[nodiscard]] std::unique_ptr<Strategy> make_remap_strategy();

}  // namespace verify
