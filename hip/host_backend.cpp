#include "hip/host_backend.h"

#include <cstdlib>
#include <cstring>

namespace hip {
namespace {

constexpr std::size_t kAlignment = 256;  // of allocations, as on GPUs
constexpr unsigned kAllEventFlags = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess |
                                    hipEventDisableSystemFence | hipEventReleaseToDevice | hipEventReleaseToSystem;

// ---- devices

hipError_t get_count(int* count) {
  if (count == nullptr) return hipErrorInvalidValue;
  *count = 1;
  return hipSuccess;
}
hipError_t get_device(int* device) {
  if (device == nullptr) return hipErrorInvalidValue;
  *device = 0;
  return hipSuccess;
}
hipError_t set_device(int device) {
  return device == 0 ? hipSuccess : hipErrorInvalidDevice;
}
hipError_t nothing_to_do() {
  return hipSuccess;
}
hipError_t get_version(int* version) {
  if (version == nullptr) return hipErrorInvalidValue;
  *version = HIP_VERSION;
  return hipSuccess;
}
hipError_t get_priority_range(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = 0;
  return hipSuccess;
}

// ---- memory

hipError_t allocate(void** out, std::size_t size) {
  if (out == nullptr) return hipErrorInvalidValue;
  *out = nullptr;
  if (size == 0) return hipSuccess;
  if (size > static_cast<std::size_t>(PTRDIFF_MAX) - kAlignment) return hipErrorOutOfMemory;
  *out = std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
  return *out == nullptr ? hipErrorOutOfMemory : hipSuccess;
}
hipError_t release(void* memory) {
  std::free(memory);
  return hipSuccess;
}
hipError_t allocate_host(void** out, std::size_t size, unsigned) {
  return allocate(out, size);
}
hipError_t allocate_on(void** out, std::size_t size, hipStream_t stream) {
  return stream == nullptr ? allocate(out, size) : hipErrorInvalidHandle;
}
hipError_t release_on(void* memory, hipStream_t stream) {
  return stream == nullptr ? release(memory) : hipErrorInvalidHandle;
}
hipError_t copy(void* dst, const void* src, std::size_t size, hipMemcpyKind) {
  if (size != 0 && (dst == nullptr || src == nullptr)) return hipErrorInvalidValue;
  if (size != 0) std::memmove(dst, src, size);
  return hipSuccess;
}
hipError_t copy_on(void* dst, const void* src, std::size_t size, hipMemcpyKind kind, hipStream_t stream) {
  return stream == nullptr ? copy(dst, src, size, kind) : hipErrorInvalidHandle;
}
hipError_t fill(void* dst, int value, std::size_t size) {
  if (size != 0 && dst == nullptr) return hipErrorInvalidValue;
  if (size != 0) std::memset(dst, value, size);
  return hipSuccess;
}
hipError_t fill_on(void* dst, int value, std::size_t size, hipStream_t stream) {
  return stream == nullptr ? fill(dst, value, size) : hipErrorInvalidHandle;
}

// ---- streams and events: handle 0 or nothing

hipError_t create_stream(hipStream_t* out, unsigned flags) {
  if (out == nullptr || flags > hipStreamNonBlocking) return hipErrorInvalidValue;
  *out = nullptr;
  return hipSuccess;
}
hipError_t create_stream_with_priority(hipStream_t* out, unsigned flags, int) {
  return create_stream(out, flags);
}
hipError_t only_stream(hipStream_t stream) {
  return stream == nullptr ? hipSuccess : hipErrorInvalidHandle;
}
hipError_t get_number(hipStream_t stream, int* number) {  // a stream's priority, and its device
  if (number == nullptr) return hipErrorInvalidValue;
  *number = 0;
  return only_stream(stream);
}
hipError_t create_event(hipEvent_t* out, unsigned flags) {
  if (out == nullptr || (flags & ~kAllEventFlags) != 0) return hipErrorInvalidValue;
  *out = nullptr;
  return hipSuccess;
}
hipError_t only_event(hipEvent_t event) {
  return event == nullptr ? hipSuccess : hipErrorInvalidHandle;
}
hipError_t record(hipEvent_t event, hipStream_t stream) {
  return event == nullptr ? only_stream(stream) : hipErrorInvalidHandle;
}
hipError_t wait(hipStream_t stream, hipEvent_t event, unsigned) {
  return record(event, stream);
}
hipError_t elapsed(float* milliseconds, hipEvent_t from, hipEvent_t to) {
  if (milliseconds == nullptr) return hipErrorInvalidValue;
  if (from != nullptr || to != nullptr) return hipErrorInvalidHandle;
  *milliseconds = 0;
  return hipSuccess;
}

// ---- work

hipError_t run_host_function(hipStream_t stream, hipHostFn_t function, void* user_data) {
  if (function == nullptr) return hipErrorInvalidValue;
  if (stream != nullptr) return hipErrorInvalidHandle;
  function(user_data);
  return hipSuccess;
}

hipError_t run_kernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned, hipStream_t stream, void** params, void** extra) {
  if (function == nullptr || stream != nullptr) return hipErrorInvalidHandle;
  if (params != nullptr && extra != nullptr) return hipErrorInvalidValue;
  const std::byte* block = nullptr;
  std::size_t size = 0;
  for (void** at = extra; at != nullptr && *at != HIP_LAUNCH_PARAM_END; at += 2) {
    if (*at == HIP_LAUNCH_PARAM_BUFFER_POINTER)
      block = static_cast<const std::byte*>(at[1]);
    else if (*at == HIP_LAUNCH_PARAM_BUFFER_SIZE)
      size = *static_cast<const std::size_t*>(at[1]);
    else
      return hipErrorInvalidValue;
  }
  reinterpret_cast<const HostFunction*>(function)->run(dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z),
                                                       block, size, params);
  return hipSuccess;
}

Api make_table() {
  Api api;
  api.hipGetDeviceCount = get_count;
  api.hipGetDevice = get_device;
  api.hipSetDevice = set_device;
  api.hipDeviceSynchronize = nothing_to_do;
  api.hipGetLastError = nothing_to_do;
  api.hipPeekAtLastError = nothing_to_do;
  api.hipRuntimeGetVersion = get_version;
  api.hipDriverGetVersion = get_version;
  api.hipDeviceGetStreamPriorityRange = get_priority_range;
  api.hipMalloc = allocate;
  api.hipFree = release;
  api.hipHostMalloc = allocate_host;
  api.hipHostFree = release;
  api.hipMallocAsync = allocate_on;
  api.hipFreeAsync = release_on;
  api.hipMemcpy = copy;
  api.hipMemcpyAsync = copy_on;
  api.hipMemset = fill;
  api.hipMemsetAsync = fill_on;
  api.hipStreamCreateWithFlags = create_stream;
  api.hipStreamCreateWithPriority = create_stream_with_priority;
  api.hipStreamDestroy = only_stream;
  api.hipStreamSynchronize = only_stream;
  api.hipStreamQuery = only_stream;
  api.hipStreamGetPriority = get_number;
  api.hipStreamGetDevice = get_number;
  api.hipStreamWaitEvent = wait;
  api.hipEventCreateWithFlags = create_event;
  api.hipEventDestroy = only_event;
  api.hipEventRecord = record;
  api.hipEventSynchronize = only_event;
  api.hipEventQuery = only_event;
  api.hipEventElapsedTime = elapsed;
  api.hipLaunchHostFunc = run_host_function;
  api.hipModuleLaunchKernel = run_kernel;
  return api;
}

}  // namespace

const Api& host_api() {
  static const Api table = make_table();
  return table;
}

hipFunction_t host_function(const HostFunction& function) {
  // Only a handle: nothing is ever written through it.
  return reinterpret_cast<hipFunction_t>(const_cast<HostFunction*>(&function));
}

}  // namespace hip
