// hipGraphExecUpdate refuses a captured kernel without arguments in place of one with arguments.
// The story: finding.toml.
#include "../check.h"

__global__ void store(int* out, int value) {
  *out = value;
}
__global__ void nothing() {}

// The array of arguments is null: a kernel without parameters needs none.
static hipGraph_t captured_nothing() {
  hipStream_t stream = nullptr;
  MUST(hipStreamCreate(&stream));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  MUST(hipLaunchKernel(reinterpret_cast<const void*>(nothing), dim3(1), dim3(1), nullptr, 0, stream));
  hipGraph_t graph = nullptr;
  MUST(hipStreamEndCapture(stream, &graph));
  MUST(hipStreamDestroy(stream));
  return graph;
}

static void update(const char* what, hipGraph_t from, hipGraph_t to) {
  hipGraphExec_t exec = instantiate(from);
  hipGraphNode_t node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
  check(std::string("hipGraphExecUpdate, ") + what, hipSuccess, hipGraphExecUpdate(exec, to, &node, &result));
  check(std::string("its result, ") + what, hipGraphExecUpdateSuccess, result);
  run(exec);
  MUST(hipGraphExecDestroy(exec));
}

int main() {
  int* memory = device_ints(1);
  hipGraph_t with_arguments = new_graph(), added = new_graph();
  kernel_node(with_arguments, {}, store, memory, 7);
  kernel_node(added, {}, nothing);
  update("to an added kernel without arguments", with_arguments, added);
  update("from a captured kernel without arguments to another", captured_nothing(), captured_nothing());
  update("to a captured kernel without arguments", with_arguments, captured_nothing());
  check("the kernel that the update replaced wrote", 0, read_int(memory));
  return verdict();
}
