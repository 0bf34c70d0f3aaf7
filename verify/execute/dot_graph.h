// Reads the text of Graphviz that hipGraphDebugDotPrint writes as a graph, and compares it with a recorded graph.
//
// HIP documents neither the names of the nodes nor the form of their labels, so the comparison is by structure: numbers
// of nodes and edges, and colour refinement, which tells most graphs apart, but not all (regular ones of one degree).
// Whether a label's values are right is not checked, only that at least as many nodes have more text with a documented
// flag as the flag is about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hip/recording.h"

namespace verify {

using DotEdges = std::vector<std::pair<std::size_t, std::size_t>>;  // (from, to), by index of the node

struct DotGraph {
  struct Node {
    std::string name;
    std::size_t text = 0;  // characters of its attributes
  };
  std::vector<Node> nodes;  // in the order in which the text names them first
  DotEdges edges;
};

// The graph of a text in Graphviz's language (statements of directed graphs; no HTML labels), or no value where the
// text is not in that language.
[[nodiscard]] std::optional<DotGraph> read_dot(std::string_view text);

// Whether colour refinement cannot tell the two graphs of `nodes` nodes apart. All indices are below `nodes`.
[[nodiscard]] bool same_structure(std::size_t nodes, const DotEdges& a, const DotEdges& b);

// "2 nodes, 1 edges", and the flaws of the text that hipGraphDebugDotPrint wrote with `flags` about `recording`;
// `plain` is the text that it wrote without flags.
[[nodiscard]] std::string describe_dot(const hip::Recording& recording, std::string_view plain,
                                       std::string_view flagged, std::uint32_t flags);

}  // namespace verify
