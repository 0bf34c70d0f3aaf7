// The fixture's door to the stand-in.
#include "nvidia/nvidia_fixture.h"

#include <dlfcn.h>

#include "hip/nvidia/configure.h"

namespace nvidia {

stub::State* NvidiaTest::stub_state() {
  static stub::State* const state = []() -> stub::State* {
    if (hgnv_configure(HGCHECK_CUDA_STUB_13, HGCHECK_CUDA_STUB_13) != 0) return nullptr;
    if (*hgnv_problem() != '\0') return nullptr;
    void* const library = dlopen(HGCHECK_CUDA_STUB_13, RTLD_NOW | RTLD_LOCAL);  // the one that is open already
    using Door = stub::State* (*)();
    const auto door = library == nullptr ? nullptr : reinterpret_cast<Door>(dlsym(library, "hgstub_state"));
    return door == nullptr ? nullptr : door();
  }();
  return state;
}

}  // namespace nvidia
