// Setting kernel nodes again and again on a device without free memory crashes.
// The story: finding.toml.
#include "../full_device.h"

__global__ void put(int* to, int value) {
  *to = value;
}

static void set_again_and_again(bool full) {
  constexpr int kNodes = 4, kRounds = 300;
  int* memory = device_ints(kNodes);
  hipGraph_t graph = new_graph();
  std::vector<hipGraphNode_t> nodes;
  for (int i = 0; i < kNodes; i++) nodes.push_back(kernel_node(graph, {}, put, memory + i, 5));
  hipGraphExec_t exec = instantiate(graph);
  run(exec);
  if (full) take_all_memory();
  for (int round = 0; round < kRounds; round++) {
    for (int i = 0; i < kNodes; i++) {
      int* to = memory + i;
      void* arguments[] = {&to, &round};
      const hipKernelNodeParams params = one_thread(reinterpret_cast<const void*>(put), arguments);
      const hipError_t error = hipGraphExecKernelNodeSetParams(exec, nodes[i], &params);
      if (error == hipSuccess) continue;
      check("setter", full ? hipErrorOutOfMemory : hipSuccess, error);
      return;
    }
  }
}

int main() {
  in_child("1200 setters", [] { set_again_and_again(false); });
  if (verdict() != 0) return 2;  // the case is about a full device
  in_child("1200 setters on a full device", [] { set_again_and_again(true); });
  return verdict();
}
