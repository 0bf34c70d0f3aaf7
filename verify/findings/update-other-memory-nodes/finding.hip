// An update to a graph with memory nodes of its own succeeds, and the launch uses memory that is not allocated.
// The story: finding.toml.
#include "../check.h"

// Allocates memory, sets it to the value, copies a byte of it and frees it.
static void fill(hipGraph_t graph, char* out, unsigned value) {
  hipGraphNode_t node = nullptr;
  hipMemAllocNodeParams memory{};
  memory.poolProps.allocType = hipMemAllocationTypePinned;
  memory.poolProps.location.type = hipMemLocationTypeDevice;
  memory.bytesize = 64;
  MUST(hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &memory));
  hipMemsetParams set{};
  set.dst = memory.dptr, set.elementSize = 1, set.value = value, set.width = 64, set.height = 1;
  MUST(hipGraphAddMemsetNode(&node, graph, &node, 1, &set));
  MUST(hipGraphAddMemcpyNode1D(&node, graph, &node, 1, out, memory.dptr, 1, hipMemcpyDeviceToDevice));
  MUST(hipGraphAddMemFreeNode(&node, graph, &node, 1, memory.dptr));
}

int main() {
  int* out = device_ints(1);
  hipGraph_t graph = new_graph(), other = new_graph();
  fill(graph, reinterpret_cast<char*>(out), 1);
  fill(other, reinterpret_cast<char*>(out), 2);
  hipGraphExec_t exec = instantiate(graph);
  run(exec);
  hipGraphNode_t node = nullptr;
  hipGraphExecUpdateResult result;
  const hipError_t updated = hipGraphExecUpdate(exec, other, &node, &result);
  hipError_t launched = hipGraphLaunch(exec, nullptr);
  if (launched == hipSuccess) launched = hipDeviceSynchronize();
  check("the launch after the update", hipSuccess, launched);
  if (launched == hipSuccess) check("the byte that it copies", updated == hipSuccess ? 2 : 1, read_int(out));
  return verdict();
}
