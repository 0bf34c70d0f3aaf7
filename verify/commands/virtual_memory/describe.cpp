// The event of giving addresses back, which its fields do not describe.
#include "verify/quirks/event_emitter.h"

namespace verify {

bool describe_events(EventEmitter& out, const FreeRange&) {
  out.set_op("unreserve");
  return out.emit();
}

}  // namespace verify
