// The quirks that are known, by cause. docs/findings.md tells each one's story for people who own the runtime.
#include "verify/quirks/quirk.h"

namespace verify {

namespace {

constexpr std::array<Quirk, 0> kQuirks = {};

}  // namespace

std::span<const Quirk> quirks() {
  return kQuirks;
}

}  // namespace verify
