// The calls of HIP that examples of a client's own command buffer (version 2 of hip/patcher_abi.h) share: functions by
// name, handles that are destroyed, and a kernel's parameters.
#pragma once

#include <vector>

#include "hip/patcher_abi.h"

namespace shown {

// The HIP functions that command buffers call.
// Laid out by hand: the formatter changes this list each time it runs.
// clang-format off
#define SHOWN_FUNCTIONS(X)                                                                                    \
  X(hipGraphCreate) X(hipGraphDestroy) X(hipGraphInstantiate)                                                 \
  X(hipGraphExecDestroy) X(hipGraphLaunch) X(hipGraphExecUpdate)                                              \
  X(hipGraphAddKernelNode) X(hipGraphAddMemcpyNode) X(hipGraphAddMemcpyNode1D)                                \
  X(hipGraphAddMemsetNode) X(hipGraphAddHostNode) X(hipGraphAddEmptyNode)                                     \
  X(hipGraphAddChildGraphNode) X(hipGraphAddEventRecordNode) X(hipGraphAddEventWaitNode)                      \
  X(hipGraphExecKernelNodeSetParams) X(hipGraphExecMemcpyNodeSetParams) X(hipGraphExecMemcpyNodeSetParams1D)  \
  X(hipGraphExecMemsetNodeSetParams) X(hipGetDevice) X(hipSetDevice)
// clang-format on

#define SHOWN_MEMBER(function) decltype(&::function) function = nullptr;
#define SHOWN_FIND(name)                                          \
  name = reinterpret_cast<decltype(name)>(hip->find(hip, #name)); \
  all = all && name != nullptr;

struct Hip {
  SHOWN_FUNCTIONS(SHOWN_MEMBER)

  // Whether the runtime has all of them.
  bool find(const hgpatcher_hip* hip) {
    bool all = true;
    SHOWN_FUNCTIONS(SHOWN_FIND)
    return all;
  }
};

// Destroys an object. A refused call is made once more, and its error returned: nothing is kept of the object.
template <class Handle>
hipError_t gone(hipError_t (*destroy)(Handle), Handle handle) {
  if (handle == nullptr) return hipSuccess;
  const hipError_t status = destroy(handle);
  if (status != hipSuccess && destroy(handle) != hipSuccess) return hipErrorUnknown;  // it is lost
  return status;
}

// Does the work with the device current, and makes the former one current again. The work's error comes first.
template <class Work>
hipError_t on_device(const Hip& hip, int device, const Work& work) {
  int before = 0;
  if (const hipError_t status = hip.hipGetDevice(&before); status != hipSuccess) return status;
  if (before == device) return work();
  if (const hipError_t status = hip.hipSetDevice(device); status != hipSuccess) return status;
  const hipError_t done = work();
  hipError_t back = hip.hipSetDevice(before);
  if (back != hipSuccess && hip.hipSetDevice(before) != hipSuccess) back = hipErrorUnknown;
  return done != hipSuccess ? done : back;
}

// A kernel's parameters as HIP takes them. Points into the command.
class KernelParams {
 public:
  explicit KernelParams(const hgpatcher_kernel& kernel) {
    auto* arguments = static_cast<unsigned char*>(const_cast<void*>(kernel.arguments));
    for (size_t i = 0; i < kernel.count; ++i) values_.push_back(arguments + kernel.offsets[i]);
    values_.push_back(nullptr);
    params_.func = reinterpret_cast<void*>(kernel.function);
    params_.gridDim = kernel.grid;
    params_.blockDim = kernel.block;
    params_.sharedMemBytes = kernel.shared_bytes;
    params_.kernelParams = values_.data();
  }
  KernelParams(const KernelParams&) = delete;
  KernelParams& operator=(const KernelParams&) = delete;
  [[nodiscard]] const hipKernelNodeParams* get() const { return &params_; }

 private:
  std::vector<void*> values_;
  hipKernelNodeParams params_{};
};

}  // namespace shown
