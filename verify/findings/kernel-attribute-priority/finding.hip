// No priority of a kernel node is accepted.
//
// Documentation: hip_runtime_api.h, hipKernelNodeAttributePriority and hipGraphKernelNodeSetAttribute;
// hipDeviceGetStreamPriorityRange gives the range of priorities, 1 (lowest) to -1 (highest) here.
// What happens: hipErrorInvalidValue for each number in the range, and for any other.
// Source: GraphKernelNode::SetAttrParams refuses `priority < Priority::Low || priority > Priority::High`; Low is the
// greater of the two numbers, so that every number is one or the other.
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
