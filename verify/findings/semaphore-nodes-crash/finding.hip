// hipGraphAddExternalSemaphoresSignalNode and hipGraphAddExternalSemaphoresWaitNode crash the process.
// The story: finding.toml.
#include "../check.h"

int main() {
  in_child("adding a node that signals", [] {
    const hipExternalSemaphoreSignalNodeParams params{};
    hipGraphNode_t node = nullptr;
    (void)hipGraphAddExternalSemaphoresSignalNode(&node, new_graph(), nullptr, 0, &params);
  });
  in_child("adding a node that waits", [] {
    const hipExternalSemaphoreWaitNodeParams params{};
    hipGraphNode_t node = nullptr;
    (void)hipGraphAddExternalSemaphoresWaitNode(&node, new_graph(), nullptr, 0, &params);
  });
  return verdict();
}
