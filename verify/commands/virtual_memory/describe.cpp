// The events of giving addresses and handles back, which their fields do not describe.
#include <algorithm>

#include "verify/quirks/event_emitter.h"

namespace verify {

bool describe_events(EventEmitter& out, const FreeRange&) {
  out.set_op("unreserve");
  out.set(k_ranges_freed, std::ranges::count_if(out.state.parts().memory.mapped.ranges,
                                                [](const auto& range) { return !range.second.alive; }));
  return out.emit();
}

bool describe_events(EventEmitter& out, const ReleasePhysical& c) {
  out.set_op("release");
  out.set(k_handles, out.state.memories().at(c.memory).handles);
  return out.emit();
}

}  // namespace verify
