// The attributes of kernels. Sources: HIP's header documentation; catch/unit/executionControl.
#include <algorithm>

#include "model/abi/convert.h"

namespace model::abi {
namespace {

Status attribute(const Kernel& kernel, hipFunction_attribute which, int* value) {
  switch (which) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return put(value, kMaxBlock);
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return put(value, static_cast<int>(kernel.resources.shared_bytes));
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return put(value, static_cast<int>(kernel.resources.private_bytes));
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
      return put(value, static_cast<int>(kernel.resources.registers));
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return put(value,
                 static_cast<int>(kSharedOfUnit - std::min<std::size_t>(kernel.resources.shared_bytes, kSharedOfUnit)));
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return put(value, 0);
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
      return put(value, 94);
    default:
      return Status::kInvalidValue;
  }
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* function) {
  return call([&](State& state) {
    if (attributes == nullptr) return Status::kInvalidValue;
    const Function* found = find_kernel(state, function);
    if (found == nullptr) return Status::kInvalidDeviceFunction;
    const Resources& takes = found->kernel()->kernel->resources;
    *attributes = {};
    attributes->binaryVersion = attributes->ptxVersion = 94;
    attributes->maxThreadsPerBlock = kMaxBlock;
    attributes->sharedSizeBytes = takes.shared_bytes;
    attributes->localSizeBytes = takes.private_bytes;
    attributes->numRegs = static_cast<int>(takes.registers);
    attributes->maxDynamicSharedSizeBytes =
        static_cast<int>(kSharedOfUnit - std::min<std::size_t>(takes.shared_bytes, kSharedOfUnit));
    return Status::kSuccess;
  });
}

hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute which, hipFunction_t function) {
  return call([&](State& state) {
    if (value == nullptr) return Status::kInvalidValue;
    const Function* found = find_kernel(state, function);
    return found == nullptr ? Status::kInvalidHandle : attribute(*found->kernel()->kernel, which, value);
  });
}

// Both attributes are only hints: AMD's devices give every kernel all the LDS that it asks for.
hipError_t hipFuncSetAttribute(const void* function, hipFuncAttribute which, int) {
  return call([&](State& state) {
    if (find_kernel(state, function) == nullptr) return Status::kInvalidDeviceFunction;
    const bool known =
        which == hipFuncAttributeMaxDynamicSharedMemorySize || which == hipFuncAttributePreferredSharedMemoryCarveout;
    return known ? Status::kSuccess : Status::kInvalidValue;
  });
}

HGMODEL_FUNCTIONS_END
