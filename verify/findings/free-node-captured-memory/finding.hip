// A free node is refused for memory of a captured hipMallocAsync or of hipGraphAddNode.
// The story: finding.toml.
#include "../check.h"

static hipError_t add_free_node(void* memory) {
  hipGraphNode_t node = nullptr;
  return hipGraphAddMemFreeNode(&node, new_graph(), nullptr, 0, memory);
}

int main() {
  hipMemAllocNodeParams params{};
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location = {hipMemLocationTypeDevice, 0};
  params.bytesize = 64;
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
  run(instantiate(graph));
  check("a free node for memory of a node", hipSuccess, add_free_node(params.dptr));
  if (verdict() != 0) return 2;  // the case is about captured memory

  hipStream_t stream = nullptr;
  void* memory = nullptr;
  MUST(hipStreamCreate(&stream));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  MUST(hipMallocAsync(&memory, 64, stream));
  MUST(hipStreamEndCapture(stream, &graph));
  run(instantiate(graph));
  check("a free node for captured memory", hipSuccess, add_free_node(memory));

  hipGraphNodeParams generic{};
  generic.type = hipGraphNodeTypeMemAlloc;
  generic.alloc.poolProps = params.poolProps;
  generic.alloc.bytesize = 64;
  graph = new_graph();
  MUST(hipGraphAddNode(&node, graph, nullptr, 0, &generic));
  check("a free node for memory of the generic function", hipSuccess, add_free_node(generic.alloc.dptr));
  return verdict();
}
