// F15: a patcher that returns success when a setter half-way failed.
//
// The author believed: a setter of a node that exists, with parameters of the right type, does not fail, so its
// status is only counted. The mistake: it may fail (memory, a device that was lost, a kind of change that the runtime
// does not allow), and then one node is left at its old address in a graph that is taken for patched. P4.
#include "fuzz/faults/flat_patcher.h"

namespace fuzz {

namespace {

class Optimist final : public FlatPatcher {
  using FlatPatcher::FlatPatcher;

  [[nodiscard]] hip::PatchResult apply(std::vector<Step>& steps) override {
    hip::PatchReport report;
    for (Step& step : steps) {
      if (set(nodes()[step.node].handle, step.after) == hipSuccess) ++report.nodes;
      ++report.calls;
    }
    return report;
  }
};

}  // namespace

std::vector<Fault> swallowed_errors_faults() {
  using enum verify::PropertyId;
  return {patcher_fault<Optimist>("F15", "returns success when a setter half-way failed", {kP4})};
}

}  // namespace fuzz
