// A graph that was launched and waited for is destroyed, and another one with a host node never ends.
//
// Documentation: HIP, hipStreamSynchronize: returns when all of the stream's work is done. hipGraphExecDestroy destroys
// an executable graph; nothing says that other graphs may not be launched then. CUDA, cudaGraphExecDestroy: a graph in
// flight is freed asynchronously when it is done.
// What happens: both threads wait for ever. Not in 6.4.3.
// Source: GraphExec::DecrementRefCount is a callback of the last launch and runs on the thread that handles signals.
// The destructor that it calls finishes the graph's own streams, which share hardware queues with the next graph's; the
// barrier of that graph's host node stands there, and only the thread that waits could run its host function.
#include "../check.h"

__global__ void add(int* out, int times) {
  for (int i = 0; i < times; i++) *out += 1;
}
void nothing(void*) {}

// A kernel with three behind it, and a host node: they are spread over several streams.
hipGraphExec_t several_streams(int* memory, int times, bool host) {
  hipGraph_t graph = new_graph();
  const hipGraphNode_t first = kernel_node(graph, {}, add, memory, times);
  for (int i = 1; i <= 3; i++) kernel_node(graph, {first}, add, memory + i, 1);
  hipHostNodeParams params{};
  params.fn = nothing;
  hipGraphNode_t node = nullptr;
  if (host) MUST(hipGraphAddHostNode(&node, graph, &first, 1, &params));
  const hipGraphExec_t exec = instantiate(graph);
  MUST(hipGraphDestroy(graph));
  return exec;
}

template <class Wait>
void relaunch(int rounds, int times, bool host, Wait wait) {
  int* memory = device_ints(4);
  const hipGraphExec_t other = several_streams(memory, 1, host);
  for (int i = 0; i < rounds; i++) {
    const hipGraphExec_t exec = several_streams(memory, times, false);
    MUST(hipGraphLaunch(exec, nullptr));
    wait();
    MUST(hipGraphExecDestroy(exec));
    for (int launch = 0; launch < 3; launch++) MUST(hipGraphLaunch(other, nullptr));
    MUST(hipDeviceSynchronize());
  }
}

int main() {
  in_child("destroyed in flight, with a host node behind it", [] { relaunch(3, 20000, true, [] {}); });
  in_child("destroyed in flight, without one", [] { relaunch(3, 20000, false, [] {}); });
  in_child("waited for by its stream, with a host node behind it",
           [] { relaunch(100, 1, true, [] { MUST(hipStreamSynchronize(nullptr)); }); });
  in_child("waited for by the device, with a host node behind it",
           [] { relaunch(100, 1, true, [] { MUST(hipDeviceSynchronize()); }); });
  return verdict();
}
