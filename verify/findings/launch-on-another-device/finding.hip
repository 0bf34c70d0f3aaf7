// A graph does not run on a stream of a device that was not current at its instantiation.
// The story: finding.toml. Needs two devices.
#include "../check.h"

namespace {

__global__ void count(int* counter) {
  *counter += 1;
}

void launch_for_a_stream_of_device_0(bool between_events) {
  MUST(hipDeviceEnablePeerAccess(1, 0));
  hipStream_t first = nullptr, own = nullptr;
  hipEvent_t given = nullptr, done = nullptr;
  MUST(hipStreamCreate(&first));
  MUST(hipEventCreate(&given));
  MUST(hipSetDevice(1));
  MUST(hipDeviceEnablePeerAccess(0, 0));
  MUST(hipStreamCreate(&own));
  MUST(hipEventCreate(&done));
  int* const counter = device_ints(1);
  hipGraph_t graph = new_graph();
  kernel_node(graph, {}, count, counter);
  hipGraphExec_t exec = instantiate(graph);
  MUST(hipSetDevice(0));
  if (between_events) {
    MUST(hipEventRecord(given, first));
    MUST(hipStreamWaitEvent(own, given, 0));
    MUST(hipSetDevice(1));
    check("the launch", hipSuccess, hipGraphLaunch(exec, own));
    MUST(hipEventRecord(done, own));
    MUST(hipSetDevice(0));
    MUST(hipStreamWaitEvent(first, done, 0));
  } else {
    check("the launch", hipSuccess, hipGraphLaunch(exec, first));
  }
  check("waiting for the stream", hipSuccess, hipStreamSynchronize(first));
  check("kernels", 1, read_int(counter));
}

}  // namespace

int main() {
  in_child("between events, on a stream of its own device", [] { launch_for_a_stream_of_device_0(true); });
  in_child("on the stream itself", [] { launch_for_a_stream_of_device_0(false); });
  return verdict();
}
