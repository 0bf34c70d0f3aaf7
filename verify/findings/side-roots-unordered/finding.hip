// A graph with several roots does not wait for earlier work of its launch stream.
// The story: finding.toml.
#include "../check.h"

__global__ void slow_write(int* out, int value, int rounds) {
  volatile int* memory = out;
  int sum = 0;
  for (int i = 0; i < rounds; i++) sum += memory[1];
  memory[0] = value + (sum == 12345);
}
__global__ void copy_plus_one(int* out, const int* in) {
  *out = *static_cast<const volatile int*>(in) + 1;
}

constexpr int kRounds = 40000;

hipGraphExec_t readers(int* memory, int roots) {
  hipGraph_t graph = new_graph();
  for (int i = 0; i < roots; i++) kernel_node(graph, {}, copy_plus_one, memory + 16 + i, memory);
  hipGraphExec_t exec = instantiate(graph);
  run(exec);  // the first launch takes longer on the host, so that it might not be early
  MUST(hipMemset(memory, 0, 64 * sizeof(int)));
  MUST(hipDeviceSynchronize());
  return exec;
}
int early_roots(const int* memory, int roots) {
  MUST(hipDeviceSynchronize());
  int early = 0;
  for (int i = 0; i < roots; i++) early += read_int(memory + 16 + i) != 8;
  return early;
}

int main() {
  int* memory = device_ints(64);
  for (int roots : {1, 2, 8, 16}) {
    hipGraphExec_t exec = readers(memory, roots);
    slow_write<<<1, 1, 0, nullptr>>>(memory, 7, kRounds);
    MUST(hipGraphLaunch(exec, nullptr));
    check("roots of " + std::to_string(roots) + " that ran before an earlier kernel had finished", 0,
          early_roots(memory, roots));
  }
  hipGraph_t writer = new_graph();
  kernel_node(writer, {}, slow_write, memory, 7, kRounds);
  hipGraphExec_t first = instantiate(writer), second = readers(memory, 2);
  MUST(hipGraphLaunch(first, nullptr));
  MUST(hipGraphLaunch(second, nullptr));
  check("roots of 2 that ran before an earlier graph had finished", 0, early_roots(memory, 2));
  return verdict();
}
