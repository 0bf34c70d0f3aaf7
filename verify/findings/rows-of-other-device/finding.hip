// Instantiating a graph with a 2D or 3D copy within a device that is not current crashes.
// The story: finding.toml. Needs two devices.
#include "../check.h"

namespace {

void instantiate_rows(hipMemcpyKind kind, int current) {
  char* bytes = nullptr;
  MUST(hipSetDevice(1));
  MUST(hipMalloc(&bytes, 256));
  MUST(hipSetDevice(current));
  hipMemcpy3DParms rows = {};
  rows.srcPtr = make_hipPitchedPtr(bytes + 128, 16, 16, 2);
  rows.dstPtr = make_hipPitchedPtr(bytes, 16, 16, 2);
  rows.extent = make_hipExtent(8, 2, 1);
  rows.kind = kind;
  hipGraph_t graph = nullptr;
  hipGraphNode_t node = nullptr;
  hipGraphExec_t exec = nullptr;
  MUST(hipGraphCreate(&graph, 0));
  MUST(hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &rows));
  check("hipGraphInstantiate", hipSuccess, hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
}

}  // namespace

int main() {
  in_child("hipMemcpyDefault", [] { instantiate_rows(hipMemcpyDefault, 0); });
  in_child("hipMemcpyDeviceToDevice with device 1 current", [] { instantiate_rows(hipMemcpyDeviceToDevice, 1); });
  in_child("hipMemcpyDeviceToDevice with device 0 current", [] { instantiate_rows(hipMemcpyDeviceToDevice, 0); });
  return verdict();
}
