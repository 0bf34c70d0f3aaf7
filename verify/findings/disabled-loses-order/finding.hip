// A disabled node does not order its dependents behind its dependencies.
// The story: finding.toml.
#include "../check.h"

__global__ void slow_write(int* out, int value, int rounds) {
  volatile int* memory = out;
  int sum = 0;
  for (int i = 0; i < rounds; i++) sum += memory[1];
  memory[0] = value + (sum == 12345);
}
__global__ void store(int* out, int value) {
  *out = value;
}
__global__ void copy_plus_one(int* out, const int* in) {
  *out = *static_cast<const volatile int*>(in) + 1;
}

enum class Middle { kEmpty, kKernel, kMemcpy };

int wrong_results(Middle kind, int* memory) {
  hipGraph_t graph = new_graph();
  hipGraphNode_t slow = kernel_node(graph, {}, slow_write, memory, 7, 20000);
  kernel_node(graph, {slow}, store, memory + 32, 1);
  hipGraphNode_t middle = nullptr;
  if (kind == Middle::kEmpty) MUST(hipGraphAddEmptyNode(&middle, graph, &slow, 1));
  if (kind == Middle::kKernel) middle = kernel_node(graph, {slow}, store, memory + 33, 1);
  if (kind == Middle::kMemcpy) {
    MUST(hipGraphAddMemcpyNode1D(&middle, graph, &slow, 1, memory + 34, memory + 35, 4, hipMemcpyDeviceToDevice));
  }
  kernel_node(graph, {middle}, copy_plus_one, memory + 16, memory);
  for (int i = 0; i < 16; i++) kernel_node(graph, {}, store, memory + 64 + i, 1);
  hipGraphExec_t exec = instantiate(graph);
  run(exec);
  if (kind != Middle::kEmpty) MUST(hipGraphNodeSetEnabled(exec, middle, 0));
  int wrong = 0;
  for (int launch = 0; launch < 5; launch++) {
    MUST(hipMemset(memory, 0, 64 * sizeof(int)));
    MUST(hipDeviceSynchronize());
    run(exec);
    wrong += read_int(memory + 16) != 8;
  }
  MUST(hipGraphExecDestroy(exec));
  return wrong;
}

int main() {
  int* memory = device_ints(1024);
  check("wrong results in 5 launches, empty node", 0, wrong_results(Middle::kEmpty, memory));
  check("wrong results in 5 launches, disabled kernel node", 0, wrong_results(Middle::kKernel, memory));
  check("wrong results in 5 launches, disabled memcpy node", 0, wrong_results(Middle::kMemcpy, memory));
  return verdict();
}
