// A capture that a helper thread began, and that failed, still forbids unsafe calls after it has ended.
//
// Documentation: hipStreamEndCapture ends capture; when it was invalidated, hipErrorStreamCaptureInvalidated, and the
// capture is over.
// What happens: hipStreamSynchronize on the first thread answers hipErrorStreamCaptureUnsupported.
#include <thread>

#include "check.h"

int main() {
  hipStream_t stream = nullptr;
  MUST(hipStreamCreate(&stream));
  std::thread([&] { MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal)); }).join();
  if (hipDeviceSynchronize() != hipErrorStreamCaptureUnsupported) return 2;  // invalidates
  std::thread([&] {
    hipGraph_t graph = nullptr;
    static_cast<void>(hipStreamEndCapture(stream, &graph));
  }).join();
  check("synchronising with the stream", hipSuccess, hipStreamSynchronize(stream));
  return verdict();
}
