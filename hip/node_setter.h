// The setter of a node's own type: hipGraphKernelNodeSetParams, hipGraphMemsetNodeSetParams, the setters of copies and
// of copies with symbols, and the corresponding setters of executable graphs.
#pragma once

#include <hip/hip_runtime_api.h>

#include "hip/recording.h"

namespace hip {

// Sets the parameters of one node to `record`, which stands as it is: in an executable graph, or in a graph when `exec`
// is null. Of kernels, copies and memsets; anything else is asserted. `form` is how the node was added. The runtime's
// status; hipErrorNotSupported where it lacks the function.
[[nodiscard]] hipError_t set_node(const Api& api, hipGraphExec_t exec, hipGraphNode_t node, NodeForm form,
                                  NodeRecord& record);

// The function that set_node calls for a node that was not added by the driver's form.
[[nodiscard]] const char* setter_name(const NodeRecord& record, bool in_exec);

}  // namespace hip
