// verify::StrategyKind: how an executable graph is brought to new addresses and new parameters;
// verify/execute/strategy.h describes each strategy.
#pragma once

#include <cstdint>

namespace verify {

enum class StrategyKind : std::uint8_t { kPatch, kRebuild, kUpdate, kStabilise, kCareful, kCommandBuffer, kRemap };

}  // namespace verify
