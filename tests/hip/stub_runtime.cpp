// A library for tests of the loader. It exports the functions of functions.inc by name; the functions do nothing. It
// has no HIP headers, so that it can lack functions and give them any type.
#define HIP_FUNCTION(name, ...) \
  extern "C" int name() {       \
    return 0;                   \
  }
#include "hip/api/functions.inc"

// A runtime that says its version (STUB_VERSION); its hipRuntimeGetVersion is left out above.
#undef hipRuntimeGetVersion
extern "C" int hipRuntimeGetVersion(int* version) {
  *version = STUB_VERSION;
  return 0;
}
