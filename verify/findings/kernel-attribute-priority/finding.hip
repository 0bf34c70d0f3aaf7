// hipGraphKernelNodeSetAttribute accepts no priority.
// The story: finding.toml.
#include "../check.h"

__global__ void store(int* out) {
  *out = 1;
}

int main() {
  int* memory = device_ints(1);
  hipGraph_t graph = new_graph();
  int lowest = 0, highest = 0;
  MUST(hipDeviceGetStreamPriorityRange(&lowest, &highest));
  for (int priority = highest; priority <= lowest; priority++) {
    hipGraphNode_t node = kernel_node(graph, {}, store, memory);
    hipKernelNodeAttrValue value{};
    value.priority = priority;
    check("setting priority " + std::to_string(priority), hipSuccess,
          hipGraphKernelNodeSetAttribute(node, hipKernelNodeAttributePriority, &value));
  }
  return verdict();
}
