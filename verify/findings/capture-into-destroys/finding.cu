// An invalid capture into an existing graph destroys that graph, which belongs to the caller.
//
// Documentation: cudaStreamBeginCaptureToGraph captures into a graph that the caller made; cudaStreamEndCapture says
// nothing of destroying it.
// What happens: after cudaStreamEndCapture has answered an error the graph's handle is dead. (Another implementation
// may crash at the destruction instead of answering an error.)
#include "../check.cuh"

int main() {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr, ended = nullptr;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  if (cudaStreamQuery(stream) != cudaErrorStreamCaptureUnsupported) return 2;  // invalidates
  if (cudaStreamEndCapture(stream, &ended) != cudaErrorStreamCaptureInvalidated) return 2;
  check("destroying the caller's graph", cudaSuccess, cudaGraphDestroy(graph));
  return verdict();
}
