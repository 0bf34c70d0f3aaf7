// hip::flattened: a recording with its child graphs expanded into nodes of its own, at every depth.
//
// Launches of the flat graph and of the nested graph have the same effects (P9). A patch sets the nodes of the flat
// graph one by one; in the nested graph it would have to hand over a whole child. Every dependency is kept: the first
// nodes of a child wait for the child's dependencies, and the child's dependents wait for its last nodes. If a child
// has several dependencies, or several last nodes, an empty node joins them, so that the number of edges stays linear.
// A child without nodes becomes an empty node.
//
// A child graph with a circle of dependencies stays a child graph. A recording with a circle, or outside of its bounds
// (hip/recording.h), stays as it is.
#pragma once

#include <functional>
#include <vector>

#include "hip/recording.h"

namespace hip {

[[nodiscard]] Recording flattened(const Recording& recording);
// For each node of the recording, the nodes of the flat recording that stand for it: none for an expanded child.
using Places = std::vector<std::vector<NodeIndex>>;
[[nodiscard]] Recording flattened(const Recording& recording, Places& places);
// Returns the nodes that replace a node, one behind the other; if it returns none, the node stays as it is.
using Spelling = std::function<std::vector<RecordedNode>(const RecordedNode&)>;
[[nodiscard]] Recording flattened(const Recording& recording, Places& places, const Spelling& spelling);

}  // namespace hip
