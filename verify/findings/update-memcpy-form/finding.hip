// hipGraphExecUpdate of a 1D copy node with a 3D one fails.
// The story: finding.toml.
#include "../check.h"

int main() {
  int* target = device_ints(8);
  int* source = device_ints(8);
  const int value = 42;
  MUST(hipMemcpy(source, &value, sizeof value, hipMemcpyHostToDevice));
  hipGraph_t linear = new_graph(), pitched = new_graph();
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemcpyNode1D(&node, linear, nullptr, 0, target, source, 4, hipMemcpyDeviceToDevice));
  hipMemcpy3DParms params{};
  params.dstPtr = make_hipPitchedPtr(target + 4, 4, 4, 1);
  params.srcPtr = make_hipPitchedPtr(source, 4, 4, 1);
  params.extent = make_hipExtent(4, 1, 1);
  params.kind = hipMemcpyDeviceToDevice;
  MUST(hipGraphAddMemcpyNode(&node, pitched, nullptr, 0, &params));

  hipGraphExec_t exec = instantiate(linear);
  hipGraphNode_t error_node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
  check("update of the 1D form with the 3D form", hipSuccess, hipGraphExecUpdate(exec, pitched, &error_node, &result));
  run(exec);
  check("copied to the 3D form's target", value, read_int(target + 4));
  check("copied to the 1D form's target", 0, read_int(target));

  MUST(hipMemset(target, 0, 8 * sizeof(int)));
  exec = instantiate(pitched);
  check("update of the 3D form with the 1D form", hipSuccess, hipGraphExecUpdate(exec, linear, &error_node, &result));
  run(exec);
  check("copied to the 1D form's target", value, read_int(target));
  check("copied to the 3D form's target", 0, read_int(target + 4));
  return verdict();
}
