// Frozen addresses of a program that is exported.
#pragma once

#include "verify/program/program.h"

namespace verify {

// A frozen address is a number that a file cannot know before it runs. Gives each one a number that no buffer has as
// its address; whether there was any.
bool freeze_addresses(Program& program);

}  // namespace verify
