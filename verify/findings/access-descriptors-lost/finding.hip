// The parameters of an allocation node that are read back have other access descriptors than the node was given.
// The story: finding.toml.
#include "../check.h"

int main() {
  hipMemAccessDesc access[2] = {};
  access[0].location = {hipMemLocationTypeDevice, 0};
  access[0].flags = hipMemAccessFlagsProtReadWrite;
  access[1] = access[0];
  hipMemAllocNodeParams given{};
  given.poolProps.allocType = hipMemAllocationTypePinned;
  given.poolProps.location.type = hipMemLocationTypeDevice;
  given.bytesize = 64;
  given.accessDescs = access;
  given.accessDescCount = 1;
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &given));
  // The array is the caller's, who uses it for something else.
  access[0].location.id = 77;
  hipMemAllocNodeParams read{};
  MUST(hipGraphMemAllocNodeGetParams(node, &read));
  check("the number of descriptors", 1, static_cast<int>(read.accessDescCount));
  check("a descriptor is answered", true, read.accessDescs != nullptr);
  if (read.accessDescs != nullptr) check("the device that it names", 0, read.accessDescs[0].location.id);
  return verdict();
}
