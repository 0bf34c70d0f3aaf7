// hip::by_host: a memset of host memory, or a copy from pageable memory, as nodes in which the host writes, for
// releases that execute such nodes when the graph is instantiated or launched, not when it runs (hip/release_quirks.h).
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

// Whether a host node can do the work of `record`: a memset, or a copy without arrays, of at least one byte.
[[nodiscard]] bool host_can_do(const NodeRecord& record);
// The nodes that replace `node`. Each is to depend on the one before it, but their dependencies are not set. Empty if
// host_can_do() is false. `to_host`: the destination is host memory. `errors` gets errors of freeing pinned memory.
[[nodiscard]] std::vector<RecordedNode> by_host(const RecordedNode& node, bool to_host, const ErrorSink& errors);

}  // namespace hip
