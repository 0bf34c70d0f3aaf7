// With direct dispatch off, a launched graph uses its memory before the memory is there.
// The story: finding.toml.
#include "../check.h"

static hipGraphExec_t allocating() {
  hipGraph_t graph = new_graph();
  hipMemAllocNodeParams params{};
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location = {hipMemLocationTypeDevice, 0};
  params.bytesize = 4096;
  hipGraphNode_t made = nullptr, set = nullptr, freed = nullptr;
  MUST(hipGraphAddMemAllocNode(&made, graph, nullptr, 0, &params));
  hipMemsetParams zeros{};
  zeros.dst = params.dptr;
  zeros.elementSize = 1;
  zeros.width = 4096;
  zeros.height = 1;
  MUST(hipGraphAddMemsetNode(&set, graph, &made, 1, &zeros));
  MUST(hipGraphAddMemFreeNode(&freed, graph, &set, 1, params.dptr));
  return instantiate(graph);
}

int main() {
  for (const char* direct : {"1", "0"}) {
    in_child(std::string("50 launches behind other work, with AMD_DIRECT_DISPATCH=") + direct, [&] {
      MUST(setenv("AMD_DIRECT_DISPATCH", direct, 1) == 0 ? hipSuccess : hipErrorUnknown);
      int* const other = device_ints(1024);
      const hipGraphExec_t exec = allocating();
      hipError_t failed = hipSuccess;
      for (int i = 0; i < 50 && failed == hipSuccess; ++i) {
        MUST(hipMemsetAsync(other, i, 4096, nullptr));
        failed = hipGraphLaunch(exec, nullptr);
        if (failed == hipSuccess) failed = hipDeviceSynchronize();
      }
      check("the first error", hipSuccess, failed);
    });
    if (*direct == '1' && verdict() != 0) return 2;  // the case is about the setting
  }
  return verdict();
}
