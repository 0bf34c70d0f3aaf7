// Frozen addresses of a program that is exported.
#pragma once

#include "verify/program/program.h"

namespace verify {

// A file cannot know a frozen address before it runs. Replaces each frozen address by a number that is no buffer's
// address, and returns whether there was any.
bool freeze_addresses(Program& program);

}  // namespace verify
