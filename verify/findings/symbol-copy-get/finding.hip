// hipGraphMemcpyNodeGetParams returns a null pointer for the symbol of a copy.
// The story: finding.toml.
#include "../check.h"

__device__ int symbol;

int main() {
  int* memory = device_ints(1);
  const void* const name = reinterpret_cast<const void*>(&symbol);
  void* address = nullptr;
  MUST(hipGetSymbolAddress(&address, name));
  hipGraph_t graph = new_graph();
  hipGraphNode_t to = nullptr, from = nullptr;
  MUST(hipGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, name, memory, sizeof(int), 0, hipMemcpyDeviceToDevice));
  MUST(hipGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, memory, name, sizeof(int), 0, hipMemcpyDeviceToDevice));
  hipMemcpy3DParms params{};
  MUST(hipGraphMemcpyNodeGetParams(to, &params));
  check("the destination is the symbol's address", 1, params.dstPtr.ptr == address);
  check("the source is the memory", 1, params.srcPtr.ptr == memory);
  MUST(hipGraphMemcpyNodeGetParams(from, &params));
  check("the source is the symbol's address", 1, params.srcPtr.ptr == address);
  check("the destination is the memory", 1, params.dstPtr.ptr == memory);
  return verdict();
}
