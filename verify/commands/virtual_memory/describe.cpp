// Events that the fields of a command do not describe.
#include <algorithm>

#include "verify/quirks/event_emitter.h"

namespace verify {

bool describe_events(EventEmitter& out, const FreeRange&) {
  out.set_op("unreserve");
  out.set(k_ranges_freed, std::ranges::count_if(out.state.parts().memory.mapped.ranges,
                                                [](const auto& range) { return !range.second.alive; }));
  return out.emit();
}

// `retain` of a user object is another operation.
bool describe_events(EventEmitter& out, const RetainMemory&) {
  out.set_op("retain_memory");
  return out.emit();
}

}  // namespace verify
