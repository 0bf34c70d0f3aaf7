// Work that escapes a capture: while a stream captures, the program gives work to a stream that takes no part in it.
// The work runs once, beside the capture; it is no node of the captured graph, so no launch does it again. Frameworks
// whose libraries have streams of their own lose work of a step in this way.
//
// This is advice, not a divergence: HIP documents it, and a program may mean it. Work of a capture that fails is left
// out, and so are later rounds of blocks and threads that run beside each other. Not followed: child graphs and clones.
#pragma once

#include <string>
#include <vector>

#include "verify/program/program.h"

namespace verify {

// Sentences for a person, in the order in which the captures end: at most kMostEscapes, then how many more there are.
inline constexpr std::size_t kMostEscapes = 20;
[[nodiscard]] std::vector<std::string> escaped_work(const Program& program);

}  // namespace verify
