// Attributes of kernel nodes (hipGraphKernelNodeSetAttribute): the priority of the node's launches, whether they are
// cooperative, and their window of accesses. The memory synchronisation domains of later headers are left out: nothing
// that this project can observe depends on them.
#pragma once

#include <hip/hip_runtime_api.h>

#include "hip/recording.h"

namespace hip {

// Sets the given attributes. hipErrorNotSupported where the runtime, or this release of HIP's header, lacks one.
[[nodiscard]] Status set_attributes(const Api& api, hipGraphNode_t node, const KernelAttributes& attributes);
// The node's values of the attributes that `asked` names. AMD's runtime remembers only the attribute that was set last
// and answers hipErrorInvalidValue for the other ones (docs/findings.md, kernel-attribute-one-only).
[[nodiscard]] Result<KernelAttributes> attributes_of(const Api& api, hipGraphNode_t node,
                                                     const KernelAttributes& asked);

// The name of a needed function that `api` lacks, or "hipLaunchAttributePriority" if HIP's header lacks it, or null.
[[nodiscard]] const char* missing_for_attributes(const Api& api, const KernelAttributes& attributes);

}  // namespace hip
