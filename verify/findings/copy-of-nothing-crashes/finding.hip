// A copy node of rows that copies no bytes is added, and damages the heap when its graph is launched.
// The story: finding.toml.
#include "../check.h"

static hipMemcpy3DParms rows(size_t width, size_t height, size_t depth) {
  char* memory = reinterpret_cast<char*>(device_ints(64));
  hipMemcpy3DParms copy{};
  copy.dstPtr = {memory, 16, 8, 2}, copy.srcPtr = {memory + 128, 16, 8, 2};
  copy.extent = {width, height, depth}, copy.kind = hipMemcpyDeviceToDevice;
  return copy;
}

static void launch_one(size_t width, size_t height, size_t depth) {
  const hipMemcpy3DParms copy = rows(width, height, depth);
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  const hipError_t added = hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy);
  if (added != hipSuccess) return MUST(hipGraphDestroy(graph));
  hipGraphExec_t exec = instantiate(graph);
  run(exec);
  MUST(hipGraphExecDestroy(exec));
  MUST(hipGraphDestroy(graph));
}

// The heap decides when the damage shows, so the same is done often.
static void launch(size_t width, size_t height, size_t depth) {
  for (int i = 0; i < 50; ++i) launch_one(width, height, depth);
}

int main() {
  in_child("a copy of two rows", [] { launch(8, 2, 1); });
  if (verdict() != 0) return 2;
  in_child("a copy of rows without a width", [] { launch(0, 2, 1); });
  in_child("a copy of no rows", [] { launch(8, 0, 1); });
  in_child("a copy of no layers", [] { launch(8, 2, 0); });
  return verdict();
}
