// hip::by_host: a memset of host memory, or a copy from pageable memory, as nodes in which the host writes, for
// releases that do such nodes when the graph is instantiated or launched and not when it runs (hip/release_quirks.h).
//
// A host node writes the same bytes as the memset or the copy. For a copy to device memory, the host node copies to
// pinned memory of its own and a copy node follows it. The pinned memory lives as long as the graph that the nodes are
// recorded into (RecordedGraph::kept). The host node holds the addresses of the buffers, so a graph whose buffers have
// moved is recorded again. Host memory has one address for the host and for devices, as on AMD's runtimes.
#pragma once

#include <vector>

#include "hip/errors.h"
#include "hip/recording.h"

namespace hip {

// Whether the host could: a memset, or a copy that is not of arrays, of some bytes.
[[nodiscard]] bool host_can_do(const NodeRecord& record);
// The nodes, without dependencies, of which each depends on the one before; none for what it cannot do. `to_host`: what
// it writes is host memory. `errors`: what freeing pinned memory answered.
[[nodiscard]] std::vector<RecordedNode> by_host(const RecordedNode& node, bool to_host, const ErrorSink& errors);

}  // namespace hip
