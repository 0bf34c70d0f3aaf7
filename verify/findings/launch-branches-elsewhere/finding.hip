// A graph with branches crashes on a stream of a device that was not current at instantiation.
// The story: finding.toml. Needs two devices.
#include "../check.h"

namespace {

void launch_elsewhere(int current_when_instantiated) {
  hipStream_t second = nullptr;
  MUST(hipSetDevice(1));
  MUST(hipStreamCreate(&second));
  MUST(hipSetDevice(current_when_instantiated));
  hipGraph_t graph = nullptr;
  MUST(hipGraphCreate(&graph, 0));
  for (int i = 0; i < 2; ++i) {
    hipGraphNode_t node = nullptr;
    MUST(hipGraphAddEmptyNode(&node, graph, nullptr, 0));
  }
  hipGraphExec_t exec = instantiate(graph);
  MUST(hipSetDevice(1));
  check("the launch", hipSuccess, hipGraphLaunch(exec, second));
  check("waiting for it", hipSuccess, hipStreamSynchronize(second));
}

}  // namespace

int main() {
  in_child("instantiated with device 1 current", [] { launch_elsewhere(1); });
  in_child("instantiated with device 0 current", [] { launch_elsewhere(0); });
  return verdict();
}
