// P1, ownership: parameters are copied when a call returns. The caller may free, reuse or poison everything it passed
// in (kernelParams, what they point at, `extra` buffers, copy structs, dependency arrays), and what a getter returns
// stays the runtime's own.
//
// Detector: the interposer hands copies of everything on and overwrites them when the call has returned; a divergence
// that is gone when the same program runs without that is this property's. Not seen: a runtime that reads what was
// passed later and happens to find what it expects there.
#include "verify/properties/causes.h"

namespace verify {

RunOptions keeping_what_was_passed(RunOptions options) {
  options.poison = false;
  options.keep_passed = true;
  return options;
}

}  // namespace verify
