// hipFree of graph memory or hipMallocAsync memory does not wait for the work that uses it.
// The story: finding.toml.
#include "../check.h"

__global__ void write_late(int* to, int value, int spins) {
  int x = value;
  for (int i = 0; i < spins; ++i) x = x * 31 + i;
  to[0] = x == 1 ? x : value;
}

hipStream_t stream_of_its_own() {
  hipStream_t stream = nullptr;
  MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  return stream;
}

void of_a_stream() {
  hipStream_t first = stream_of_its_own(), second = stream_of_its_own();
  void *memory = nullptr, *next = nullptr;
  MUST(hipMallocAsync(&memory, 64, first));
  write_late<<<1, 1, 0, first>>>(static_cast<int*>(memory), 7, 1000000);
  MUST(hipFree(memory));
  check("the stream behind hipFree", hipSuccess, hipStreamQuery(first));
  MUST(hipMallocAsync(&next, 64, second));
  MUST(hipMemsetD32Async(static_cast<hipDeviceptr_t>(next), 9, 16, second));
  MUST(hipStreamSynchronize(second));
  MUST(hipStreamSynchronize(first));
  check("what the second stream wrote to its own memory", 9, read_int(static_cast<int*>(next)));
}

void of_a_graph() {
  hipStream_t stream = stream_of_its_own();
  hipMemAllocNodeParams memory{};
  memory.poolProps.allocType = hipMemAllocationTypePinned;
  memory.poolProps.location.type = hipMemLocationTypeDevice;
  memory.bytesize = 64;
  hipGraph_t graph = nullptr;
  hipGraphNode_t node = nullptr;
  hipGraphExec_t exec = nullptr;
  MUST(hipGraphCreate(&graph, 0));
  MUST(hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &memory));
  MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  MUST(hipGraphLaunch(exec, stream));
  write_late<<<1, 1, 0, stream>>>(static_cast<int*>(memory.dptr), 7, 1000000);
  MUST(hipFree(memory.dptr));
  check("the stream behind hipFree of a graph's memory", hipSuccess, hipStreamQuery(stream));
  check("its work", hipSuccess, hipStreamSynchronize(stream));
}

void of_the_device() {
  hipStream_t stream = stream_of_its_own();
  int* memory = device_ints(16);
  write_late<<<1, 1, 0, stream>>>(memory, 7, 1000000);
  MUST(hipFree(memory));
  check("the stream behind hipFree of hipMalloc's memory", hipSuccess, hipStreamQuery(stream));
}

int main() {
  in_child("memory of a stream", of_a_stream);
  in_child("memory of a graph", of_a_graph);
  in_child("memory of hipMalloc", of_the_device);
  return verdict();
}
