// Launching a graph crashes if it waits for an event whose stream was destroyed.
// The story: finding.toml.
#include "../check.h"

void wait_for(bool destroyed, bool in_graph) {
  hipStream_t recorded = nullptr, waiting = nullptr;
  hipEvent_t event = nullptr;
  MUST(hipStreamCreate(&recorded));
  MUST(hipStreamCreate(&waiting));
  MUST(hipEventCreate(&event));
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddEventWaitNode(&node, graph, nullptr, 0, event));
  hipGraphExec_t exec = instantiate(graph);
  MUST(hipEventRecord(event, recorded));
  MUST(hipStreamSynchronize(recorded));
  if (destroyed) MUST(hipStreamDestroy(recorded));
  check("waiting for it", hipSuccess, in_graph ? hipGraphLaunch(exec, waiting) : hipStreamWaitEvent(waiting, event, 0));
  MUST(hipStreamSynchronize(waiting));
}

int main() {
  in_child("a stream that waits", [] { wait_for(true, false); });
  in_child("a graph that waits, the event's stream still there", [] { wait_for(false, true); });
  in_child("a graph that waits", [] { wait_for(true, true); });
  return verdict();
}
