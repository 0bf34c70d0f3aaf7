// The known quirks, by cause: the findings of verify/findings that a program shows.
#include "verify/quirks/quirk.h"

namespace verify {

namespace {

constexpr Quirk kQuirks[] = {
#include "findings/catalogue.inc"
};

}  // namespace

std::span<const Quirk> quirks() {
  return kQuirks;
}

}  // namespace verify
