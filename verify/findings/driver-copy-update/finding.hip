// hipGraphExecUpdate crashes on a graph with a copy that hipDrvGraphAddMemcpyNode added.
// The story: finding.toml.
#include "../check.h"

int main() {
  in_child("updating from a graph with a driver's copy", [] {
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
    hipGraphExec_t exec = instantiate(graph);
    hipGraphNode_t where = nullptr;
    hipGraphExecUpdateResult result = hipGraphExecUpdateError;
    check("updating from the same graph", hipSuccess, hipGraphExecUpdate(exec, graph, &where, &result));
    run(exec);
    check("copied", value, read_int(memory));
  });
  return verdict();
}
