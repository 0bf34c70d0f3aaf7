// Queries of the layers about a graph.
#pragma once

#include <vector>

#include "hip/api/api.h"

namespace fuzz {

// The nodes in the runtime's order; empty if the runtime reports an error.
[[nodiscard]] inline std::vector<hipGraphNode_t> nodes_of(const hip::Api& hip, hipGraph_t graph) {
  std::size_t count = 0;
  if (hip.hipGraphGetNodes(graph, nullptr, &count) != hipSuccess || count == 0) return {};
  std::vector<hipGraphNode_t> nodes(count);
  if (hip.hipGraphGetNodes(graph, nodes.data(), &count) != hipSuccess) return {};
  return nodes;
}

}  // namespace fuzz
