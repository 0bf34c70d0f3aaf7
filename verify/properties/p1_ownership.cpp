// P1, ownership: parameters are copied when a call returns. The caller may free, reuse or poison everything it passed
// in (kernelParams, the values that they point at, `extra` buffers, copy structs, dependency arrays), and the memory
// that a getter returns stays the runtime's own.
//
// Detector: the interposer passes on copies of all arguments and overwrites the copies when the call has returned. A
// divergence that disappears when the same program runs without the overwriting breaks this property. Not seen: a
// runtime that reads passed memory later and happens to find the expected values there.
#include "verify/properties/causes.h"

namespace verify {

RunOptions keeping_what_was_passed(RunOptions options) {
  options.poison = false;
  options.keep_passed = true;
  return options;
}

}  // namespace verify
