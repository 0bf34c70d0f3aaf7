// Eager: a program by hand. Every launch runs its nodes at once, in the order in which they were added, on buffers that
// never move; there are no addresses, streams, graphs of a runtime, patches or failures.
//
// A valid program without data races leaves the same memory here as on a runtime. Eager shares with the executor only
// verify::State (the contents of graphs) and the host functions of the kernels; it knows nothing of the model or hip.
// Not handled: frozen addresses (there are none to freeze); without_addresses() puts numbers in their place.
#pragma once

#include <vector>

#include "verify/execute/observation.h"
#include "verify/program/program.h"

namespace verify {

[[nodiscard]] Program without_addresses(Program program);

// Returns the bytes that `program` reads and the final bytes of its live buffers, in the order of Observation::reads.
[[nodiscard]] std::vector<BytesSeen> run_eagerly(const Program& program);

}  // namespace verify
