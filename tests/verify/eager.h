// Eager: a program by hand. Every launch runs its nodes at once, in the order in which they were added, on buffers that
// never move; there are no addresses, streams, graphs of a runtime, patches or failures.
//
// What a valid program without data races leaves in memory is what this leaves there. It shares with the executor only
// verify::State (what a graph holds) and the host functions of the kernels; it knows nothing of the model or of hip.
// Not handled: frozen addresses (there are none to freeze); without_addresses() puts numbers in their place.
#pragma once

#include <vector>

#include "verify/execute/observation.h"
#include "verify/program/program.h"

namespace verify {

[[nodiscard]] Program without_addresses(Program program);

// What `program` reads, and what its live buffers hold at its end, in the order of Observation::reads.
[[nodiscard]] std::vector<BytesSeen> run_eagerly(const Program& program);

}  // namespace verify
