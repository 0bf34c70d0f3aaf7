// A graph of 16 or more nodes crashes if all nodes of a branch were added with another device current.
// The story: finding.toml. Needs two devices.
#include "../check.h"

__global__ void store(int* out, int value) {
  *out = value;
}

void launch_with(int empties, int kernels, int current_for_empties) {
  hipGraph_t graph = new_graph();
  MUST(hipSetDevice(current_for_empties));
  for (int i = 0; i < empties; ++i) {
    hipGraphNode_t node = nullptr;
    MUST(hipGraphAddEmptyNode(&node, graph, nullptr, 0));
  }
  MUST(hipSetDevice(1));
  hipStream_t stream = nullptr;
  MUST(hipStreamCreate(&stream));
  int* memory = device_ints(16);
  for (int i = 0; i < kernels; ++i) kernel_node(graph, {}, store, memory + i, 7);
  hipGraphExec_t exec = instantiate(graph);
  check("the launch", hipSuccess, hipGraphLaunch(exec, stream));
  check("waiting for it", hipSuccess, hipStreamSynchronize(stream));
}

int main() {
  in_child("13 empty nodes of device 1 and 3 kernels", [] { launch_with(13, 3, 1); });
  in_child("12 empty nodes of device 0 and 4 kernels", [] { launch_with(12, 4, 0); });
  in_child("13 empty nodes of device 0 and 3 kernels", [] { launch_with(13, 3, 0); });
  return verdict();
}
