// Nodes of batches of memory operations: hipGraphAddBatchMemOpNode and its setters and getter.
//
// AMD's runtimes keep the pointer to the caller's array of operations where HIP documents that they copy it. So the
// arrays that these functions hand over stay unchanged until the process ends. Equal arrays are one. Each array that
// differs from all earlier ones stays: 48 bytes for each of its operations. A process that gives its nodes ever new
// values or addresses grows without bound.
//
// Does not check that waits end.
#pragma once

#include <hip/hip_runtime_api.h>

#include <span>

#include "hip/recording.h"

namespace hip {

// hipErrorNotSupported where the runtime or the headers lack the function. The current context is the node's.
[[nodiscard]] Result<hipGraphNode_t> add_batch_node(const Api& api, hipGraph_t graph, const BatchRecord& batch,
                                                    std::span<const hipGraphNode_t> dependencies);
// Sets a node of an executable graph, or of the graph itself when `exec` is null. hipErrorNotSupported as above.
[[nodiscard]] hipError_t call_batch_setter(const Api& api, hipGraphExec_t exec, hipGraphNode_t node,
                                           const BatchRecord& batch);
[[nodiscard]] const char* batch_setter_name(bool in_exec);
// The operations that the runtime tells of a node of a graph. An operation that is neither a write nor a wait, or
// whose comparison does not exist, has 0 bytes.
[[nodiscard]] Result<BatchRecord> batch_of(const Api& api, hipGraphNode_t node);
// The first of these functions that the runtime or the headers lack, or null.
[[nodiscard]] const char* missing_batch_function(const Api& api);

}  // namespace hip
