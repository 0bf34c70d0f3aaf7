// A child graph that allocates is accepted, and crashes when it is launched again before its memory is freed.
// The story: finding.toml.
#include "../check.h"

static hipGraphNode_t allocate(hipGraph_t graph, void** memory) {
  hipMemAllocNodeParams params{};
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location = {hipMemLocationTypeDevice, 0};
  params.bytesize = 4096;
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
  *memory = params.dptr;
  return node;
}

static void launch_twice(bool as_child) {
  void* memory = nullptr;
  hipGraph_t graph = new_graph();
  allocate(graph, &memory);
  if (as_child) {
    hipGraph_t parent = new_graph();
    hipGraphNode_t child = nullptr;
    const hipError_t added = hipGraphAddChildGraphNode(&child, parent, nullptr, 0, graph);
    if (added != hipSuccess) return;  // what CUDA documents
    graph = parent;
  }
  hipGraphExec_t exec = instantiate(graph);
  run(exec);
  check("second launch", hipErrorInvalidValue, hipGraphLaunch(exec, nullptr));
}

int main() {
  in_child("a graph that allocates", [] { launch_twice(false); });
  if (verdict() != 0) return 2;  // the case is about child graphs
  in_child("a child graph that allocates", [] { launch_twice(true); });
  return verdict();
}
