// The strategy `careful`: `patch` that avoids the known quirks of the runtime's release (hip/release_quirks.h).
//
// Where a quirk affects a patch, a setter or an update, the strategy records the graph again. Where a quirk affects a
// launch, it records the graph flat or as a chain from the beginning. Without a quirk it does the same as `patch`. It
// patches and sets a chain in place, too.
//
// Under `careful`, programs that change and launch graphs agree with the model on releases with wrong setters, updates
// and launches. Two kinds of defects stay as under `patch` (docs/safe-operations.md): wrong recordings of a release,
// and defects outside of changed graphs.
#pragma once

#include <memory>

#include "verify/execute/strategy.h"

namespace verify {

[[nodiscard]] std::unique_ptr<Strategy> make_careful_strategy();

}  // namespace verify
