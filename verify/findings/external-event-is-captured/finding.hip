// An event that a capture records externally counts as captured.
// The story: finding.toml.
#include "../check.h"

enum class Use { kQuery, kSynchronize, kWait };

void capture_and(Use use) {
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  hipGraph_t graph = nullptr;
  MUST(hipStreamCreate(&stream));
  MUST(hipEventCreate(&event));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  MUST(hipEventRecordWithFlags(event, stream, hipEventRecordExternal));
  if (use == Use::kWait) {
    check("the null stream's wait", hipErrorStreamCaptureImplicit, hipStreamWaitEvent(nullptr, event, 0));
  } else {
    check("the call", hipErrorStreamCaptureUnsupported,
          use == Use::kQuery ? hipEventQuery(event) : hipEventSynchronize(event));
  }
  check("the end of the capture", hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &graph));
}

int main() {
  in_child("a query", [] { capture_and(Use::kQuery); });
  in_child("a synchronisation", [] { capture_and(Use::kSynchronize); });
  in_child("a wait of the null stream", [] { capture_and(Use::kWait); });
  return verdict();
}
