// Access descriptors of an allocation node give another device no access to the memory.
// The story: finding.toml. Needs two devices.
#include "../check.h"

__global__ void store(int* to) {
  *to = 5;
}

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
  int* const value = static_cast<int*>(memory.dptr);
  MUST(hipMemset(value, 0, 64));
  MUST(hipDeviceSynchronize());
  hipStream_t stream = nullptr;
  MUST(hipSetDevice(1));
  MUST(hipStreamCreate(&stream));
  store<<<1, 1, 0, stream>>>(value);
  const hipError_t stored = hipStreamSynchronize(stream);
  check("a kernel of device 1 stores to the memory", hipSuccess, stored);
  if (stored == hipSuccess) {
    MUST(hipSetDevice(0));
    check("the value that it stored", 5, read_int(value));
  }
  return verdict();
}
