// The hipMemcpyToSymbol and hipMemcpyFromSymbol functions refuse hipMemcpyDefault.
// The story: finding.toml.
#include "../check.h"

__device__ int symbol;

int main() {
  int* memory = device_ints(1);
  const void* const name = reinterpret_cast<const void*>(&symbol);
  const int three = 3;
  MUST(hipMemcpy(memory, &three, sizeof(int), hipMemcpyHostToDevice));
  hipStream_t stream = nullptr;
  MUST(hipStreamCreate(&stream));
  check("to a symbol", hipSuccess, hipMemcpyToSymbol(name, memory, sizeof(int), 0, hipMemcpyDefault));
  check("from a symbol", hipSuccess, hipMemcpyFromSymbol(memory, name, sizeof(int), 0, hipMemcpyDefault));
  check("to a symbol, asynchronously", hipSuccess,
        hipMemcpyToSymbolAsync(name, memory, sizeof(int), 0, hipMemcpyDefault, stream));
  check("from a symbol, asynchronously", hipSuccess,
        hipMemcpyFromSymbolAsync(memory, name, sizeof(int), 0, hipMemcpyDefault, stream));
  MUST(hipStreamSynchronize(stream));
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  check("to a symbol, as a node", hipSuccess,
        hipGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, name, memory, sizeof(int), 0, hipMemcpyDefault));
  run(instantiate(graph));
  int copied = 0;
  MUST(hipMemcpyFromSymbol(&copied, name, sizeof(int), 0, hipMemcpyDeviceToHost));
  check("what the node copied", three, copied);
  return verdict();
}
