// hipGraphKernelNodeCopyAttributes writes into nodes that are not kernel nodes.
// The story: finding.toml.
#include "../check.h"

__global__ void store(int* out) {
  *out = 1;
}

int main() {
  constexpr int kNodes = 50;
  in_child("copying attributes to memset nodes", [] {
    int* memory = device_ints(1);
    hipGraph_t graph = new_graph();
    hipGraphNode_t kernel = kernel_node(graph, {}, store, memory);
    hipKernelNodeAttrValue value{};
    value.cooperative = 1;
    MUST(hipGraphKernelNodeSetAttribute(kernel, hipKernelNodeAttributeCooperative, &value));
    hipMemsetParams params{};
    params.dst = memory;
    params.elementSize = 4;
    params.width = params.height = 1;
    int set = 0, copied = 0;
    for (int i = 0; i < kNodes; i++) {
      hipGraphNode_t other = nullptr;
      MUST(hipGraphAddMemsetNode(&other, graph, nullptr, 0, &params));
      set += hipGraphKernelNodeSetAttribute(other, hipKernelNodeAttributeCooperative, &value) == hipSuccess;
      copied += hipGraphKernelNodeCopyAttributes(kernel, other) == hipSuccess;
    }
    check("memset nodes, of 50, whose kernel attribute could be set", 0, set);
    check("memset nodes, of 50, to which kernel attributes could be copied", 0, copied);
  });
  return verdict();
}
