// hipGraphMemcpyNodeSetParams does nothing to a node of hipGraphAddMemcpyNode1D.
// The story: finding.toml.
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
