// hipGraphInstantiateWithParams calls a graph with a cycle a general error, not an invalid structure.
//
// Documentation: hip_runtime_api.h, hipGraphInstantiateResult: hipGraphInstantiateInvalidStructure, "Instantiation
// failed due to invalid structure, such as cycles"; hipGraphInstantiateError is for "the reason described in the
// return value".
// What happens: result_out is hipGraphInstantiateError for every failure.
// Source: hipGraphInstantiateWithParams sets no other value.
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
