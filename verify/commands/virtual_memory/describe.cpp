// The event of giving addresses back, which its fields do not describe.
#include <algorithm>

#include "verify/quirks/event_emitter.h"

namespace verify {

bool describe_events(EventEmitter& out, const FreeRange&) {
  out.set_op("unreserve");
  out.set(k_ranges_freed, std::ranges::count_if(out.state.parts().memory.mapped.ranges,
                                                [](const auto& range) { return !range.second.alive; }));
  return out.emit();
}

}  // namespace verify
