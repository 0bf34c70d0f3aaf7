// The numbers that the next objects of a generated program get, a counter for each letter. Internal to verify/generate.
#pragma once

#include "verify/program/program.h"

namespace verify {

struct NextNames {
  Id buffer = 0, graph = 0, exec = 0, stream = 1, event = 0, pool = 0, object = 0;  // s0 is the null stream

  [[nodiscard]] Id& of(char letter);
  // Moves every counter past the objects that `command` makes.
  void use(const Command& command);
};

}  // namespace verify
