// Programs that must observe the same as the one they are made from (P9).
#pragma once

#include <string_view>
#include <vector>

#include "verify/program/program.h"

namespace verify {

struct Variant {
  std::string_view change;  // "the other argument style", ...
  Program program;          // as many steps, in the same order but for added nodes that changed places
};

// Only variants that differ from `program`.
[[nodiscard]] std::vector<Variant> equal_variants(const Program& program);

}  // namespace verify
