// The functions of HIP through which a node can be added or set: hip/ and the language of programs share the choice.
#pragma once

#include <cstdint>

namespace hip {

enum class NodeForm : std::uint8_t {
  kTyped,    // the function of the node's type
  kGeneric,  // the one that takes any type: hipGraphAddNode, hipGraphNodeSetParams, hipGraphExecNodeSetParams
  kDriver    // the driver's, of a copy, a memset or a memory free node: hipDrvGraph...
};

}  // namespace hip
