// A successful setter of a copy to or from a symbol leaves an error in hipGetLastError.
// The story: finding.toml.
#include "../check.h"

__device__ int symbol;

int main() {
  int* memory = device_ints(1);
  const void* const name = reinterpret_cast<const void*>(&symbol);
  hipGraph_t graph = new_graph();
  hipGraphNode_t to = nullptr, from = nullptr;
  MUST(hipGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, name, memory, sizeof(int), 0, hipMemcpyDeviceToDevice));
  MUST(hipGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, memory, name, sizeof(int), 0, hipMemcpyDeviceToDevice));
  hipGraphExec_t exec = instantiate(graph);
  check("last error before", hipSuccess, hipGetLastError());
  check("setting a copy to a symbol", hipSuccess,
        hipGraphExecMemcpyNodeSetParamsToSymbol(exec, to, name, memory, sizeof(int), 0, hipMemcpyDeviceToDevice));
  check("last error", hipSuccess, hipGetLastError());
  check("setting a copy from a symbol", hipSuccess,
        hipGraphMemcpyNodeSetParamsFromSymbol(from, memory, name, sizeof(int), 0, hipMemcpyDeviceToDevice));
  check("last error", hipSuccess, hipGetLastError());
  return verdict();
}
