// The driver's forms of nodes: hipDrvGraphAddMemcpyNode, hipDrvGraphAddMemsetNode, hipDrvGraphAddMemFreeNode and their
// setters. A copy names the memory type of each end and no direction.
//
// For copies (as their 3D form), memsets and memory free nodes; other nodes fail an assertion. The context is the
// calling thread's current one. If the runtime or HIP's headers lack a function, the error is hipErrorNotSupported.
#pragma once

#include <hip/hip_runtime_api.h>

#include <span>

#include "hip/recording.h"

namespace hip {

// `record` has been relocated.
[[nodiscard]] Result<hipGraphNode_t> add_driver_node(const Api& api, hipGraph_t graph, NodeRecord& record,
                                                     std::span<const hipGraphNode_t> dependencies,
                                                     std::span<const DeviceAddress> addresses);
// Sets a node of an executable graph, or of the graph itself when `exec` is null.
[[nodiscard]] Status set_driver_node(const Api& api, hipGraphExec_t exec, hipGraphNode_t node, NodeRecord& record);

// Only calls the setter, and allocates nothing. For a node that a function of the driver added.
[[nodiscard]] hipError_t call_driver_copy_setter(const Api& api, hipGraphExec_t exec, hipGraphNode_t node,
                                                 const hipMemcpy3DParms& copy);

// The name of the function that adds or sets such a node, if `api` lacks it; otherwise null.
[[nodiscard]] const char* missing_driver_adder(const Api& api, const NodeRecord& record);
[[nodiscard]] const char* missing_driver_setter(const Api& api, hipGraphExec_t exec, const NodeRecord& record);

}  // namespace hip
