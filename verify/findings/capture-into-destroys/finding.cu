// An invalid capture into an existing graph destroys that graph.
// The story: finding.toml. Another implementation may crash in cudaGraphDestroy instead of returning an error.
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
