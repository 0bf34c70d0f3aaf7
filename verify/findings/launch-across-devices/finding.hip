// Kernels and memsets of a device other than the graph's own fail.
// The story: finding.toml. Needs two devices.
#include "../check.h"

__global__ void count(int* counter) {
  *counter += 1;
}

int main() {
  in_child("a launch of a captured graph of two devices", [] {
    int* counter = nullptr;
    hipStream_t first = nullptr, second = nullptr;
    hipEvent_t fork = nullptr, join = nullptr;
    MUST(hipSetDevice(1));
    MUST(hipMalloc(&counter, sizeof(int)));
    MUST(hipMemset(counter, 0, sizeof(int)));
    MUST(hipStreamCreate(&second));
    MUST(hipEventCreate(&join));
    MUST(hipDeviceSynchronize());
    MUST(hipSetDevice(0));
    MUST(hipStreamCreate(&first));
    MUST(hipEventCreate(&fork));
    hipGraph_t graph = nullptr;
    MUST(hipStreamBeginCapture(first, hipStreamCaptureModeRelaxed));
    MUST(hipEventRecord(fork, first));
    MUST(hipStreamWaitEvent(second, fork, 0));
    MUST(hipSetDevice(1));
    count<<<1, 1, 0, second>>>(counter);
    MUST(hipGetLastError());
    MUST(hipEventRecord(join, second));
    MUST(hipSetDevice(0));
    MUST(hipStreamWaitEvent(first, join, 0));
    MUST(hipStreamEndCapture(first, &graph));
    check("the launch", hipSuccess, hipGraphLaunch(instantiate(graph), first));
    check("waiting for it", hipSuccess, hipStreamSynchronize(first));
    int counted = 0;
    if (hipMemcpy(&counted, counter, sizeof(int), hipMemcpyDeviceToHost) == hipSuccess) check("kernels", 1, counted);
  });
  return verdict();
}
