// A stream whose capture is invalid and has not ended may begin another one.
//
// Documentation: hipStreamBeginCapture is for streams that do not capture; an invalid capture ends with
// hipStreamEndCapture.
// What happens: hipSuccess; the first capture is forgotten and its graph is lost.
#include "../check.h"

int main() {
  hipStream_t stream = nullptr;
  MUST(hipStreamCreate(&stream));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  if (hipStreamQuery(stream) != hipErrorStreamCaptureUnsupported) return 2;  // invalidates
  check("beginning again", hipErrorIllegalState, hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  return verdict();
}
