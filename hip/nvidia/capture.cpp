// Stream capture as HIP's C functions. CUDA's answers.
//
// Modes and states of a capture, and the flags of hipStreamUpdateCaptureDependencies, have the same numbers in both.
// Edge data is asked for by none of HIP's functions here but hipStreamBeginCaptureToGraph; CUDA is given null.
// Sources: HIP 7.2's header documentation (group Graph); CUDA's documentation of the runtime, 12.4 and 13.0.
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"
#include "hip/nvidia/graph_params.h"

namespace nvidia {
namespace {

static_assert(static_cast<int>(hipStreamCaptureModeRelaxed) == static_cast<int>(cudaStreamCaptureModeRelaxed));
static_assert(static_cast<int>(hipStreamCaptureStatusInvalidated) ==
              static_cast<int>(cudaStreamCaptureStatusInvalidated));
static_assert(static_cast<int>(hipStreamSetCaptureDependencies) == static_cast<int>(cudaStreamSetCaptureDependencies));

// The state of a capture, by CUDA's function `ask` of a pointer to its enumeration.
template <class Ask>
hipError_t read_status(hipStreamCaptureStatus* to, Ask ask) {
  cudaStreamCaptureStatus read = cudaStreamCaptureStatusNone;
  const hipError_t status = answer(ask(to == nullptr ? nullptr : &read));
  if (status == hipSuccess && to != nullptr) *to = same_number<hipStreamCaptureStatus>(read);
  return status;
}

}  // namespace

extern "C" {

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return answer(cuda().cudaStreamBeginCapture(to_cuda(stream), to_cuda(mode)));
}

hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                        const hipGraphEdgeData* edges, size_t count, hipStreamCaptureMode mode) {
  return answer(cuda().cudaStreamBeginCaptureToGraph(to_cuda(stream), to_cuda(graph), to_cuda(dependencies),
                                                     to_cuda(edges), count, to_cuda(mode)));
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return answer(cuda().cudaStreamEndCapture(to_cuda(stream), to_cuda(graph)));
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* state) {
  return read_status(
      state, [stream](cudaStreamCaptureStatus* read) { return cuda().cudaStreamIsCapturing(to_cuda(stream), read); });
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* state, unsigned long long* id) {
  return read_status(state, [stream, id](cudaStreamCaptureStatus* read) {
    return cuda().cudaStreamGetCaptureInfo(to_cuda(stream), read, id, nullptr, nullptr, nullptr, nullptr);
  });
}

// The list belongs to the capture, and lives until the next call of HIP on the stream.
hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus* state, unsigned long long* id,
                                      hipGraph_t* graph, const hipGraphNode_t** dependencies, size_t* count) {
  return read_status(state, [=](cudaStreamCaptureStatus* read) {
    return cuda().cudaStreamGetCaptureInfo(to_cuda(stream), read, id, to_cuda(graph), to_cuda(dependencies), nullptr,
                                           count);
  });
}

hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t* dependencies, size_t count,
                                              unsigned flags) {
  return answer(
      cuda().cudaStreamUpdateCaptureDependencies(to_cuda(stream), to_cuda(dependencies), nullptr, count, flags));
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  if (mode == nullptr) return answer(cuda().cudaThreadExchangeStreamCaptureMode(nullptr));
  cudaStreamCaptureMode exchanged = to_cuda(*mode);
  const hipError_t status = answer(cuda().cudaThreadExchangeStreamCaptureMode(&exchanged));
  *mode = same_number<hipStreamCaptureMode>(exchanged);
  return status;
}

}  // extern "C"
}  // namespace nvidia
