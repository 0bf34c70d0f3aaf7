// A stream whose capture is invalid may begin another capture.
// The story: finding.toml.
#include "../check.h"

int main() {
  hipStream_t stream = nullptr;
  MUST(hipStreamCreate(&stream));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  if (hipStreamQuery(stream) != hipErrorStreamCaptureUnsupported) return 2;  // invalidates
  check("beginning again", hipErrorIllegalState, hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  return verdict();
}
