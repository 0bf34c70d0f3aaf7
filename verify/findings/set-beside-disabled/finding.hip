// Setting a memset node of an executable graph in which another node is disabled breaks its next launch.
//
// Documentation: hipGraphExecMemsetNodeSetParams sets the parameters of a memset node; hipGraphNodeSetEnabled disables
// another. What happens: hipErrorLaunchFailure once the graph was launched with the node disabled, the memset is set to
// another place, and the graph is launched again: the device meets a packet that is none. With the node enabled again
// before the memset is set, without the first launch, with a copy in the place of the memset, or with a number of bytes
// that 16 divides (such a memset is one packet, and another one two) it is right.
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
