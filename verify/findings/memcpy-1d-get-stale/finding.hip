// hipGraphMemcpyNodeGetParams returns a 1D copy's first parameters after others were set.
// The story: finding.toml.
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
