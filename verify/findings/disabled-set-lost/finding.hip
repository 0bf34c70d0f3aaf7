// A node whose parameters are set while it is disabled never runs again.
// The story: finding.toml.
#include "../check.h"

__global__ void store(int* out, int value) {
  *out = value;
}

int main() {
  int* memory = device_ints(8);
  hipGraph_t graph = new_graph();
  hipGraphNode_t kernel = kernel_node(graph, {}, store, memory, 1);
  hipGraphNode_t copy = nullptr;
  MUST(hipGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, memory + 1, memory, 4, hipMemcpyDeviceToDevice));
  hipGraphExec_t exec = instantiate(graph);

  MUST(hipGraphNodeSetEnabled(exec, kernel, 0));
  MUST(hipGraphNodeSetEnabled(exec, copy, 0));
  int* target = memory;
  int value = 2;
  void* arguments[] = {&target, &value};
  const hipKernelNodeParams params = one_thread(reinterpret_cast<const void*>(store), arguments);
  MUST(hipGraphExecKernelNodeSetParams(exec, kernel, &params));
  MUST(hipGraphExecMemcpyNodeSetParams1D(exec, copy, memory + 2, memory, 4, hipMemcpyDeviceToDevice));
  MUST(hipGraphNodeSetEnabled(exec, kernel, 1));
  MUST(hipGraphNodeSetEnabled(exec, copy, 1));
  run(exec);
  check("what the kernel node wrote", 2, read_int(memory));
  MUST(hipMemset(memory, 3, 4));  // in case the kernel did not run: something to copy
  run(exec);
  check("what the memcpy node wrote (0: nothing)", 1, read_int(memory + 2) != 0);
  return verdict();
}
