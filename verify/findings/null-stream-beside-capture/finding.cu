// The null stream beside a capture: what is refused anyway is refused for another reason, and a wait is refused.
//
// Documentation: cudaErrorStreamCaptureImplicit names a dependency on a capture from the legacy stream; a stream that
// was made with cudaStreamNonBlocking has none (cudaStreamCreateWithFlags).
// What happens: cudaErrorStreamCaptureImplicit and, for the wait, cudaErrorStreamCaptureUnsupported.
#include "../check.cuh"

int main() {
  cudaStream_t stream = nullptr;
  cudaGraph_t captured = nullptr;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  check("status of cudaStreamSynchronize", cudaSuccess, cudaStreamSynchronize(nullptr));
  static_cast<void>(cudaStreamEndCapture(stream, &captured));
  MUST(cudaStreamCreate(&stream));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  check("status of cudaStreamEndCapture", cudaErrorIllegalState, cudaStreamEndCapture(nullptr, &captured));
  static_cast<void>(cudaStreamEndCapture(stream, &captured));
  return verdict();
}
