// Programs that explore call this first; it also brings operators.cpp into the program.
#pragma once

namespace verify::race {

// Switches the arena on for schedules. False where a sanitizer's allocator is in the way.
bool count_memory();

}  // namespace verify::race
