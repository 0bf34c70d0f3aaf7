// Copies to and from symbols: hipGraphAddMemcpyNodeToSymbol, hipGraphAddMemcpyNodeFromSymbol and the setters beside
// them.
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

// The setter's call alone, which allocates nothing: of an executable graph, or of a graph's own node when `exec` is
// null. hipErrorNotSupported where the runtime lacks it.
[[nodiscard]] hipError_t call_symbol_setter(const Api& api, hipGraphExec_t exec, hipGraphNode_t node,
                                            const CopyRecord& copy);

[[nodiscard]] const char* symbol_adder_name(const CopyRecord& copy);
[[nodiscard]] const char* symbol_setter_name(const CopyRecord& copy, bool in_exec);

}  // namespace hip
