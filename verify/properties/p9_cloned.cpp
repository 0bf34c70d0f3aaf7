// P9, cloned or not: an executable graph that was instantiated from a clone observes the same as one that was
// instantiated from the original.
//
// Every graph is cloned just before it is instantiated. Patches, setters and disabled nodes then name the clone's
// nodes.
#include <algorithm>

#include "verify/properties/variants.h"

namespace verify {

std::optional<Variant> instantiated_from_clones(const Program& program) {
  Id next = 0;
  for (const Step& step : program.steps) {
    if (const auto* graph = std::get_if<DeclareGraph>(&step.command)) next = std::max(next, graph->graph + 1);
    if (const auto* clone = std::get_if<CloneGraph>(&step.command)) next = std::max(next, clone->graph + 1);
  }
  Variant variant{"instantiated from clones", {}, {}};
  variant.derived.program.setting = program.setting;
  bool changed = false;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    Step step = program.steps[i];
    if (auto* instantiate = std::get_if<Instantiate>(&step.command); instantiate != nullptr && next <= kMaxId) {
      variant.derived.add(CloneGraph{next, instantiate->graph});
      instantiate->graph = next++;
      changed = true;
    }
    variant.derived.keep(step, i);
  }
  if (!changed) return {};
  return variant;
}

}  // namespace verify
