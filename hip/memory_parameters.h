// hip::MemoryParameters: the C struct through which HIP takes the parameters of a memory allocation node.
//
// The struct points at the access descriptors, which belong to this object; both live for the time of one call. HIP
// writes the address of the memory into the struct.
#pragma once

#include <hip/hip_runtime_api.h>

#include <vector>

#include "hip/recording.h"

namespace hip {

class MemoryParameters {
 public:
  explicit MemoryParameters(const MemoryAllocRecord& record) {
    for (int device = 0; device < MemoryAllocRecord::kAccessBits; ++device) {
      if ((record.access >> device & 1) == 0) continue;
      access_.push_back({{hipMemLocationTypeDevice, device}, hipMemAccessFlagsProtReadWrite});
    }
    params_.poolProps.allocType = hipMemAllocationTypePinned;
    params_.poolProps.location = {hipMemLocationTypeDevice, record.device};
    params_.accessDescs = access_.empty() ? nullptr : access_.data();
    params_.accessDescCount = access_.size();
    params_.bytesize = record.bytes;
  }
  MemoryParameters(const MemoryParameters&) = delete;
  MemoryParameters& operator=(const MemoryParameters&) = delete;

  [[nodiscard]] hipMemAllocNodeParams* get() { return &params_; }
  [[nodiscard]] const hipMemAllocNodeParams* get() const { return &params_; }

 private:
  std::vector<hipMemAccessDesc> access_;
  hipMemAllocNodeParams params_{};
};

}  // namespace hip
