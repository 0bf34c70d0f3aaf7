// Handles of destroyed graphs and streams are used as if they were valid.
// The story: finding.toml.
#include "../check.h"

int main() {
  in_child("hipGraphGetNodes of a destroyed graph", [] {
    hipGraph_t gone = new_graph();
    MUST(hipGraphDestroy(gone));
    size_t count = 0;
    check("hipGraphGetNodes of a destroyed graph", hipErrorInvalidValue, hipGraphGetNodes(gone, nullptr, &count));
  });
  in_child("hipGraphInstantiate of a destroyed graph", [] {
    hipGraph_t gone = new_graph();
    MUST(hipGraphDestroy(gone));
    hipGraphExec_t exec = nullptr;
    check("hipGraphInstantiate of a destroyed graph", hipErrorInvalidValue,
          hipGraphInstantiate(&exec, gone, nullptr, nullptr, 0));
  });
  return verdict();
}
