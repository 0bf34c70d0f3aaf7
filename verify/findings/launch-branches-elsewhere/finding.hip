// A graph with two roots cannot be launched on a stream of another device than the one that was current when it was
// instantiated. Needs two devices.
//
// Documentation: hipGraphLaunch takes any stream, and hipGraphInstantiate names no device; the nodes here do nothing.
// What happens: a segmentation fault in hipGraphLaunch, in the host's own code. With one node, with the nodes one
// behind the other, or with the stream's device current at hipGraphInstantiate it is right.
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
