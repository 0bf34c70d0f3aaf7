// hipGraphInstantiate of a long chain of nodes overflows the stack.
// The story: finding.toml.
#include "../check.h"

int main() {
  constexpr int kLength = 60000;
  in_child("instantiating a chain of 60000 nodes", [] {
    hipGraph_t graph = new_graph();
    hipGraphNode_t last = nullptr;
    for (int i = 0; i < kLength; i++) {
      hipGraphNode_t next = nullptr;
      MUST(hipGraphAddEmptyNode(&next, graph, i == 0 ? nullptr : &last, i == 0 ? 0 : 1));
      last = next;
    }
    hipGraphExec_t exec = nullptr;
    const hipError_t error = hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
    check("instantiating a chain of 60000 nodes", hipSuccess, error);
  });
  return verdict();
}
