// hip::flattened: a recording with its child graphs expanded into nodes of its own, at every depth.
//
// Launches of the flat graph and of the nested graph observe the same (P9). A patch sets the nodes of the flat graph
// one by one, where it would have to hand over a whole child of the nested one. Every dependency is kept: the first
// nodes of a child wait for the child's dependencies, and the child's dependents wait for its last nodes. Where several
// meet several, an empty node stands between, so that the number of edges stays linear. A child without nodes leaves an
// empty node.
//
// A child graph with a circle of dependencies stays a child. A recording with a circle, or outside of its bounds
// (hip/recording.h), stays as it is.
#pragma once

#include <functional>
#include <vector>

#include "hip/recording.h"

namespace hip {

[[nodiscard]] Recording flattened(const Recording& recording);
// Which nodes of the flat recording stand for each of the recording's own: none for a child that was expanded.
using Places = std::vector<std::vector<NodeIndex>>;
[[nodiscard]] Recording flattened(const Recording& recording, Places& places);
// Returns the nodes that replace a node, one behind the other; if it returns none, the node stays as it is.
using Spelling = std::function<std::vector<RecordedNode>(const RecordedNode&)>;
[[nodiscard]] Recording flattened(const Recording& recording, Places& places, const Spelling& spelling);

}  // namespace hip
