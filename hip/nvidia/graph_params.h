// The parameters of graph nodes as HIP and as CUDA define them, both ways.
//
// HIP and CUDA name the same fields; the structs differ in the order of fields, in widths and in a few enumerations.
// Each conversion copies field by field and changes no value, so that CUDA judges the caller's values. Where both
// layouts are equal, a static_assert in graph_params.cpp says so and pointers to arrays are passed on as they are.
//
// Pointers within a struct (kernel arguments, arrays of access descriptors or of memory operations) stay pointers. The
// memory behind pointers from CUDA belongs to the node, as HIP documents too, and lives until the node's parameters are
// set again or the node is destroyed.
//
// Not here: whether the values are right. CUDA answers that.
//
// Sources: HIP 7.2's header documentation (group Graph); CUDA's documentation of the runtime and the driver, 12.4 and
// 13.0.
#pragma once

#include <optional>
#include <utility>

#include "hip/nvidia/convert.h"

namespace nvidia {

// ---- nodes of the runtime
[[nodiscard]] cudaMemcpy3DParms to_cuda(const hipMemcpy3DParms& from);
[[nodiscard]] hipMemcpy3DParms to_hip(const cudaMemcpy3DParms& from);
[[nodiscard]] cudaMemsetParams to_cuda(const hipMemsetParams& from);
[[nodiscard]] hipMemsetParams to_hip(const cudaMemsetParams& from);
[[nodiscard]] cudaHostNodeParams to_cuda(const hipHostNodeParams& from);
[[nodiscard]] hipHostNodeParams to_hip(const cudaHostNodeParams& from);
[[nodiscard]] cudaMemAllocNodeParams to_cuda(const hipMemAllocNodeParams& from);
[[nodiscard]] hipMemAllocNodeParams to_hip(const cudaMemAllocNodeParams& from);

// ---- nodes of the driver
[[nodiscard]] CUDA_MEMCPY3D to_cuda(const HIP_MEMCPY3D& from);
[[nodiscard]] HIP_MEMCPY3D to_hip(const CUDA_MEMCPY3D& from);
[[nodiscard]] CUDA_BATCH_MEM_OP_NODE_PARAMS to_cuda(const hipBatchMemOpNodeParams& from);
[[nodiscard]] hipBatchMemOpNodeParams to_hip(const CUDA_BATCH_MEM_OP_NODE_PARAMS& from);
[[nodiscard]] CUDA_EXT_SEM_SIGNAL_NODE_PARAMS to_cuda(const hipExternalSemaphoreSignalNodeParams& from);
[[nodiscard]] hipExternalSemaphoreSignalNodeParams to_hip(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS& from);
[[nodiscard]] CUDA_EXT_SEM_WAIT_NODE_PARAMS to_cuda(const hipExternalSemaphoreWaitNodeParams& from);
[[nodiscard]] hipExternalSemaphoreWaitNodeParams to_hip(const CUDA_EXT_SEM_WAIT_NODE_PARAMS& from);
[[nodiscard]] CUDA_MEMSET_NODE_PARAMS to_driver(const hipMemsetParams& from);

// ---- null pointers

// A caller may hand over null for parameters; CUDA is then given null as well, and answers.
template <class Hip>
class Given {
 public:
  using Cuda = decltype(to_cuda(std::declval<const Hip&>()));
  explicit Given(const Hip* from) {
    if (from != nullptr) value_ = to_cuda(*from);
  }
  [[nodiscard]] Cuda* get() { return value_ ? &*value_ : nullptr; }

 private:
  std::optional<Cuda> value_;
};

// Asks CUDA for parameters through `ask`, a function of a pointer to CUDA's struct that answers in HIP's errors. `to`
// is written where CUDA has succeeded; where it is null, CUDA is asked with null.
template <class Cuda, class Hip, class Ask>
[[nodiscard]] hipError_t read_params(Hip* to, Ask ask) {
  Cuda read{};
  const hipError_t status = ask(to == nullptr ? nullptr : &read);
  if (status == hipSuccess && to != nullptr) *to = to_hip(read);
  return status;
}

}  // namespace nvidia
