// hip::flattened: a recording with its child graphs expanded into nodes of its own, at every depth.
//
// Launches of the flat graph observe what those of the nested one do (P9), and a patch sets its nodes one by one where
// it would have to hand over a whole child. Every dependency is kept, whatever the types of the nodes: what a child
// waited for its first nodes wait for, and what waited for the child waits for its last ones; where several meet
// several, an empty node stands between, so that edges stay linear in the edges that there were. A child without nodes
// leaves an empty node.
//
// A child whose dependencies close a circle stays a child. A recording that closes one itself, or
// is outside its bounds (hip/recording.h), stays as it is.
#pragma once

#include <functional>
#include <vector>

#include "hip/recording.h"

namespace hip {

[[nodiscard]] Recording flattened(const Recording& recording);
// Which nodes of the flat recording stand for each of the recording's own: none for a child that was expanded.
using Places = std::vector<std::vector<NodeIndex>>;
[[nodiscard]] Recording flattened(const Recording& recording, Places& places);
// The nodes that stand for a node, one behind the other; none: it stays what it is.
using Spelling = std::function<std::vector<RecordedNode>(const RecordedNode&)>;
[[nodiscard]] Recording flattened(const Recording& recording, Places& places, const Spelling& spelling);

}  // namespace hip
