// Work on the legacy null stream is accepted while a blocking stream captures.
// The story: finding.toml.
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
