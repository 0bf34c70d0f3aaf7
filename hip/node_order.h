// hip::node_order: a recording's nodes in an order that honours its dependencies.
//
// Of the nodes that may come next it is always the first, so nodes that were recorded in order stay in that order. What
// is part of a circle, or behind one, is not in it.
#pragma once

#include <vector>

#include "hip/recording.h"

namespace hip {

[[nodiscard]] std::vector<NodeIndex> node_order(const Recording& recording);

}  // namespace hip
