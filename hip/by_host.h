// hip::by_host: a memset of host memory, or a copy from pageable memory, as nodes in which the host writes, for
// releases that do such nodes when the graph is instantiated or launched and not when it runs (hip/release_quirks.h).
//
// A host node writes the same bytes as the memset or the copy. For a copy to device memory, the host node copies to
// pinned memory of its own and a copy node follows it. The pinned memory lives as long as the graph that the nodes are
// recorded into (RecordedGraph::kept). The host node holds the addresses of the buffers, so the graph is recorded again
// after its buffers have moved. Host memory has one address for the host and for devices, as on AMD's runtimes.
#pragma once

#include <vector>

#include "hip/errors.h"
#include "hip/recording.h"

namespace hip {

// Whether the host could: a memset, or a copy that is not of arrays, of some bytes.
[[nodiscard]] bool host_can_do(const NodeRecord& record);
// The nodes that replace `node`; each depends on the node before, but no dependencies are set. Empty where the host
// cannot do it. `to_host`: the destination is host memory. `errors` receives the errors of freeing pinned memory.
[[nodiscard]] std::vector<RecordedNode> by_host(const RecordedNode& node, bool to_host, const ErrorSink& errors);

}  // namespace hip
