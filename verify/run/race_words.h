// A data race of the model in the words of the program: buffers, nodes and lines.
#pragma once

#include <string>

#include "verify/run/run.h"

namespace verify {

[[nodiscard]] std::string race_in_words(const Run& run, const Program& program, const RaceSeen& race);

}  // namespace verify
