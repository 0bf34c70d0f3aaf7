// The strategy `careful`: patch, with what is known of the runtime's release (hip/release_quirks.h).
//
// Where an entry touches what a patch, a setter or an update would do, the graph is recorded again; where one touches
// what a launch would do, it is recorded flat or as a chain from the beginning. Where none does, it is as `patch`: a
// chain, too, is patched and set in place.
//
// Under it, programs that change and launch graphs agree with the model on releases whose setters, updates and launches
// do not. What the releases record wrongly, and what they do wrong beside graphs that are changed, is as it is under
// `patch` (docs/safe-operations.md).
#pragma once

#include <memory>

#include "verify/execute/strategy.h"

namespace verify {

[[nodiscard]] std::unique_ptr<Strategy> make_careful_strategy();

}  // namespace verify
