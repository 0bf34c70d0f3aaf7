// hipGraphAddNode refuses an empty node.
// The story: finding.toml.
#include "../check.h"

int main() {
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  hipGraphNodeParams params{};
  params.type = hipGraphNodeTypeEmpty;
  check("hipGraphAddNode of an empty node", hipSuccess, hipGraphAddNode(&node, graph, nullptr, 0, &params));
  return verdict();
}
