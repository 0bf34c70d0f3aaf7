// hipMallocAsync on a stream whose capture is invalid is called an unsafe call of another stream's capture.
//
// Documentation: hipErrorStreamCaptureInvalidated: "The current capture sequence on the stream has been invalidated due
// to a previous error". hipMallocAsync is an operation of its stream, which a capture takes in.
// What happens: hipErrorStreamCaptureUnsupported while any other stream captures, in relaxed mode, too; without one the
// answer is right.
#include "../check.h"

int main() {
  hipStream_t failed = nullptr, other = nullptr;
  MUST(hipStreamCreate(&failed));
  MUST(hipStreamCreate(&other));
  MUST(hipStreamBeginCapture(failed, hipStreamCaptureModeRelaxed));
  check("a query, which invalidates the capture", hipErrorStreamCaptureUnsupported, hipStreamQuery(failed));
  void* memory = nullptr;
  check("an allocation in it", hipErrorStreamCaptureInvalidated, hipMallocAsync(&memory, 64, failed));
  MUST(hipStreamBeginCapture(other, hipStreamCaptureModeRelaxed));
  check("an allocation in it, while another stream captures", hipErrorStreamCaptureInvalidated,
        hipMallocAsync(&memory, 64, failed));
  return verdict();
}
