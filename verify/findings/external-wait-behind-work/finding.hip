// An external wait that follows captured work crashes the program.
// The story: finding.toml.
#include "../check.h"

void capture_with_wait(bool behind_work) {
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  hipGraph_t graph = nullptr;
  void* memory = nullptr;
  std::size_t nodes = 0;
  MUST(hipMalloc(&memory, 64));
  MUST(hipStreamCreate(&stream));
  MUST(hipEventCreate(&event));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  if (behind_work) MUST(hipMemsetAsync(memory, 3, 64, stream));
  check("the external wait", hipSuccess, hipStreamWaitEvent(stream, event, hipEventWaitExternal));
  check("the end of the capture", hipSuccess, hipStreamEndCapture(stream, &graph));
  MUST(hipGraphGetNodes(graph, nullptr, &nodes));
  check("nodes of the graph", static_cast<std::size_t>(behind_work ? 2 : 1), nodes);
}

int main() {
  in_child("an external wait before any work", [] { capture_with_wait(false); });
  in_child("an external wait behind captured work", [] { capture_with_wait(true); });
  return verdict();
}
