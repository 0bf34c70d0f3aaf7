#include "verify/execute/runner.h"

namespace verify {

std::string_view strategy_name(StrategyKind kind) {
  switch (kind) {
    case StrategyKind::kPatch:
      return "patch";
    case StrategyKind::kRebuild:
      return "rebuild";
    case StrategyKind::kStabilise:
      return "stabilise";
    case StrategyKind::kCareful:
      return "careful";
    case StrategyKind::kCommandBuffer:
      return "command-buffer";
    case StrategyKind::kRemap:
      return "remap";
    case StrategyKind::kUpdate:
      break;
  }
  return "update";
}

std::optional<StrategyKind> find_strategy(std::string_view name) {
  for (const StrategyKind kind : kStrategyKinds) {
    if (name == strategy_name(kind)) return kind;
  }
  return {};
}

}  // namespace verify
