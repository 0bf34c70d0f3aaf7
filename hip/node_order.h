// hip::node_order: a recording's nodes in an order that honours its dependencies.
//
// The first of the nodes that may come next is taken, so nodes that were recorded in order stay in that order. Nodes in
// a circle, or behind one, are not in it.
#pragma once

#include <vector>

#include "hip/recording.h"

namespace hip {

[[nodiscard]] std::vector<NodeIndex> node_order(const Recording& recording);

}  // namespace hip
