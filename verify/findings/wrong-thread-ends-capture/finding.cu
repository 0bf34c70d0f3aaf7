// Ending a capture on the wrong thread ends it all the same.
//
// Documentation: cudaStreamEndCapture: unless the mode is relaxed, "this call must be from the same thread as
// cudaStreamBeginCapture"; cudaErrorStreamCaptureWrongThread.
// What happens: the other thread is refused, and the first one finds no capture any more.
#include <thread>

#include "../check.cuh"

int main() {
  cudaStream_t stream = nullptr;
  cudaGraph_t captured = nullptr;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaError_t elsewhere = cudaSuccess;
  std::thread([&] { elsewhere = cudaStreamEndCapture(stream, &captured); }).join();
  if (elsewhere != cudaErrorStreamCaptureWrongThread) return 2;
  check("status of cudaStreamEndCapture", cudaSuccess, cudaStreamEndCapture(stream, &captured));
  return verdict();
}
