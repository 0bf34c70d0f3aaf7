// hipGraphLaunch into a stream that is being captured runs at once and is not captured.
// The story: finding.toml.
#include "../check.h"

__global__ void count(int* counter) {
  *counter += 1;
}

int main() {
  int* counter = device_ints(1);
  hipGraph_t graph = new_graph();
  kernel_node(graph, {}, count, counter);
  hipGraphExec_t exec = instantiate(graph);
  hipStream_t stream = nullptr;
  MUST(hipStreamCreate(&stream));
  hipGraph_t captured = nullptr;
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  const hipError_t launched = hipGraphLaunch(exec, stream);
  const hipError_t ended = hipStreamEndCapture(stream, &captured);
  MUST(hipDeviceSynchronize());
  check("runs during the capture", 0, read_int(counter));
  if (launched != hipSuccess || ended != hipSuccess) return verdict();  // a refusal is no silent loss
  size_t nodes = 0;
  MUST(hipGraphGetNodes(captured, nullptr, &nodes));
  check("nodes of the captured graph", 1, static_cast<long long>(nodes));
  return verdict();
}
