// hipGraphMemcpyNodeGetParams returns garbage for a copy that hipDrvGraphAddMemcpyNode added.
// The story: finding.toml.
#include "../check.h"

int main() {
  in_child("reading a driver's copy back", [] {
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
    HIP_MEMCPY3D own{};
    MUST(hipDrvGraphMemcpyNodeGetParams(node, &own));
    check("the driver's getter: width", 4, static_cast<long long>(own.WidthInBytes));
    hipMemcpy3DParms other{};
    MUST(hipGraphMemcpyNodeGetParams(node, &other));
    check("the other getter: width", 4, static_cast<long long>(other.extent.width));
    check("the other getter: height", 1, static_cast<long long>(other.extent.height));
  });
  return verdict();
}
