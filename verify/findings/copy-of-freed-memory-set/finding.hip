// Setting a copy of graph memory that the program has freed has no effect: the next launch does the old copy.
// The story: finding.toml.
#include "../check.h"

int main() {
  constexpr size_t kBytes = 256;
  hipGraph_t graph = new_graph();
  hipMemAllocNodeParams memory{};
  memory.poolProps.allocType = hipMemAllocationTypePinned;
  memory.poolProps.location.type = hipMemLocationTypeDevice;
  memory.bytesize = kBytes;
  hipGraphNode_t allocate = nullptr, fill = nullptr, copy = nullptr;
  MUST(hipGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &memory));
  hipMemsetParams seven{};
  seven.dst = memory.dptr;
  seven.value = 7;
  seven.elementSize = 1;
  seven.width = kBytes;
  seven.height = 1;
  MUST(hipGraphAddMemsetNode(&fill, graph, &allocate, 1, &seven));
  int *first = device_ints(1), *second = device_ints(1);
  MUST(hipGraphAddMemcpyNode1D(&copy, graph, &fill, 1, first, memory.dptr, sizeof(int), hipMemcpyDefault));
  hipGraphExec_t exec = nullptr;
  MUST(hipGraphInstantiateWithFlags(&exec, graph, hipGraphInstantiateFlagAutoFreeOnLaunch));
  run(exec);
  MUST(hipFreeAsync(memory.dptr, nullptr));
  MUST(hipDeviceSynchronize());
  MUST(hipGraphExecMemcpyNodeSetParams1D(exec, copy, second, memory.dptr, sizeof(int), hipMemcpyDefault));
  run(exec);
  check("what the new destination holds", 0x07070707, read_int(second));
  return verdict();
}
