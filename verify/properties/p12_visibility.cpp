// P12, visibility: what a node writes is seen by the nodes ordered after it and by the host after synchronisation, for
// every memory kind.
//
// Detector here: memory that both the host and the device reach is read in both ways after synchronising, by the host's
// own loads and by a copy that the runtime makes; they show the same bytes. The oracle is the other half: it compares
// every read, of every kind of memory, with the reference, and every node that reads the data of an earlier node.
//
// Not seen here: a write that both ways miss (the oracle sees it), and the bytes that the host sees before it
// synchronises.
#include <fmt/format.h>

#include <algorithm>

#include "verify/properties/evidence.h"

namespace verify {

bool detect_p12(const VisibilityEvidence& seen, Violations& found) {
  const std::size_t size = std::min(seen.by_host.size(), seen.by_runtime.size());
  for (std::size_t i = 0; i < size; ++i) {
    if (seen.by_host[i] == seen.by_runtime[i]) continue;
    found.push_back(
        {PropertyId::kP12, seen.step, fmt::format("b{}+{}", seen.buffer, i),
         fmt::format("{:#04x}, as a copy by the runtime has it", std::to_integer<unsigned>(seen.by_runtime[i])),
         fmt::format("{:#04x} in the host's view", std::to_integer<unsigned>(seen.by_host[i]))});
    break;
  }
  return true;
}

}  // namespace verify
