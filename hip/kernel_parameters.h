// hip::KernelParameters: the C structs through which HIP takes the arguments of a kernel, over an owned packed block.
//
// The structs point into the record, so the object lives only for the time of one call. HIP promises to copy the memory
// that they point at before the call returns (P1); that promise is the runtime's and is not checked here.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <vector>

#include "hip/recording.h"

namespace hip {

class KernelParameters {
 public:
  // Allocates only for kParams. Takes the record as non-const because HIP's structs want pointers to non-const.
  KernelParameters(KernelRecord& record, ArgumentStyle style) : size_(record.arguments.size()) {
    params_.func = record.function;
    params_.gridDim = record.grid;
    params_.blockDim = record.block;
    params_.sharedMemBytes = record.shared_bytes;
    if (style == ArgumentStyle::kExtra) {
      extra_[1] = record.arguments.data();
      params_.extra = extra_;
      return;
    }
    pointers_.reserve(record.slots.size() + 1);
    for (const ArgumentSlot& slot : record.slots) pointers_.push_back(record.arguments.data() + slot.offset);
    // So that the array of a kernel without arguments is not null: a setter of 7.2 refuses null where the node's kernel
    // had arguments until then (docs/findings.md, kernel-set-checks-old-function).
    pointers_.push_back(nullptr);
    params_.kernelParams = pointers_.data();
  }
  KernelParameters(const KernelParameters&) = delete;
  KernelParameters& operator=(const KernelParameters&) = delete;

  [[nodiscard]] const hipKernelNodeParams* get() const { return &params_; }

 private:
  std::size_t size_;
  void* extra_[5] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, nullptr, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size_,
                     HIP_LAUNCH_PARAM_END};
  std::vector<void*> pointers_;
  hipKernelNodeParams params_{};
};

}  // namespace hip
