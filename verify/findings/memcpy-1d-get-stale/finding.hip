// hipGraphMemcpyNodeGetParams returns a 1D node's first parameters after they were set anew.
//
// Documentation: hip_runtime_api.h, hipGraphMemcpyNodeGetParams: "Gets a memcpy node's parameters".
// What happens: hipGraphMemcpyNodeSetParams1D changes what the node does, but not what the getter returns. Whoever
// reads the parameters, changes one field and sets them, as one does for any other node, works on addresses that may
// long be freed.
// Source: GraphMemcpyNode1D keeps dst_, src_ and count_ of its own; the getter is the base class's, of copyParams_.
#include "../check.h"

int main() {
  int* memory = device_ints(8);
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, memory, memory + 2, 4, hipMemcpyDeviceToDevice));
  MUST(hipGraphMemcpyNodeSetParams1D(node, memory + 4, memory + 6, 8, hipMemcpyDeviceToDevice));
  hipMemcpy3DParms params{};
  MUST(hipGraphMemcpyNodeGetParams(node, &params));
  check("target, in ints from the first", 4, static_cast<int*>(params.dstPtr.ptr) - memory);
  check("source, in ints from the first", 6, static_cast<int*>(params.srcPtr.ptr) - memory);
  check("bytes", 8, static_cast<long long>(params.extent.width));
  return verdict();
}
