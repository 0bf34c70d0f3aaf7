// hipGraphLaunch waits for the graph to reach a memcpy node with a pageable destination, so the caller can deadlock.
//
// Documentation: CUDA Programming Guide, "Asynchronous Concurrent Execution" and "CUDA Graphs": a graph launch is
// asynchronous with respect to the host. HIP's documentation names no exception for graphs.
// What happens: a node that copies to pageable memory (host to host, or device to host) is carried out inside
// hipGraphLaunch, which blocks until everything before the node has finished. When what is before it waits for the
// launching thread, as here the host node does for a flag that is set after the launch, neither ever goes on; this
// program lets a second thread set the flag after a second and measures how long the launch took. Source:
// ihipHtoHMemcpy waits for the stream (stream.finish()); device to host: the copy to unpinned memory does.
#include <atomic>
#include <chrono>
#include <thread>

#include "check.h"

std::atomic<bool> flag{false};
void wait_for_flag(void*) {
  while (!flag) usleep(1000);
}

bool launch_blocks(void* target, const void* source, hipMemcpyKind kind) {
  flag = false;
  hipGraph_t graph = new_graph();
  hipHostNodeParams host{};
  host.fn = wait_for_flag;
  hipGraphNode_t waiter = nullptr, copy = nullptr;
  MUST(hipGraphAddHostNode(&waiter, graph, nullptr, 0, &host));
  MUST(hipGraphAddMemcpyNode1D(&copy, graph, &waiter, 1, target, source, sizeof(int), kind));
  hipGraphExec_t exec = instantiate(graph);
  std::thread rescue([] {
    usleep(500000);
    flag = true;
  });
  const auto before = std::chrono::steady_clock::now();
  MUST(hipGraphLaunch(exec, nullptr));
  const auto passed = std::chrono::steady_clock::now() - before;
  rescue.join();
  MUST(hipDeviceSynchronize());
  return passed > std::chrono::milliseconds(300);
}

int main() {
  int* memory = device_ints(4);
  static int target = 0, source = 0;
  check("launch with a host to host copy waits for the host node before it", 0,
        launch_blocks(&target, &source, hipMemcpyHostToHost));
  check("launch with a device to pageable host copy waits for the host node before it", 0,
        launch_blocks(&target, memory, hipMemcpyDeviceToHost));
  return verdict();
}
