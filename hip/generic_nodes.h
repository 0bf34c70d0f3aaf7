// The forms of HIP's graph API that take the parameters of any type of node as one union: hipGraphAddNode,
// hipGraphNodeSetParams and hipGraphExecNodeSetParams.
//
// A copy is passed in its 3D form. A child graph is recorded for the call and destroyed when the call has returned.
// Opaque nodes have no parameters (asserted). If the runtime or this release of HIP's headers lacks a function, the
// error is hipErrorNotSupported.
#pragma once

#include <hip/hip_runtime_api.h>

#include <span>

#include "hip/recording.h"

namespace hip {

// `record` has been relocated.
[[nodiscard]] Result<hipGraphNode_t> add_generic_node(const Api& api, hipGraph_t graph, NodeRecord& record,
                                                      std::span<const hipGraphNode_t> dependencies,
                                                      std::span<const DeviceAddress> addresses, NodeExtras& extras);
// Sets a node of an executable graph, or of the graph itself when `exec` is null.
[[nodiscard]] Status set_generic_node(const Api& api, hipGraphExec_t exec, hipGraphNode_t node, NodeRecord& record,
                                      std::span<const DeviceAddress> addresses);

}  // namespace hip
