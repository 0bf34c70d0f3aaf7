// Handles of graphs that are gone are used as if they were right.
//
// Documentation: AMD's public tests hand destroyed graphs, nodes and executable graphs to functions and expect
// hipErrorInvalidValue (hipGraphAddKernelNode.cc, hipGraphMemcpyNodeGetParams.cc, hipGraphLaunch.cc), which is what
// hipGraphAddKernelNode, hipGraphClone and the functions of nodes do answer.
// What happens: hipGraphGetNodes and hipGraphInstantiate succeed with what freed memory holds, or crash.
// Source: isGraphValid is asked by some functions and not by others.
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
