// hipGraphExecMemsetNodeSetParams refuses the unchanged parameters of a captured 2D memset of larger elements.
// The story: finding.toml.
#include "../check.h"

int main() {
  int* memory = device_ints(16);
  hipStream_t stream = nullptr;
  hipGraph_t graph = nullptr;
  MUST(hipStreamCreate(&stream));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  MUST(hipMemsetD2D32Async(memory, 12, 7, 2, 4, stream));
  MUST(hipStreamEndCapture(stream, &graph));
  hipGraphNode_t node = nullptr;
  size_t nodes = 1;
  MUST(hipGraphGetNodes(graph, &node, &nodes));
  hipGraphExec_t exec = instantiate(graph);
  hipMemsetParams params{};
  params.dst = memory;
  params.elementSize = 4;
  params.width = 2;
  params.height = 4;
  params.pitch = 12;
  params.value = 7;
  check("the same parameters again", hipSuccess, hipGraphExecMemsetNodeSetParams(exec, node, &params));
  return verdict();
}
