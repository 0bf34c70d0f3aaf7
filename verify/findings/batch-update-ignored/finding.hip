// An update succeeds and leaves the batches of memory operations of the executable graph as they were.
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
  hipStreamBatchMemOpParams old_operation = write(memory, 5), new_operation = write(memory, 7);
  hipGraph_t graph = new_graph(), other = new_graph();
  add_batch(graph, &old_operation);
  add_batch(other, &new_operation);
  hipGraphExec_t exec = instantiate(graph);
  hipGraphNode_t error_node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
  const hipError_t status = hipGraphExecUpdate(exec, other, &error_node, &result);
  run(exec);
  check("written after the update", status == hipSuccess ? 7 : 5, read_int(memory));
  return verdict();
}
