// hipGraphMemsetNodeGetParams returns elementSize 1 for a captured 2D memset of larger elements.
// The story: finding.toml.
#include "../check.h"

hipMemsetParams told_by(hipGraph_t graph) {
  hipGraphNode_t node = nullptr;
  size_t nodes = 1;
  MUST(hipGraphGetNodes(graph, &node, &nodes));
  hipMemsetParams told{};
  MUST(hipGraphMemsetNodeGetParams(node, &told));
  return told;
}

int main() {
  int* memory = device_ints(16);
  hipMemsetParams params{};
  params.dst = memory;
  params.elementSize = 4;
  params.width = 2;
  params.height = 4;
  params.pitch = 12;
  params.value = 7;
  hipGraph_t added = new_graph(), captured = nullptr;
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemsetNode(&node, added, nullptr, 0, &params));
  check("bytes of an element, added by hand", 4, static_cast<int>(told_by(added).elementSize));

  hipStream_t stream = nullptr;
  MUST(hipStreamCreate(&stream));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  MUST(hipMemsetD2D32Async(memory, 12, 7, 2, 4, stream));
  MUST(hipStreamEndCapture(stream, &captured));
  check("bytes of an element, captured", 4, static_cast<int>(told_by(captured).elementSize));
  check("elements of a row, captured", 2, static_cast<int>(told_by(captured).width));
  return verdict();
}
