// An ordinary HIP program that uses graphs as frameworks do: every step is captured anew and its graph is destroyed at
// once; one executable graph, made by the first step, is updated. Later graphs have the handles of earlier ones.
//
//   anew [STEPS]
// Prints a sum of what it computed.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#define HIP(call)                                                                \
  do {                                                                           \
    if (const hipError_t code = (call); code != hipSuccess) {                    \
      std::printf("line %d: %s: %d\n", __LINE__, #call, static_cast<int>(code)); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (false)

__global__ void add(unsigned* cells, unsigned value) {
  cells[threadIdx.x] += value;
}

int main(int argc, char** argv) {
  const unsigned steps = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 4;
  constexpr unsigned kCells = 32;
  unsigned *cells = nullptr, sum = 0, out[kCells];
  hipStream_t stream = nullptr;
  hipGraphExec_t exec = nullptr;
  HIP(hipMalloc(&cells, sizeof out));
  HIP(hipMemset(cells, 0, sizeof out));
  HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  HIP(hipDeviceSynchronize());
  for (unsigned step = 0; step < steps; ++step) {
    hipGraph_t graph = nullptr;
    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    add<<<1, kCells, 0, stream>>>(cells, step + 1);
    add<<<1, kCells / 2, 0, stream>>>(cells + step % 16, 10);
    HIP(hipStreamEndCapture(stream, &graph));
    if (exec == nullptr) {
      HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    } else {
      hipGraphNode_t node = nullptr;
      hipGraphExecUpdateResult result;
      HIP(hipGraphExecUpdate(exec, graph, &node, &result));
    }
    HIP(hipGraphDestroy(graph));
    HIP(hipGraphLaunch(exec, stream));
    HIP(hipStreamSynchronize(stream));
    HIP(hipMemcpy(out, cells, sizeof out, hipMemcpyDeviceToHost));
  }
  for (const unsigned cell : out) sum = sum * 31 + cell;
  std::printf("anew %u\n", sum);
  HIP(hipGraphExecDestroy(exec));
  HIP(hipStreamDestroy(stream));
  HIP(hipFree(cells));
}
