// A setter takes the node of a later graph for a node of the executable graph.
// The story: finding.toml.
#include "../check.h"

static hipMemsetParams memset_of(int* cell, unsigned value) {
  hipMemsetParams params{};
  params.dst = cell;
  params.elementSize = params.width = params.height = 1;
  params.value = value;
  return params;
}

int main() {
  int* cells = device_ints(3);
  const hipMemsetParams was = memset_of(cells, 1), later = memset_of(cells + 1, 2), set = memset_of(cells + 2, 3);
  hipGraphNode_t node = nullptr;
  hipGraph_t graph = new_graph();
  MUST(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &was));
  hipGraphExec_t exec = instantiate(graph);
  MUST(hipGraphDestroy(graph));

  hipGraphNode_t other = nullptr;
  MUST(hipGraphAddMemsetNode(&other, new_graph(), nullptr, 0, &later));
  std::printf("the handle was given again: %s\n", other == node ? "yes" : "no");
  check("a setter with the node of another graph", hipErrorInvalidValue,
        hipGraphExecMemsetNodeSetParams(exec, other, &set));
  run(exec);
  check("what the executable graph wrote", 1, read_int(cells));
  return verdict();
}
