// Setting a memset while another node is disabled makes the next launch run an invalid packet.
// The story: finding.toml.
#include "../check.h"

__global__ void store(int* out, int value) {
  *out = value;
}

void set_beside(bool disabled) {
  int* memory = device_ints(512);
  hipGraph_t graph = new_graph();
  hipGraphNode_t kernel = kernel_node(graph, {}, store, memory + 511, 7), node = nullptr;
  hipMemsetParams params{};
  params.dst = memory;
  params.elementSize = 4;
  params.width = 129;
  params.height = 1;
  params.value = 3;
  MUST(hipGraphAddMemsetNode(&node, graph, &kernel, 1, &params));
  hipGraphExec_t exec = instantiate(graph);
  MUST(hipGraphNodeSetEnabled(exec, kernel, disabled ? 0 : 1));
  run(exec);
  params.dst = memory + 256;
  MUST(hipGraphExecMemsetNodeSetParams(exec, node, &params));
  check("the launch", hipSuccess, hipGraphLaunch(exec, nullptr));
  const hipError_t waited = hipDeviceSynchronize();
  check("waiting for it", hipSuccess, waited);
  if (waited == hipSuccess) check("what was set", 3, read_int(memory + 256));
}

int main() {
  in_child("the other node enabled", [] { set_beside(false); });
  in_child("the other node disabled", [] { set_beside(true); });
  return verdict();
}
