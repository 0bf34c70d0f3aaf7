// The setters of memset and host nodes, and hipGraphNodeSetParams, write into nodes of any type.
// The story: finding.toml.
#include "../check.h"

__global__ void store(int* out) {
  *out = 1;
}
void nothing(void*) {}

int main() {
  in_child("setters of another type", [] {
    int* memory = device_ints(4);
    hipGraph_t graph = new_graph();
    hipGraphNode_t kernel = kernel_node(graph, {}, store, memory);
    hipGraphNode_t other_kernel = kernel_node(graph, {}, store, memory + 1);
    hipMemsetParams memset{};
    memset.dst = memory;
    memset.value = 7;
    memset.elementSize = 4;
    memset.width = memset.height = 1;
    hipHostNodeParams host{};
    host.fn = nothing;
    check("memset parameters for a kernel node", hipErrorInvalidValue, hipGraphMemsetNodeSetParams(kernel, &memset));
    check("host parameters for a kernel node", hipErrorInvalidValue, hipGraphHostNodeSetParams(kernel, &host));
    hipGraphNodeParams any{};
    any.type = hipGraphNodeTypeMemset;
    any.memset = memset;
    check("memset parameters for a kernel node, generic", hipErrorInvalidValue,
          hipGraphNodeSetParams(other_kernel, &any));
    hipGraphExec_t exec = nullptr;
    check("instantiating", hipSuccess, hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  });
  return verdict();
}
