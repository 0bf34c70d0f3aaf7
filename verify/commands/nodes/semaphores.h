// Nodes of external semaphores in the language: one key `sem`, with values that commas separate: "sem=0:150,3:200".
#pragma once

#include <functional>
#include <string>

#include "verify/commands/nodes/node_types.h"

namespace verify {

void parse_semaphore_keys(Attributes& attributes, SemaphoreParams& params);
[[nodiscard]] std::string print_semaphores(const SemaphoreParams& params);
// Calls emit for each simpler list, the simplest first. A shorter list is simpler, and values of `signals` are not
// below the start.
void simplify_semaphores(const SemaphoreParams& params, bool signals,
                         const std::function<void(const SemaphoreParams&)>& emit);

}  // namespace verify
