// A host backend: the HIP functions that hip/ uses, done by the CPU before they return.
//
// Every stream and every event has the handle 0, and all work is done when the call that enqueues it returns; so
// queries return hipSuccess and synchronising never waits. There is one device, number 0. Device memory is memory of
// the process. A "kernel" is a HostFunction: it gets the packed argument block, or the kernelParams, as they were
// passed. Elapsed time is 0: the handle 0 holds no time.
//
// Missing (null in the table): graphs, capture, modules, pools, symbols; and hipStreamGetFlags: the handle 0 does not
// hold the flags of its creation, and a cache that reads back other flags would never find the stream again.
#pragma once

#include <cstddef>

#include "hip/api/api.h"

namespace hip {

struct HostFunction {
  // Exactly one of `block` (with its size) and `params` is given, as in hipModuleLaunchKernel.
  void (*run)(dim3 grid, dim3 block_shape, const std::byte* block, std::size_t block_bytes, void** params);
};

[[nodiscard]] const Api& host_api();
// The handle of the function for hipModuleLaunchKernel. The HostFunction has to live as long as the handle is used.
[[nodiscard]] hipFunction_t host_function(const HostFunction& function);

}  // namespace hip
