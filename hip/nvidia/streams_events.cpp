// Streams, events, host functions, values in memory that streams wait for. Captures: capture.cpp.
#include <memory>

#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"

using nvidia::answer;
using nvidia::cuda;
using nvidia::cuda_with_context;
using nvidia::refuse;
using nvidia::to_address;
using nvidia::to_cuda;

namespace {

// CUDA calls a callback with its own error, and HIP's callback wants HIP's.
struct Callback {
  hipStreamCallback_t function;
  void* data;
};
void CUDART_CB call_back(cudaStream_t stream, cudaError_t error, void* data) {
  const std::unique_ptr<const Callback> callback(static_cast<const Callback*>(data));
  callback->function(reinterpret_cast<hipStream_t>(stream), nvidia::to_hip(error), callback->data);
}

// How far an event's releases reach is AMD's; the other flags are CUDA's.
constexpr unsigned kReleases = hipEventReleaseToDevice | hipEventReleaseToSystem;
constexpr unsigned kOfAmd = kReleases | hipEventDisableSystemFence;

}  // namespace

static_assert(hipStreamNonBlocking == cudaStreamNonBlocking);
static_assert(hipEventBlockingSync == cudaEventBlockingSync && hipEventDisableTiming == cudaEventDisableTiming);
static_assert(hipEventRecordExternal == cudaEventRecordExternal && hipEventWaitExternal == cudaEventWaitExternal);
static_assert(hipStreamWaitValueGte == static_cast<int>(CU_STREAM_WAIT_VALUE_GEQ));
static_assert(hipStreamWaitValueNor == static_cast<int>(CU_STREAM_WAIT_VALUE_NOR));

extern "C" {

hipError_t hipStreamCreate(hipStream_t* stream) {
  return hipStreamCreateWithPriority(stream, hipStreamDefault, 0);
}
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return hipStreamCreateWithPriority(stream, flags, 0);
}
hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int priority) {
  return answer(cuda().cudaStreamCreateWithPriority(to_cuda(stream), flags, priority));
}
hipError_t hipStreamDestroy(hipStream_t stream) {
  return answer(cuda().cudaStreamDestroy(to_cuda(stream)));
}
hipError_t hipStreamSynchronize(hipStream_t stream) {
  return answer(cuda().cudaStreamSynchronize(to_cuda(stream)));
}
hipError_t hipStreamQuery(hipStream_t stream) {
  return answer(cuda().cudaStreamQuery(to_cuda(stream)));
}
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  return answer(cuda().cudaStreamWaitEvent(to_cuda(stream), to_cuda(event), flags));
}
hipError_t hipStreamGetFlags(hipStream_t stream, unsigned* flags) {
  return answer(cuda().cudaStreamGetFlags(to_cuda(stream), flags));
}
hipError_t hipStreamGetPriority(hipStream_t stream, int* priority) {
  return answer(cuda().cudaStreamGetPriority(to_cuda(stream), priority));
}
hipError_t hipStreamGetId(hipStream_t stream, unsigned long long* id) {
  return answer(cuda().cudaStreamGetId(to_cuda(stream), id));
}
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  return answer(cuda().cudaStreamGetDevice(to_cuda(stream), device));
}

hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void* data, unsigned flags) {
  if (callback == nullptr) return refuse(hipErrorInvalidValue);  // CUDA's documented answer as well
  auto made = std::make_unique<Callback>(Callback{callback, data});
  const hipError_t code = answer(cuda().cudaStreamAddCallback(to_cuda(stream), &call_back, made.get(), flags));
  if (code == hipSuccess) static_cast<void>(made.release());  // the callback's, which is called once
  return code;
}
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* data) {
  return answer(cuda().cudaLaunchHostFunc(to_cuda(stream), function, data));
}

// The driver's: the runtime's names have other types in CUDA 11 and 12.
hipError_t hipStreamCopyAttributes(hipStream_t to, hipStream_t from) {
  return answer(cuda_with_context().cuStreamCopyAttributes(to_cuda(to), to_cuda(from)));
}
hipError_t hipStreamSetAttribute(hipStream_t stream, hipStreamAttrID attribute, const hipStreamAttrValue* value) {
  CUlaunchAttributeValue given{};
  if (value != nullptr) given = nvidia::to_driver(attribute, *value);
  return answer(cuda_with_context().cuStreamSetAttribute(
      to_cuda(stream), nvidia::same_number<CUstreamAttrID>(attribute), value == nullptr ? nullptr : &given));
}
hipError_t hipStreamGetAttribute(hipStream_t stream, hipStreamAttrID attribute, hipStreamAttrValue* value) {
  CUlaunchAttributeValue got{};
  const hipError_t code = answer(cuda_with_context().cuStreamGetAttribute(
      to_cuda(stream), nvidia::same_number<CUstreamAttrID>(attribute), value == nullptr ? nullptr : &got));
  if (code == hipSuccess) *value = nvidia::to_hip(attribute, got);
  return code;
}

hipError_t hipStreamBatchMemOp(hipStream_t stream, unsigned count, hipStreamBatchMemOpParams* list, unsigned flags) {
  return answer(cuda_with_context().cuStreamBatchMemOp(to_cuda(stream), count, to_cuda(list), flags));
}
hipError_t hipStreamWriteValue32(hipStream_t stream, void* place, uint32_t value, unsigned flags) {
  return answer(cuda_with_context().cuStreamWriteValue32(to_cuda(stream), to_address(place), value, flags));
}
hipError_t hipStreamWriteValue64(hipStream_t stream, void* place, uint64_t value, unsigned flags) {
  return answer(cuda_with_context().cuStreamWriteValue64(to_cuda(stream), to_address(place), value, flags));
}
// HIP masks the value in memory before it compares; CUDA has no mask, so that any but the full one is not supported.
hipError_t hipStreamWaitValue32(hipStream_t stream, void* place, uint32_t value, unsigned flags, uint32_t mask) {
  if (mask != ~uint32_t{0}) return refuse(hipErrorNotSupported);
  return answer(cuda_with_context().cuStreamWaitValue32(to_cuda(stream), to_address(place), value, flags));
}
hipError_t hipStreamWaitValue64(hipStream_t stream, void* place, uint64_t value, unsigned flags, uint64_t mask) {
  if (mask != ~uint64_t{0}) return refuse(hipErrorNotSupported);
  return answer(cuda_with_context().cuStreamWaitValue64(to_cuda(stream), to_address(place), value, flags));
}

hipError_t hipEventCreate(hipEvent_t* event) {
  return answer(cuda().cudaEventCreate(to_cuda(event)));
}
// HIP documents that the two releases exclude each other.
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  if ((flags & kReleases) == kReleases) return refuse(hipErrorInvalidValue);
  return answer(cuda().cudaEventCreateWithFlags(to_cuda(event), flags & ~kOfAmd));
}
hipError_t hipEventDestroy(hipEvent_t event) {
  return answer(cuda().cudaEventDestroy(to_cuda(event)));
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return answer(cuda().cudaEventRecord(to_cuda(event), to_cuda(stream)));
}
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned flags) {
  return answer(cuda().cudaEventRecordWithFlags(to_cuda(event), to_cuda(stream), flags));
}
hipError_t hipEventSynchronize(hipEvent_t event) {
  return answer(cuda().cudaEventSynchronize(to_cuda(event)));
}
hipError_t hipEventQuery(hipEvent_t event) {
  return answer(cuda().cudaEventQuery(to_cuda(event)));
}
hipError_t hipEventElapsedTime(float* ms, hipEvent_t start, hipEvent_t stop) {
  return answer(cuda().cudaEventElapsedTime(ms, to_cuda(start), to_cuda(stop)));
}
}
