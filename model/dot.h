// A graph as text of Graphviz (hipGraphDebugDotPrint). HIP does not document the format of the text. It contains the
// words that AMD's public test (Unit_hipGraphDebugDotPrint_Functional) counts: one `subgraph` a graph,
// one `->` an edge, and a node's type in capitals, with a copy's direction.
#pragma once

#include <string>

#include "model/graph.h"

namespace model {

// The numbers of hipGraphDebugDotFlags; other flags are ignored.
inline constexpr unsigned kDotVerbose = 1u << 0;  // all of them
inline constexpr unsigned kDotKernelParams = 1u << 2;
inline constexpr unsigned kDotCopyParams = 1u << 3;
inline constexpr unsigned kDotMemsetParams = 1u << 4;
inline constexpr unsigned kDotHostParams = 1u << 5;
inline constexpr unsigned kDotEventParams = 1u << 6;
inline constexpr unsigned kDotKernelAttributes = 1u << 9;
inline constexpr unsigned kDotHandles = 1u << 10;

[[nodiscard]] std::string to_dot(const Graph& graph, unsigned flags);

}  // namespace model
