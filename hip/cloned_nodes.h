// hip::nodes_of_clone: finds the node of a cloned graph that belongs to each node of the recording.
//
// hipGraphAddChildGraphNode clones a graph, and HIP has no function that finds a node of such a clone: there is only
// hipGraphGetNodes, in an order that HIP does not document (AMD's runtime sorts topologically, breadth first, so it is
// not the order of addition). The recording is therefore recorded once more into a temporary graph with known handles,
// and the two lists are read side by side. The only assumption is that a runtime lists a graph and a clone of an equal
// graph in the same order. The number, types and edges of the listed nodes are then compared with the recording.
//
// Not detected: a runtime that permutes nodes of the same type and with the same edges in clones alone.
#pragma once

#include <span>
#include <vector>

#include "hip/recording.h"

namespace hip {

struct ClonedNodes {
  std::vector<hipGraphNode_t> nodes;  // in the order of the recording's nodes
  const char* difference = nullptr;   // the difference between the clone and the recording; then `nodes` is of no use
};

// `graph` was cloned from a graph that was recorded from `recording`; `addresses` may be any addresses at which the
// recording can be recorded. An error is that of a HIP call. Opaque nodes are recorded once more, too.
[[nodiscard]] Result<ClonedNodes> nodes_of_clone(const Api& api, hipGraph_t graph, const Recording& recording,
                                                 std::span<const DeviceAddress> addresses);

}  // namespace hip
