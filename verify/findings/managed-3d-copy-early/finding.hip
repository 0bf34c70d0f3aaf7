// A 3D copy node of managed memory copies when it is instantiated or set.
// The story: finding.toml.
#include "../check.h"

int main() {
  int* managed = nullptr;
  MUST(hipMallocManaged(reinterpret_cast<void**>(&managed), 16, hipMemAttachGlobal));
  *managed = 7;
  int* device = device_ints(4);
  MUST(hipMemset(device, 0, 16));
  MUST(hipDeviceSynchronize());
  hipMemcpy3DParms copy{};
  copy.srcPtr = make_hipPitchedPtr(managed, 4, 4, 1);
  copy.dstPtr = make_hipPitchedPtr(device, 4, 4, 1);
  copy.extent = make_hipExtent(4, 1, 1);
  copy.kind = hipMemcpyDeviceToDevice;
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy));
  static_cast<void>(instantiate(graph));
  MUST(hipDeviceSynchronize());
  check("the destination, nothing launched", 0, read_int(device));
  return verdict();
}
