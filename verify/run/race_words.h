// A data race of the model in the words of the program: buffers, nodes and lines.
#pragma once

#include <string>

#include "verify/run/run.h"

namespace verify {

// Notes where the buffers are behind the running step, where the runtime is a model that was given work. To be called
// behind every step of a program whose race is to be named.
void note_buffers(Run& run);
[[nodiscard]] std::string race_in_words(const Run& run, const Program& program, const RaceSeen& race);

}  // namespace verify
