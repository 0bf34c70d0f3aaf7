// The getters of memset, memcpy and host nodes answer for nodes of any type.
//
// Documentation: hip_runtime_api.h, hipGraphMemsetNodeGetParams: "node - Instance of the node to get parameters of",
// returns hipErrorInvalidValue; hipGraphKernelNodeGetParams does return that for a node that is no kernel node.
// What happens: hipSuccess, and what is "returned" are other bytes of the heap: for an empty node, whatever lies
// behind it.
// Source: hipGraphMemsetNodeGetParams and others cast the node without a look at its type.
#include "../check.h"

int main() {
  hipGraph_t graph = new_graph();
  hipGraphNode_t empty = nullptr;
  MUST(hipGraphAddEmptyNode(&empty, graph, nullptr, 0));
  hipKernelNodeParams kernel{};
  check("kernel parameters of an empty node", hipErrorInvalidValue, hipGraphKernelNodeGetParams(empty, &kernel));
  hipMemsetParams memset{};
  check("memset parameters of an empty node", hipErrorInvalidValue, hipGraphMemsetNodeGetParams(empty, &memset));
  hipMemcpy3DParms copy{};
  check("memcpy parameters of an empty node", hipErrorInvalidValue, hipGraphMemcpyNodeGetParams(empty, &copy));
  hipHostNodeParams host{};
  check("host parameters of an empty node", hipErrorInvalidValue, hipGraphHostNodeGetParams(empty, &host));
  return verdict();
}
