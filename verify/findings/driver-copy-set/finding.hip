// Setters crash on a memcpy node that the other API (hipGraph or hipDrvGraph) added.
// The story: finding.toml.
#include "../check.h"

int main() {
  in_child("setting a copy that the driver's function added", [] {
    int* memory = device_ints(16);
    const int value = 42;
    int* source = memory + 8;
    MUST(hipMemcpy(source, &value, sizeof value, hipMemcpyHostToDevice));
    hipCtx_t context = nullptr;
    MUST(hipCtxGetCurrent(&context));
    HIP_MEMCPY3D params{};
    params.dstMemoryType = params.srcMemoryType = hipMemoryTypeDevice;
    params.dstDevice = memory, params.srcDevice = source;
    params.dstPitch = params.srcPitch = params.WidthInBytes = 4;
    params.dstHeight = params.srcHeight = params.Height = params.Depth = 1;
    hipGraph_t graph = new_graph();
    hipGraphNode_t node = nullptr;
    MUST(hipDrvGraphAddMemcpyNode(&node, graph, nullptr, 0, &params, context));
    hipMemcpy3DParms other{};
    other.dstPtr = make_hipPitchedPtr(memory + 1, 4, 4, 1);
    other.srcPtr = make_hipPitchedPtr(source, 4, 4, 1);
    other.extent = make_hipExtent(4, 1, 1);
    other.kind = hipMemcpyDeviceToDevice;
    const hipError_t error = hipGraphMemcpyNodeSetParams(node, &other);
    run(instantiate(graph));
    check("copied to the new target", error == hipSuccess ? value : 0, read_int(memory + 1));
    check("copied to the old target", error == hipSuccess ? 0 : value, read_int(memory));
  });
  return verdict();
}
