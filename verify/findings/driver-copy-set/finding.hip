// Setters crash on a memcpy node that the other API (hipGraph or hipDrvGraph) added.
// The story: finding.toml.
#include "../check.h"

constexpr int kValue = 42;

// Zeros, and kValue at memory + 8.
int* new_memory() {
  int* memory = device_ints(16);
  MUST(hipMemcpy(memory + 8, &kValue, sizeof kValue, hipMemcpyHostToDevice));
  return memory;
}

hipCtx_t context() {
  hipCtx_t current = nullptr;
  MUST(hipCtxGetCurrent(&current));
  return current;
}

HIP_MEMCPY3D driver_copy(int* to, int* from) {
  HIP_MEMCPY3D params{};
  params.dstMemoryType = params.srcMemoryType = hipMemoryTypeDevice;
  params.dstDevice = to, params.srcDevice = from;
  params.dstPitch = params.srcPitch = params.WidthInBytes = 4;
  params.dstHeight = params.srcHeight = params.Height = params.Depth = 1;
  return params;
}

hipMemcpy3DParms copy(int* to, int* from) {
  hipMemcpy3DParms params{};
  params.dstPtr = make_hipPitchedPtr(to, 4, 4, 1);
  params.srcPtr = make_hipPitchedPtr(from, 4, 4, 1);
  params.extent = make_hipExtent(4, 1, 1);
  params.kind = hipMemcpyDeviceToDevice;
  return params;
}

// For a copy to `memory`, which was set to copy to `memory + 1`.
void run_and_check(hipGraphExec_t exec, hipError_t set, const int* memory) {
  run(exec);
  check("copied to the new target", set == hipSuccess ? kValue : 0, read_int(memory + 1));
  check("copied to the old target", set == hipSuccess ? 0 : kValue, read_int(memory));
}

int main() {
  in_child("setting a copy that the driver's function added", [] {
    int* memory = new_memory();
    const HIP_MEMCPY3D added = driver_copy(memory, memory + 8);
    hipGraph_t graph = new_graph();
    hipGraphNode_t node = nullptr;
    MUST(hipDrvGraphAddMemcpyNode(&node, graph, nullptr, 0, &added, context()));
    const hipMemcpy3DParms other = copy(memory + 1, memory + 8);
    const hipError_t set = hipGraphMemcpyNodeSetParams(node, &other);
    run_and_check(instantiate(graph), set, memory);
  });
  in_child("the driver's setter on a copy that hipGraphAddMemcpyNode added", [] {
    int* memory = new_memory();
    const hipMemcpy3DParms added = copy(memory, memory + 8);
    hipGraph_t graph = new_graph();
    hipGraphNode_t node = nullptr;
    MUST(hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &added));
    hipGraphExec_t exec = instantiate(graph);
    const HIP_MEMCPY3D other = driver_copy(memory + 1, memory + 8);
    const hipError_t set = hipDrvGraphExecMemcpyNodeSetParams(exec, node, &other, context());
    run_and_check(exec, set, memory);
  });
  return verdict();
}
