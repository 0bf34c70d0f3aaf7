// The fifth and later dependents of a node may start before the node has finished.
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

int main() {
  constexpr int kRounds = 40000, kDependents = 8;
  int* memory = device_ints(1024);
  int* results = memory + 16;
  hipGraph_t graph = new_graph();
  hipGraphNode_t slow = kernel_node(graph, {}, slow_write, memory, 7, kRounds);
  hipGraphNode_t other = kernel_node(graph, {}, store, memory + 8, 1);
  for (int i = 0; i < kDependents; i++) {
    std::vector<hipGraphNode_t> after = {slow};
    if (i == 1) after.push_back(other);
    kernel_node(graph, after, copy_plus_one, results + i, memory);
  }
  for (int i = 0; i < 10; i++) kernel_node(graph, {other}, store, memory + 64 + i, 1);  // to have 16 nodes and more
  hipGraphExec_t exec = instantiate(graph);
  int wrong[kDependents] = {};
  for (int launch = 0; launch < 5; launch++) {  // the first takes longer on the host, so that it might not be early
    MUST(hipMemset(memory, 0, 32 * sizeof(int)));
    MUST(hipDeviceSynchronize());
    run(exec);
    for (int i = 0; i < kDependents; i++) wrong[i] += read_int(results + i) != 8;
  }
  for (int i = 0; i < kDependents; i++) {
    check("dependent " + std::to_string(i + 1) + ": launches in which it ran too early", 0, wrong[i]);
  }
  return verdict();
}
