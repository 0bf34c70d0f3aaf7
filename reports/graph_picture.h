// A graph as inline SVG, laid out by Graphviz as a library.
//
// Promises: the same picture on every machine (only the built-in layout and renderer are used: no fonts, no plug-in
// files, no network); no ids and no namespace declarations, so that many pictures fit into one HTML page; colours are
// classes ("node", "fault", "edge") for the page's style sheet.
// Does not check: that names are unique (nodes of equal name are drawn as one) or that edges make sense. An edge to a
// node that is not listed draws that node, since a dangling edge may be the fault. Not safe to call from two threads at
// once: the library keeps global state.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "verify/result.h"

namespace reports {

// Beyond these bounds a person reads the list rather than the picture.
inline constexpr std::size_t kMaxDrawnNodes = 120;
inline constexpr std::size_t kMaxDrawnEdges = 3 * kMaxDrawnNodes;

// Nothing when the graph is empty or past the bounds, or when Graphviz refuses it.
[[nodiscard]] std::optional<std::string> draw_graph(const verify::GraphPicture& graph);

}  // namespace reports
