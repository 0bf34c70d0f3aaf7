// hipGraphMemcpyNodeSetParams1D does not set a node of hipGraphAddMemcpyNode, and damages the heap.
// The story: finding.toml.
#include "../check.h"

int main() {
  // A child, because the heap that is damaged may bring the process down at its end.
  in_child("setting a node of the 3D form to a 1D copy", [] {
    int* memory = device_ints(16);
    const int value = 42;
    int* source = memory + 8;
    MUST(hipMemcpy(source, &value, sizeof value, hipMemcpyHostToDevice));
    hipMemcpy3DParms params{};
    params.dstPtr = make_hipPitchedPtr(memory, 4, 4, 1);
    params.srcPtr = make_hipPitchedPtr(source, 4, 4, 1);
    params.extent = make_hipExtent(4, 1, 1);
    params.kind = hipMemcpyDeviceToDevice;
    hipGraph_t graph = new_graph();
    hipGraphNode_t node = nullptr;
    MUST(hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &params));
    const hipError_t error = hipGraphMemcpyNodeSetParams1D(node, memory + 1, source, 4, hipMemcpyDeviceToDevice);
    run(instantiate(graph));
    check("copied to the new target", error == hipSuccess ? value : 0, read_int(memory + 1));
    check("copied to the old target", error == hipSuccess ? 0 : value, read_int(memory));
  });
  return verdict();
}
