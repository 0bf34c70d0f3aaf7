// HIP's parameter structs to the model's parameters and back. Everything that a struct points at is copied.
#pragma once

#include "model/abi/context.h"

namespace model::abi {

// Elements of `extra` that are read at most; a list without HIP_LAUNCH_PARAM_END among them is refused.
inline constexpr std::size_t kMaxExtraEntries = 16;

// kNotSupported for arrays (the model has none); kInvalidValue for null.
[[nodiscard]] Status from_hip(const hipMemcpy3DParms* params, CopyParams* out);
[[nodiscard]] hipMemcpy3DParms to_hip(const CopyParams& copy);
// The driver's struct has a memory type for each side, which give the copy's direction (unified or managed: default).
[[nodiscard]] Status from_hip(const HIP_MEMCPY3D* params, CopyParams* out);
[[nodiscard]] HIP_MEMCPY3D to_driver(const CopyParams& copy);
[[nodiscard]] Status from_hip(const hipMemsetParams* params, MemsetParams* out);
[[nodiscard]] hipMemsetParams to_hip(const MemsetParams& set);
[[nodiscard]] Status from_hip(const hipHostNodeParams* params, HostParams* out);
[[nodiscard]] hipHostNodeParams to_hip(const HostParams& host);
[[nodiscard]] Status from_hip(const hipBatchMemOpNodeParams* params, BatchParams* out);  // memory_operations.cpp

// Packs the arguments: exactly one of kernel_params and extra, unless the kernel has no arguments.
[[nodiscard]] Status pack(const Kernel& kernel, void* const* kernel_params, void* const* extra,
                          std::vector<std::byte>* out);
// The modelled device is an MI300X: 304 compute units of 4 SIMDs with 8 waves each and 64 KiB of LDS.
inline constexpr int kUnits = 304, kMaxBlock = 1024;
inline constexpr std::size_t kSharedOfUnit = 64 * 1024;
// Workgroups of `block` work items, 1 to kMaxBlock, that one compute unit holds. Registers are not counted.
[[nodiscard]] int active_blocks(const Kernel& kernel, int block, std::size_t dynamic_shared);
// Whether all workgroups of a cooperative launch fit on the device at once. Other launches may be of any size, and a
// block of an invalid size is refused by others.
[[nodiscard]] bool runs_at_once(const Kernel& kernel, const LaunchShape& shape);
[[nodiscard]] Status from_hip(State& state, const hipKernelNodeParams* params, KernelParams* out);
// Memory that the result points at belongs to the node, until its parameters change or it dies.
[[nodiscard]] hipKernelNodeParams to_hip(const State& state, Node& node);
// Setters of an executable graph's copies, and the driver's forms, document no other error than hipErrorInvalidValue
// (hipDrvGraph*.cc).
[[nodiscard]] inline Status as_invalid_value(Status status) {
  const bool other = status == Status::kInvalidPitchValue || status == Status::kInvalidMemcpyDirection;
  return other ? Status::kInvalidValue : status;
}
// Enqueues a copy that is no node (copies.cpp). With `async` the call waits only for copies of pageable memory.
[[nodiscard]] Status copy_on_stream(State& state, const CopyParams& params, hipStream_t stream, bool async);

// Fails for a handle that is no node's (graphs.cpp).
[[nodiscard]] Status find_nodes(State& state, const hipGraphNode_t* handles, std::size_t count,
                                std::vector<Node*>* nodes);

// The kernel that a handle or a host function of the program stands for, or null.
[[nodiscard]] const Function* find_kernel(State& state, const void* function);
// The same on a device, because a host function stands for a kernel on each. Null: `*status` is the error.
[[nodiscard]] const Function* find_kernel(State& state, const void* function, int device, Status* status);

}  // namespace model::abi
