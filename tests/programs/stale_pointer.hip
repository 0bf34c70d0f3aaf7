// A program with a bug: a graph still writes to memory that was freed. It expects nothing of whom it runs on; on
// libhgmodel.so its fault names kernel, instruction, address and former owner (a test looks for them on stderr).
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void fill(int* data, int value) {
  data[threadIdx.x] = value;
}

int main() {
  int* data = nullptr;
  hipStream_t stream = nullptr;
  hipGraph_t graph = nullptr;
  hipGraphExec_t exec = nullptr;
  bool made = hipMalloc(reinterpret_cast<void**>(&data), 64 * sizeof(int)) == hipSuccess &&
              hipStreamCreate(&stream) == hipSuccess &&
              hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal) == hipSuccess;
  fill<<<1, 64, 0, stream>>>(data, 7);
  made = made && hipStreamEndCapture(stream, &graph) == hipSuccess &&
         hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0) == hipSuccess;
  made = made && hipGraphLaunch(exec, stream) == hipSuccess && hipStreamSynchronize(stream) == hipSuccess;
  made = made && hipFree(data) == hipSuccess && hipGraphLaunch(exec, stream) == hipSuccess;
  std::printf("%s\n", made ? "so far so good" : "could not even begin");
  std::fflush(stdout);
  std::printf("%s\n", hipGetErrorName(hipStreamSynchronize(stream)));
  return 0;
}
