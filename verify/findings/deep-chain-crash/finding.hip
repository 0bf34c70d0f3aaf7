// hipGraphInstantiate of a long chain of nodes overflows the stack.
//
// Documentation: no limit on the length of a path is documented.
// What happens: the scheduling of nodes calls itself once for every node on a path, so that a chain of 60,000 empty
// nodes (20,000 pass with the usual stack of 8 MB, 30,000 do not; a thread with a smaller stack has its limit
// earlier) ends in SIGSEGV. A launch recurses in the same way.
// Source: Graph::ScheduleOneNode and Graph::RunOneNode.
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
