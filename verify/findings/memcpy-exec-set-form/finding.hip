// hipGraphExecMemcpyNodeSetParams does nothing to 1D nodes, and ...SetParams1D nothing to 3D nodes.
// The story: finding.toml.
#include "../check.h"

int main() {
  // A child, because the heap that the 1D setter damages brings the process down at its end.
  in_child("setting", [] {
    int* memory = device_ints(16);
    const int value = 42;
    int* source = memory + 8;
    MUST(hipMemcpy(source, &value, sizeof value, hipMemcpyHostToDevice));
    hipGraph_t graph = new_graph();
    hipGraphNode_t linear = nullptr, pitched = nullptr;
    MUST(hipGraphAddMemcpyNode1D(&linear, graph, nullptr, 0, memory, source, 4, hipMemcpyDeviceToDevice));
    hipMemcpy3DParms params{};
    params.dstPtr = make_hipPitchedPtr(memory + 2, 4, 4, 1);
    params.srcPtr = make_hipPitchedPtr(source, 4, 4, 1);
    params.extent = make_hipExtent(4, 1, 1);
    params.kind = hipMemcpyDeviceToDevice;
    MUST(hipGraphAddMemcpyNode(&pitched, graph, nullptr, 0, &params));
    hipGraphExec_t exec = instantiate(graph);

    params.dstPtr.ptr = memory + 1;
    const hipError_t set_3d = hipGraphExecMemcpyNodeSetParams(exec, linear, &params);
    const hipError_t set_1d =
        hipGraphExecMemcpyNodeSetParams1D(exec, pitched, memory + 3, source, 4, hipMemcpyDeviceToDevice);
    run(exec);
    // A refusal would be an answer too; success has to have an effect.
    if (set_3d == hipSuccess) check("copied by the 1D node that was set by the 3D setter", value, read_int(memory + 1));
    if (set_1d == hipSuccess) check("copied by the 3D node that was set by the 1D setter", value, read_int(memory + 3));
  });
  return verdict();
}
