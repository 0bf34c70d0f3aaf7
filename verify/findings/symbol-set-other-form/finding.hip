// A setter that makes a copy to or from a symbol another copy, or the reverse, succeeds and does something else.
// The story: finding.toml.
#include "../check.h"

__device__ int symbol;

// A refusal would be an answer, too. A node that was set with success has to copy 42 to memory[1].
static void check_set(const char* what, hipError_t status, hipGraph_t graph, const int* memory) {
  if (status != hipSuccess) return;
  run(instantiate(graph));
  check(std::string("copied by ") + what, 42, read_int(memory + 1));
}

static hipGraphNode_t copy_to_symbol(hipGraph_t graph, const int* source) {
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, reinterpret_cast<const void*>(&symbol), source,
                                     sizeof(int), 0, hipMemcpyDeviceToDevice));
  return node;
}

int main() {
  int* memory = device_ints(4);
  const int value = 42;
  MUST(hipMemcpy(memory + 2, &value, sizeof value, hipMemcpyHostToDevice));

  hipMemcpy3DParms row{};
  row.dstPtr = make_hipPitchedPtr(memory + 1, sizeof(int), sizeof(int), 1);
  row.srcPtr = make_hipPitchedPtr(memory + 2, sizeof(int), sizeof(int), 1);
  row.extent = make_hipExtent(sizeof(int), 1, 1);
  row.kind = hipMemcpyDeviceToDevice;
  hipGraph_t rows = new_graph();
  hipGraphNode_t node = copy_to_symbol(rows, memory);
  check_set("a node that hipGraphMemcpyNodeSetParams set", hipGraphMemcpyNodeSetParams(node, &row), rows, memory);

  MUST(hipMemset(memory + 1, 0, sizeof(int)));
  MUST(hipDeviceSynchronize());
  hipGraph_t line = new_graph();
  node = copy_to_symbol(line, memory);
  check_set("a node that hipGraphMemcpyNodeSetParams1D set",
            hipGraphMemcpyNodeSetParams1D(node, memory + 1, memory + 2, sizeof(int), hipMemcpyDeviceToDevice), line,
            memory);
  return verdict();
}
