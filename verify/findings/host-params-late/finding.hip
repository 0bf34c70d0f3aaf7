// Setting a host node's parameters changes launches that were made before.
// The story: finding.toml.
#include <atomic>

#include "../check.h"

std::atomic<bool> gate{false};
std::atomic<int> seen{0};
void wait_for_gate(void*) {
  while (!gate) usleep(1000);
}
void see(void* number) {
  seen = *static_cast<int*>(number);
}

hipGraph_t graph_of(int* number, hipGraphNode_t* node) {
  hipGraph_t graph = new_graph();
  hipHostNodeParams waits{}, sees{};
  waits.fn = wait_for_gate;
  sees.fn = see;
  sees.userData = number;
  hipGraphNode_t first = nullptr;
  MUST(hipGraphAddHostNode(&first, graph, nullptr, 0, &waits));
  MUST(hipGraphAddHostNode(node, graph, &first, 1, &sees));
  return graph;
}

int main() {
  static int one = 1, two = 2;
  hipGraphNode_t node = nullptr, unused = nullptr;
  hipGraphExec_t exec = instantiate(graph_of(&one, &node));
  MUST(hipGraphLaunch(exec, nullptr));
  hipHostNodeParams params{};
  params.fn = see;
  params.userData = &two;
  MUST(hipGraphExecHostNodeSetParams(exec, node, &params));
  gate = true;
  MUST(hipDeviceSynchronize());
  check("argument of the launch before the setter", 1, seen);

  gate = false;
  exec = instantiate(graph_of(&one, &node));
  MUST(hipGraphLaunch(exec, nullptr));
  hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
  hipGraph_t other = graph_of(&two, &node);
  MUST(hipGraphExecUpdate(exec, other, &unused, &result));
  gate = true;
  MUST(hipDeviceSynchronize());
  check("argument of the launch before the update", 1, seen);
  return verdict();
}
