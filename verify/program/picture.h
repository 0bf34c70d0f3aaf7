// Drawings of a program's graphs for a report: every graph as it is at the end of the program.
#pragma once

#include <string>
#include <vector>

#include "verify/program/program.h"
#include "verify/result.h"

namespace verify {

// `at_fault` holds names like "g0.n3" to be marked.
[[nodiscard]] std::vector<GraphPicture> draw_graphs(const Program& program, const std::vector<std::string>& at_fault);

}  // namespace verify
