// hipGraphExecNodeSetParams refuses a 2D memset.
// The story: finding.toml.
#include "../check.h"

int main() {
  void* memory = nullptr;
  MUST(hipMalloc(&memory, 64));
  hipGraph_t graph = new_graph();
  hipGraphNodeParams params{};
  params.type = hipGraphNodeTypeMemset;
  params.memset.dst = memory;
  params.memset.elementSize = 1;
  params.memset.width = 5;
  params.memset.height = 2;
  params.memset.pitch = 16;
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &params.memset));
  hipGraphExec_t exec = instantiate(graph);
  MUST(hipGraphExecMemsetNodeSetParams(exec, node, &params.memset));
  check("hipGraphExecNodeSetParams", hipSuccess, hipGraphExecNodeSetParams(exec, node, &params));
  return verdict();
}
