// The graph of the capture after a failed one is refused by every call.
// The story: finding.toml.
#include "../check.h"

__global__ void nothing() {}

int main() {
  hipStream_t stream = nullptr;
  MUST(hipStreamCreate(&stream));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  nothing<<<1, 1, 0, stream>>>();
  static_cast<void>(hipDeviceSynchronize());  // forbidden: the capture is invalid now
  hipGraph_t graph = nullptr;
  check("the end of the failed capture", hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &graph));

  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  nothing<<<1, 1, 0, stream>>>();
  check("the end of the next capture", hipSuccess, hipStreamEndCapture(stream, &graph));
  size_t nodes = 0;
  check("hipGraphGetNodes of its graph", hipSuccess, hipGraphGetNodes(graph, nullptr, &nodes));
  hipGraphExec_t exec = nullptr;
  check("hipGraphInstantiate of its graph", hipSuccess, hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  return verdict();
}
