// Shared by the sources of verify/findings about a device whose memory is used up.
#pragma once
#include "check.h"

// Allocates until not even a page is left.
inline void take_all_memory() {
  void* memory = nullptr;
  for (size_t bytes = size_t{64} << 30; bytes >= 4096; bytes /= 2) {
    while (hipMalloc(&memory, bytes) == hipSuccess) continue;
  }
  (void)hipGetLastError();
}
