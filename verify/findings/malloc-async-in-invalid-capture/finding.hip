// In an invalid capture, hipMallocAsync returns hipErrorStreamCaptureUnsupported if another stream captures.
// The story: finding.toml.
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
