// The MODE register: float rounding and denormals.
#pragma once

#include "model/gfx942/wave.h"

namespace gfx942 {

// Ends the launch when rounding is not to nearest even, or when only inputs or only results get denormals flushed.
void set_mode(Wave& w, u32 bits);

}  // namespace gfx942
