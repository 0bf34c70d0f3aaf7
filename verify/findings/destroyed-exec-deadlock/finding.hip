// A process hangs when a graph is launched after another graph was launched, waited for and destroyed.
// The story: finding.toml.
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
