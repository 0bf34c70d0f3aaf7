// The nodes of a clone keep the original graph as their parent.
// The story: finding.toml.
#include "../check.h"

int main() {
  constexpr int kGraphs = 1000;
  hipGraph_t inner = new_graph(), original = new_graph(), clone = nullptr;
  hipGraphNode_t child = nullptr, child_in_clone = nullptr;
  MUST(hipGraphAddChildGraphNode(&child, original, nullptr, 0, inner));
  MUST(hipGraphClone(&clone, original));
  MUST(hipGraphNodeFindInClone(&child_in_clone, child, clone));
  hipGraphExec_t exec = instantiate(clone);
  MUST(hipGraphDestroy(original));
  // One of them takes the place of what was destroyed.
  hipError_t answer = hipSuccess;
  for (int i = 0; i < kGraphs && answer == hipSuccess; ++i) {
    answer = hipGraphExecChildGraphNodeSetParams(exec, child_in_clone, new_graph());
  }
  check("setting a clone's child to a new graph", hipSuccess, answer);
  return verdict();
}
