// hipGraphLaunch into a stream that is being captured runs the graph at once and leaves it out of the capture.
//
// Documentation: HIP, "HIP graphs", "Capture graphs from a stream": "The functions assigned to the capturing stream
// are not executed, but instead are captured and defined as nodes in the graph". (With CUDA the launch becomes a
// child graph node.)
// What happens: the launch returns hipSuccess and runs during the capture; the captured graph does not have it.
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
