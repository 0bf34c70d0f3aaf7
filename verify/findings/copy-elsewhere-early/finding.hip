// A copy to pageable memory runs before the kernel that it depends on, where another device was current.
// The story: finding.toml. Needs two devices.
#include "../check.h"

__global__ void set(int* out, int value) {
  *out = value;
}

static void use_each_other() {
  for (const int device : {1, 0}) {
    MUST(hipSetDevice(device));
    MUST(hipDeviceEnablePeerAccess(1 - device, 0));
  }
}

int main() {
  use_each_other();
  int* memory = device_ints(1);  // of device 0, as is the kernel
  std::vector<int> host(1);
  hipGraph_t graph = new_graph();
  hipGraphNode_t kernel = kernel_node(graph, {}, set, memory, 7), copy = nullptr;
  MUST(hipGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, host.data(), memory, sizeof(int), hipMemcpyDeviceToHost));
  for (const int device : {0, 1}) {
    MUST(hipSetDevice(device));
    host[0] = 0;
    MUST(hipMemset(memory, 0, sizeof(int)));
    MUST(hipDeviceSynchronize());
    run(instantiate(graph));
    check("host memory with device " + std::to_string(device) + " current", 7, host[0]);
  }
  return verdict();
}
