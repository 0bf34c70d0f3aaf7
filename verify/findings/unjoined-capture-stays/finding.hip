// A capture continues after hipStreamEndCapture has returned hipErrorStreamCaptureUnjoined.
// The story: finding.toml.
#include "../check.h"

int main() {
  int* memory = device_ints(1);
  hipStream_t stream = nullptr, fork = nullptr;
  hipEvent_t event = nullptr;
  hipGraph_t graph = nullptr;
  MUST(hipStreamCreate(&stream));
  MUST(hipStreamCreate(&fork));
  MUST(hipEventCreate(&event));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  MUST(hipMemsetAsync(memory, 1, sizeof(int), stream));
  MUST(hipEventRecord(event, stream));
  MUST(hipStreamWaitEvent(fork, event, 0));
  MUST(hipMemsetAsync(memory, 2, sizeof(int), fork));
  MUST(hipMemsetAsync(memory, 3, sizeof(int), stream));
  if (hipStreamEndCapture(stream, &graph) != hipErrorStreamCaptureUnjoined) return 2;
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  MUST(hipStreamIsCapturing(stream, &status));
  check("status of the stream", static_cast<long long>(hipStreamCaptureStatusNone), static_cast<long long>(status));
  check("the next capture", hipSuccess, hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  return verdict();
}
