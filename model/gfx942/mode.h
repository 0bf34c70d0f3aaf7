// The MODE register: float rounding and denormals.
#pragma once

#include "model/gfx942/wave.h"

namespace gfx942 {

// Ends the launch when the rounding is not to nearest even, or denormals are flushed on one side only.
void set_mode(Wave& w, u32 bits);

}  // namespace gfx942
