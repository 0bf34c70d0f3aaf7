// Queries of the layers about streams, graphs and nodes.
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

struct Edges {
  std::vector<hipGraphNode_t> from, to;
};

// No edges if the runtime reports an error.
[[nodiscard]] inline Edges edges_of(const hip::Api& hip, hipGraph_t graph) {
  std::size_t count = 0;
  if (hip.hipGraphGetEdges(graph, nullptr, nullptr, &count) != hipSuccess || count == 0) return {};
  Edges edges{std::vector<hipGraphNode_t>(count), std::vector<hipGraphNode_t>(count)};
  if (hip.hipGraphGetEdges(graph, edges.from.data(), edges.to.data(), &count) != hipSuccess) return {};
  return edges;
}

[[nodiscard]] inline bool has_type(const hip::Api& hip, hipGraphNode_t node, hipGraphNodeType wanted) {
  hipGraphNodeType type{};
  return hip.hipGraphNodeGetType(node, &type) == hipSuccess && type == wanted;
}

// Whether the stream captures, and the capture is valid.
[[nodiscard]] inline bool captures(const hip::Api& hip, hipStream_t stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  return hip.hipStreamIsCapturing(stream, &status) == hipSuccess && status == hipStreamCaptureStatusActive;
}

}  // namespace fuzz
