// Copies to and from symbols: hipGraphAddMemcpyNodeToSymbol, hipGraphAddMemcpyNodeFromSymbol and the setters of such
// nodes.
//
// For linear copies with a symbol in their record (CopySymbol); the functions assert that. The runtime looks up the
// symbol's variable on the calling thread's current device.
#pragma once

#include <hip/hip_runtime_api.h>

#include <span>

#include "hip/recording.h"

namespace hip {

// hipErrorNotSupported where the runtime lacks the function.
[[nodiscard]] Result<hipGraphNode_t> add_symbol_node(const Api& api, hipGraph_t graph, const CopyRecord& copy,
                                                     std::span<const hipGraphNode_t> dependencies);

// Only calls the setter, and allocates nothing: sets a node of an executable graph, or of the graph itself when `exec`
// is null. hipErrorNotSupported where the runtime lacks the function.
[[nodiscard]] hipError_t call_symbol_setter(const Api& api, hipGraphExec_t exec, hipGraphNode_t node,
                                            const CopyRecord& copy);

[[nodiscard]] const char* symbol_adder_name(const CopyRecord& copy);
[[nodiscard]] const char* symbol_setter_name(const CopyRecord& copy, bool in_exec);

}  // namespace hip
