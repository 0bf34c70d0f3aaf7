// The setter of a node's own type: hipGraphKernelNodeSetParams, hipGraphMemsetNodeSetParams, the setters of copies and
// of copies with symbols, and the corresponding setters of executable graphs.
#pragma once

#include <hip/hip_runtime_api.h>

#include "hip/recording.h"

namespace hip {

// Sets the parameters of one node to `record`, as it is: in an executable graph, or in a graph when `exec` is null. For
// kernels, copies and memsets; other nodes fail an assertion. `form` is how the node was added. Returns the runtime's
// status, or hipErrorNotSupported if the runtime lacks the function.
[[nodiscard]] hipError_t set_node(const Api& api, hipGraphExec_t exec, hipGraphNode_t node, NodeForm form,
                                  NodeRecord& record);

// The function that set_node calls for a node that was not added by the driver's form.
[[nodiscard]] const char* setter_name(const NodeRecord& record, bool in_exec);

}  // namespace hip
