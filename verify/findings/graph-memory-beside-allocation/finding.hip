// Launching a graph that allocates hangs beside an allocation in stream order of another thread.
// The story: finding.toml.
#include <thread>

#include "../check.h"

static hipGraphExec_t allocating() {
  hipGraph_t graph = new_graph();
  hipMemAllocNodeParams params{};
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location = {hipMemLocationTypeDevice, 0};
  params.bytesize = 4096;
  hipGraphNode_t made = nullptr, set = nullptr, freed = nullptr;
  MUST(hipGraphAddMemAllocNode(&made, graph, nullptr, 0, &params));
  hipMemsetParams zeros{};
  zeros.dst = params.dptr;
  zeros.elementSize = 1;
  zeros.width = 256;
  zeros.height = 1;
  MUST(hipGraphAddMemsetNode(&set, graph, &made, 1, &zeros));
  MUST(hipGraphAddMemFreeNode(&freed, graph, &set, 1, params.dptr));
  return instantiate(graph);
}

static void launch(hipGraphExec_t exec, hipStream_t stream) {
  for (int i = 0; i < 50; ++i) {
    MUST(hipGraphLaunch(exec, stream));
    if (i % 3 == 2) MUST(hipStreamSynchronize(stream));
  }
}

static void allocate(hipStream_t stream) {
  for (int i = 0; i < 50; ++i) {
    void* memory = nullptr;
    MUST(hipMallocAsync(&memory, 4096, stream));
    MUST(hipMemsetAsync(memory, 27, 256, stream));
    MUST(hipFreeAsync(memory, stream));
    if (i % 2 == 1) MUST(hipStreamSynchronize(stream));
  }
}

int main() {
  for (const bool at_the_same_time : {false, true}) {
    in_child(at_the_same_time ? "in two threads" : "in one thread", [&] {
      hipStream_t streams[2];
      for (hipStream_t& stream : streams) MUST(hipStreamCreate(&stream));
      const hipGraphExec_t exec = allocating();
      std::thread other;
      if (at_the_same_time) other = std::thread(allocate, streams[1]);
      launch(exec, streams[0]);
      if (at_the_same_time) other.join();
      if (!at_the_same_time) allocate(streams[1]);
    });
    if (!at_the_same_time && verdict() != 0) return 2;  // the case is about two threads
  }
  return verdict();
}
