// Work on the legacy null stream is accepted while a blocking stream captures.
//
// Documentation: hipErrorStreamCaptureImplicit: "The operation would have resulted in a disallowed implicit dependency
// on a current capture sequence from hipStreamLegacy." What happens: hipSuccess, and the capture stays valid.
// hipStreamIsCapturing does answer hipErrorStreamCaptureImplicit.
#include "../check.h"

int main() {
  int* memory = device_ints(1);
  hipStream_t stream = nullptr;
  hipGraph_t graph = nullptr;
  MUST(hipStreamCreate(&stream));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  check("work on the null stream", hipErrorStreamCaptureImplicit, hipMemsetAsync(memory, 1, sizeof(int), nullptr));
  check("the end of the capture", hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &graph));
  return verdict();
}
