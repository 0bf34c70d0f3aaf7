// An invalid capture into an existing graph destroys that graph.
// The story: finding.toml.
#include "../check.h"

int main() {
  hipStream_t stream = nullptr;
  hipGraph_t graph = nullptr, ended = nullptr;
  MUST(hipStreamCreate(&stream));
  MUST(hipGraphCreate(&graph, 0));
  MUST(hipStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, hipStreamCaptureModeRelaxed));
  if (hipStreamQuery(stream) != hipErrorStreamCaptureUnsupported) return 2;  // invalidates
  if (hipStreamEndCapture(stream, &ended) != hipErrorStreamCaptureInvalidated) return 2;
  check("destroying the caller's graph", hipSuccess, hipGraphDestroy(graph));
  return verdict();
}
