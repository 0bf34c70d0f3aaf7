// hip::node_order: a recording's nodes in an order that honours its dependencies.
//
// Where several nodes may come next, the one with the lowest index does, so nodes that were recorded in order stay
// in that order. Nodes in a circle of dependencies, or behind one, are left out.
#pragma once

#include <vector>

#include "hip/recording.h"

namespace hip {

[[nodiscard]] std::vector<NodeIndex> node_order(const Recording& recording);

}  // namespace hip
