// hipStreamSynchronize returns, and later work in the stream starts, before a launched graph's last nodes have
// finished.
//
// Documentation: HIP, "HIP graphs": "launching graphs is fundamentally no different to executing other HIP functions
// on a stream"; so what comes after a launch in its stream, and a synchronisation with the stream, waits for the
// whole graph.
// What happens: the leaves of a graph of fewer than 16 nodes are spread over up to 14 internal streams, which share
// four hardware queues. The barrier that ends the launch is to wait for all of them, but it has one signal for each
// hardware queue, and that is not always the last one's: with 14 or 15 independent nodes it may be the queue's first
// kernel. One slow node among fast ones, with hipStreamSynchronize after the first launch, shows it: it is always the
// same nodes. Later launches of the same graph are often right.
// Evidence: AMD_LOG_LEVEL=5 prints the packets: the final BarrierAND's dep_signal list names completion signals of
// kernels that others of the same launch follow in the same queue. Not in 6.4.3.
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
