// An ordinary HIP program with threads: three of them capture each step on a stream of their own, update or make an
// executable graph, and destroy the graph, while another allocates memory and builds graphs by hand.
//
//   capturing [STEPS]
// Prints a sum of what it computed.
#include <hip/hip_runtime.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#define HIP(call)                                                                \
  do {                                                                           \
    if (const hipError_t code = (call); code != hipSuccess) {                    \
      std::printf("line %d: %s: %d\n", __LINE__, #call, static_cast<int>(code)); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (false)

constexpr unsigned kCells = 32, kThreads = 3;

__global__ void add(unsigned* cells, unsigned value) {
  cells[threadIdx.x] += value;
}

void capture_steps(unsigned* cells, unsigned number, unsigned steps) {
  hipStream_t stream = nullptr;
  hipGraphExec_t exec = nullptr;
  HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  for (unsigned step = 0; step < steps; ++step) {
    hipGraph_t graph = nullptr;
    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    for (unsigned i = 0; i < 5; ++i) add<<<1, kCells, 0, stream>>>(cells, number + step + i);
    HIP(hipStreamEndCapture(stream, &graph));
    if (exec != nullptr && step % 2 != 0) {
      hipGraphNode_t node = nullptr;
      hipGraphExecUpdateResult result;
      HIP(hipGraphExecUpdate(exec, graph, &node, &result));
    } else {
      if (exec != nullptr) HIP(hipGraphExecDestroy(exec));
      HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    }
    HIP(hipGraphDestroy(graph));
    HIP(hipGraphLaunch(exec, stream));
    HIP(hipStreamSynchronize(stream));
  }
  HIP(hipGraphExecDestroy(exec));
  HIP(hipStreamDestroy(stream));
}

void build_graphs(const std::atomic<bool>& over, unsigned steps) {
  hipStream_t stream = nullptr;
  HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  for (unsigned step = 0; step < steps && !over; ++step) {
    void* memory = nullptr;
    hipGraph_t graph = nullptr;
    hipGraphNode_t node = nullptr;
    hipGraphExec_t exec = nullptr;
    HIP(hipMalloc(&memory, 256));
    HIP(hipGraphCreate(&graph, 0));
    hipMemsetParams set{};
    set.dst = memory;
    set.value = step;
    set.elementSize = 4;
    set.width = 64;
    set.height = 1;
    HIP(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
    HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    HIP(hipGraphLaunch(exec, stream));
    HIP(hipStreamSynchronize(stream));
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    HIP(hipFree(memory));
  }
  HIP(hipStreamDestroy(stream));
}

int main(int argc, char** argv) {
  const unsigned steps = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 12;
  unsigned *cells[kThreads], sum = 0, out[kCells];
  for (unsigned*& each : cells) {
    HIP(hipMalloc(&each, sizeof out));
    HIP(hipMemset(each, 0, sizeof out));
  }
  HIP(hipDeviceSynchronize());
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back(capture_steps, cells[i], i, steps);
  std::thread builder([&] { build_graphs(over, 20 * steps); });
  for (std::thread& each : threads) each.join();
  over = true;
  builder.join();
  for (unsigned* each : cells) {
    HIP(hipMemcpy(out, each, sizeof out, hipMemcpyDeviceToHost));
    for (const unsigned cell : out) sum = sum * 31 + cell;
    HIP(hipFree(each));
  }
  std::printf("capturing %u\n", sum);
}
