// With segment scheduling off, launching a graph with a redundant edge beside another path crashes.
// The story: finding.toml.
#include "../check.h"

static hipGraphNode_t empty_behind(hipGraph_t graph, const std::vector<hipGraphNode_t>& before) {
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddEmptyNode(&node, graph, before.data(), before.size()));
  return node;
}

static void launch_two_paths() {
  const hipGraph_t graph = new_graph();
  const hipGraphNode_t root = empty_behind(graph, {});
  const hipGraphNode_t first = empty_behind(graph, {root});
  empty_behind(graph, {root, first});  // the edge from the root is redundant
  empty_behind(graph, {root});
  const hipGraphExec_t exec = instantiate(graph);
  run(exec);
}

int main() {
  MUST(setenv("DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING", "0", 1) == 0 ? hipSuccess : hipErrorUnknown);
  in_child("a launch of two paths", launch_two_paths);
  return verdict();
}
