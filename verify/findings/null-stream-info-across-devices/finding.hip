// A capture on a stream of one device makes asking the null stream of another device an error. Needs two devices.
//
// Documentation: CUDA, cudaStreamGetCaptureInfo: cudaErrorStreamCaptureImplicit for the legacy stream while a stream of
// the same context is capturing; another device has another context. What happens: hipErrorStreamCaptureImplicit. Work
// on that null stream, hipStreamQuery and hipStreamSynchronize are right, and the capture stays valid.
#include "../check.h"

int main() {
  hipStream_t second = nullptr;
  int* memory = device_ints(16);
  MUST(hipSetDevice(1));
  MUST(hipStreamCreate(&second));
  MUST(hipStreamBeginCapture(second, hipStreamCaptureModeGlobal));
  MUST(hipSetDevice(0));
  check("work on the null stream of device 0", hipSuccess, hipMemsetAsync(memory, 0, 4, nullptr));
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  check("whether it captures", hipSuccess, hipStreamGetCaptureInfo(nullptr, &status, nullptr));
  hipGraph_t graph = nullptr;
  check("the end of the capture", hipSuccess, hipStreamEndCapture(second, &graph));
  return verdict();
}
