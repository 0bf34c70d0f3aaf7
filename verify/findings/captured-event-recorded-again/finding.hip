// Ending an invalid capture corrupts the heap if one of its events was recorded again outside the capture.
// The story: finding.toml.
#include "../check.h"

void round(bool again) {
  hipGraph_t graph = new_graph(), captured = nullptr;
  hipGraphNode_t node = nullptr;
  hipGraphExec_t exec = nullptr;
  for (int i = 0; i < 2; i++) MUST(hipGraphAddEmptyNode(&node, graph, nullptr, 0));
  MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  hipStream_t capturing = nullptr, other = nullptr;
  hipEvent_t event = nullptr;
  MUST(hipStreamCreate(&capturing));
  MUST(hipEventCreate(&event));
  MUST(hipStreamBeginCapture(capturing, hipStreamCaptureModeThreadLocal));
  MUST(hipEventRecord(event, capturing));
  MUST(hipStreamCreate(&other));
  if (again) MUST(hipEventRecord(event, other));
  if (hipDeviceSynchronize() != hipErrorStreamCaptureUnsupported) std::exit(2);  // invalidates
  if (hipStreamEndCapture(capturing, &captured) != hipErrorStreamCaptureInvalidated) std::exit(2);
  MUST(hipGraphExecDestroy(exec));
  MUST(hipGraphDestroy(graph));
  MUST(hipEventDestroy(event));
  MUST(hipStreamDestroy(capturing));
  MUST(hipStreamDestroy(other));
}

int main() {
  constexpr int kRounds = 50;
  in_child("50 rounds of an event in a capture alone", [] {
    for (int i = 0; i < kRounds; i++) round(false);
    check("rounds without the other stream", kRounds, kRounds);
  });
  in_child("50 rounds of an event that is recorded again", [] {
    for (int i = 0; i < kRounds; i++) round(true);
  });
  return verdict();
}
