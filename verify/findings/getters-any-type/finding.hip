// The getters of memset, memcpy and host nodes succeed for nodes of any type.
// The story: finding.toml.
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
