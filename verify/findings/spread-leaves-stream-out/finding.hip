// Launching a graph of 16 nodes or more crashes when its shape leaves an internal stream without nodes.
// The story: finding.toml. Here streams 0, 2 and 3 get nodes, and stream 1 gets none.
#include "../check.h"

void launch(std::size_t count, bool all_edges) {
  const std::vector<std::vector<int>> dependencies = {{},  {0}, {0, 1}, {0}, {3}, {0},      {3}, {5, 6},
                                                      {7}, {8}, {9},    {8}, {9}, {11, 12}, {7}, {13, 14}};
  hipGraph_t graph = new_graph();
  std::vector<hipGraphNode_t> nodes(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<hipGraphNode_t> after;
    for (const int node : dependencies[i]) {
      if (all_edges || i != 2 || node != 1) after.push_back(nodes[static_cast<std::size_t>(node)]);
    }
    MUST(hipGraphAddEmptyNode(&nodes[i], graph, after.data(), after.size()));
  }
  run(instantiate(graph));
}

int main() {
  in_child("15 nodes", [] { launch(15, true); });
  in_child("16 nodes, one edge less", [] { launch(16, false); });
  in_child("16 nodes", [] { launch(16, true); });
  return verdict();
}
