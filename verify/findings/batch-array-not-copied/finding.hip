// A node of a batch of memory operations uses the array of the caller instead of a copy.
// The story: finding.toml.
#include "../check.h"

// HIP 7 has no way to a context that is not deprecated, and the node asks for one.
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

static hipStreamBatchMemOpParams write(int* to, int value) {
  hipStreamBatchMemOpParams operation{};
  operation.operation = hipStreamMemOpWriteValue32;
  operation.writeValue.address = to;
  operation.writeValue.value = static_cast<unsigned>(value);
  return operation;
}

// The graph has one node of one operation, which is in `operation`.
static hipGraphNode_t add_batch(hipGraph_t graph, hipStreamBatchMemOpParams* operation) {
  hipBatchMemOpNodeParams params{};
  MUST(hipCtxGetCurrent(&params.ctx));
  params.count = 1;
  params.paramArray = operation;
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params));
  return node;
}

int main() {
  int* memory = device_ints(1);
  hipStreamBatchMemOpParams operation = write(memory, 5);
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = add_batch(graph, &operation);
  hipBatchMemOpNodeParams params{};
  MUST(hipGraphBatchMemOpNodeGetParams(node, &params));
  check("the array that the getter returns is that of the caller", 0, params.paramArray == &operation);
  hipGraphExec_t exec = instantiate(graph);
  operation = write(memory, 6);
  run(exec);
  check("written after the array changed", 5, read_int(memory));
  return verdict();
}
