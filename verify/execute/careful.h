// The strategy `careful`: patch, with what is known of the runtime's release (hip/release_quirks.h). Where an entry
// touches what a patch, a setter, an update or a launch would do, the graph is recorded again the way that the entry
// names; where none does, it is as `patch`.
//
// Under it, programs that change and launch graphs agree with the model on releases whose setters and update do not.
// What the releases record wrongly, and what they do wrong beside graphs that are changed, is as it is under `patch`.
// A graph that allocates memory is recorded again as it is: where its children could be flattened, or its nodes
// chained, its memory would be another.
#pragma once

#include <memory>

#include "verify/execute/strategy.h"

namespace verify {

[[nodiscard]] std::unique_ptr<Strategy> make_careful_strategy();

}  // namespace verify
