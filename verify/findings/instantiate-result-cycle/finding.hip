// hipGraphInstantiateWithParams reports a cycle as a general error.
// The story: finding.toml.
#include "../check.h"

int main() {
  hipGraph_t graph = new_graph();
  hipGraphNode_t a = nullptr, b = nullptr;
  MUST(hipGraphAddEmptyNode(&a, graph, nullptr, 0));
  MUST(hipGraphAddEmptyNode(&b, graph, &a, 1));
  if (hipGraphAddDependencies(graph, &b, &a, 1) != hipSuccess) return 0;  // a runtime may refuse the edge
  hipGraphInstantiateParams params{};
  params.result_out = hipGraphInstantiateSuccess;
  hipGraphExec_t exec = nullptr;
  check("instantiating a cycle", hipErrorInvalidValue, hipGraphInstantiateWithParams(&exec, graph, &params));
  check("result_out", hipGraphInstantiateInvalidStructure, params.result_out);
  return verdict();
}
