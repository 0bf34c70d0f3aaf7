// hipStreamSynchronize returns before all nodes of a launched graph have finished.
// The story: finding.toml.
#include "../check.h"

__global__ void slow_write(int* out, int value, int rounds) {
  volatile int* memory = out;
  int sum = 0;
  for (int i = 0; i < rounds; i++) sum += memory[1];
  memory[0] = value + (sum == 12345);
}
__global__ void copy(int* out, const int* in) {
  *out = *static_cast<const volatile int*>(in);
}

// Whether the first launch of `nodes` nodes, of which node `slow` is slow, was unfinished after hipStreamSynchronize.
bool unfinished(int* memory, int* pinned, int nodes, int slow, hipStream_t observer) {
  hipGraph_t graph = new_graph();
  for (int i = 0; i < nodes; i++) kernel_node(graph, {}, slow_write, memory + 2 * i, 7, i == slow ? 1000000 : 0);
  hipGraphExec_t exec = instantiate(graph);
  MUST(hipMemset(memory, 0, 64 * sizeof(int)));
  MUST(hipDeviceSynchronize());
  MUST(hipGraphLaunch(exec, nullptr));
  MUST(hipStreamSynchronize(nullptr));
  copy<<<1, 1, 0, observer>>>(pinned, memory + 2 * slow);
  MUST(hipStreamSynchronize(observer));
  bool early = *pinned != 7;
  MUST(hipDeviceSynchronize());
  MUST(hipGraphExecDestroy(exec));
  MUST(hipGraphDestroy(graph));
  return early;
}

int main() {
  int* memory = device_ints(64);
  int* pinned = nullptr;
  hipStream_t observer = nullptr;
  MUST(hipHostMalloc(reinterpret_cast<void**>(&pinned), sizeof(int), hipHostMallocDefault));
  MUST(hipStreamCreateWithFlags(&observer, hipStreamNonBlocking));
  for (int nodes : {8, 15, 16}) {
    int count = 0;
    for (int slow = 1; slow < nodes; slow++) count += unfinished(memory, pinned, nodes, slow, observer) ? 1 : 0;
    check("launches of " + std::to_string(nodes) + " nodes that were unfinished after hipStreamSynchronize", 0, count);
  }
  return verdict();
}
