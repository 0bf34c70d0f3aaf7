// hipGraphMemcpyNodeSetParams does nothing to a node of the 1D form.
//
// Documentation: hip_runtime_api.h, hipGraphMemcpyNodeSetParams: "Sets a memcpy node's parameters"; a node of
// hipGraphAddMemcpyNode1D is a memcpy node, and hipGraphMemcpyNodeGetParams describes it with the same structure.
// What happens: hipSuccess, and graphs instantiated afterwards still do the old copy.
// Source: GraphMemcpyNode::SetParams fills copyParams_, which GraphMemcpyNode1D does not use.
#include "../check.h"

int main() {
  int* memory = device_ints(16);
  const int value = 42;
  int* source = memory + 8;
  MUST(hipMemcpy(source, &value, sizeof value, hipMemcpyHostToDevice));
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, memory, source, 4, hipMemcpyDeviceToDevice));
  hipMemcpy3DParms params{};
  params.dstPtr = make_hipPitchedPtr(memory + 1, 4, 4, 1);
  params.srcPtr = make_hipPitchedPtr(source, 4, 4, 1);
  params.extent = make_hipExtent(4, 1, 1);
  params.kind = hipMemcpyDeviceToDevice;
  const hipError_t error = hipGraphMemcpyNodeSetParams(node, &params);
  run(instantiate(graph));
  check("copied to the new target", error == hipSuccess ? value : 0, read_int(memory + 1));
  check("copied to the old target", error == hipSuccess ? 0 : value, read_int(memory));
  return verdict();
}
