// External records and waits in an invalid capture succeed.
// The story: finding.toml.
#include "../check.h"

int main() {
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  hipGraph_t graph = nullptr;
  void* memory = nullptr;
  MUST(hipMalloc(&memory, 64));
  MUST(hipStreamCreate(&stream));
  MUST(hipEventCreate(&event));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  check("a query", hipErrorStreamCaptureUnsupported, hipStreamQuery(stream));
  check("a memset", hipErrorStreamCaptureInvalidated, hipMemsetAsync(memory, 1, 64, stream));
  check("an external record", hipErrorStreamCaptureInvalidated,
        hipEventRecordWithFlags(event, stream, hipEventRecordExternal));
  check("an external wait", hipErrorStreamCaptureInvalidated, hipStreamWaitEvent(stream, event, hipEventWaitExternal));
  check("the end of the capture", hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &graph));
  return verdict();
}
