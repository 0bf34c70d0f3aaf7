// The events of the commands about whole graphs whose fields do not describe them.
#include <bit>

#include "verify/quirks/event_emitter.h"

namespace verify {

// The words of the attribute `dot` are in the order of the bits; bit 1 has no flag and stands for "verbose".
bool describe_events(EventEmitter& out, const PrintDot& c) {
  constexpr int kSeveral = 11;
  out.set_op("dot");
  const int bit = c.flags == 0 ? 0 : std::countr_zero(c.flags);
  out.set(k_dot, std::popcount(c.flags) > 1 ? kSeveral : c.flags == 1 ? 1 : bit);
  return out.whole(*out.state.graph(c.graph));
}

}  // namespace verify
