// Access descriptors of an allocation node give another device no access to the memory.
// The story: finding.toml. Needs two devices.
#include "../check.h"

int main() {
  hipMemAccessDesc access{};
  access.location = {hipMemLocationTypeDevice, 1};
  access.flags = hipMemAccessFlagsProtReadWrite;
  hipMemAllocNodeParams memory{};
  memory.poolProps.allocType = hipMemAllocationTypePinned;
  memory.poolProps.location.type = hipMemLocationTypeDevice;
  memory.bytesize = 64;
  memory.accessDescs = &access;
  memory.accessDescCount = 1;
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &memory));
  run(instantiate(graph));
  hipStream_t stream = nullptr;
  MUST(hipSetDevice(1));
  MUST(hipStreamCreate(&stream));
  MUST(hipMemsetAsync(memory.dptr, 5, 64, stream));
  check("device 1 sets the memory", hipSuccess, hipStreamSynchronize(stream));
  return verdict();
}
