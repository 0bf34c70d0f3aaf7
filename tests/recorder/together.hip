// An ordinary HIP program whose kernels are launched cooperatively, or whose threads share a variable of a module.
//
//   together CODE_OBJECT cooperative|variables
// CODE_OBJECT has the kernel inplace_u32(data, n, k) and the variable hg_symbol1. Prints a sum of what it read back.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#define HIP(call)                                                                \
  do {                                                                           \
    if (const hipError_t code = (call); code != hipSuccess) {                    \
      std::printf("line %d: %s: %d\n", __LINE__, #call, static_cast<int>(code)); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (false)

constexpr unsigned kCells = 32;
constexpr size_t kBytes = kCells * sizeof(unsigned);

__global__ void add(unsigned* cells, const unsigned* more) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  cells[i] += more[i];
}

unsigned sum = 0;

void read_back(const void* cells) {
  unsigned out[kCells];
  HIP(hipMemcpy(out, cells, kBytes, hipMemcpyDeviceToHost));
  for (const unsigned cell : out) sum = sum * 31 + cell;
}

unsigned* cells_of(int value) {
  unsigned* cells = nullptr;
  HIP(hipMalloc(&cells, kBytes));
  HIP(hipMemsetD32(cells, value, kCells));
  HIP(hipDeviceSynchronize());
  return cells;
}

void launch(hipGraph_t graph, hipStream_t stream) {
  hipGraphExec_t exec = nullptr;
  HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  HIP(hipGraphLaunch(exec, stream));
  HIP(hipStreamSynchronize(stream));
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
}

// A module's kernel and one that the program names by its symbol; the latter is captured, too.
void cooperative(hipStream_t stream, hipModule_t module) {
  unsigned *cells = cells_of(3), *others = cells_of(5), n = kCells, k = 7;
  hipFunction_t function = nullptr;
  HIP(hipModuleGetFunction(&function, module, "inplace_u32"));
  void* values[] = {&cells, &n, &k};
  void* two[] = {&cells, &others};
  const auto* symbol = reinterpret_cast<const void*>(add);
  HIP(hipModuleLaunchCooperativeKernel(function, 1, 1, 1, kCells, 1, 1, 0, stream, values));
  HIP(hipLaunchCooperativeKernel(symbol, dim3(2), dim3(kCells / 2), two, 0, stream));
  HIP(hipStreamSynchronize(stream));
  read_back(cells);
  hipGraph_t graph = nullptr;
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  HIP(hipLaunchCooperativeKernel(symbol, dim3(2), dim3(kCells / 2), two, 0, stream));
  HIP(hipStreamEndCapture(stream, &graph));
  launch(graph, stream);
  read_back(cells);
  HIP(hipFree(cells));
  HIP(hipFree(others));
}

// While this thread captures, another names the variable and copies to it, and this one names it again.
void variables(hipStream_t stream, hipModule_t module) {
  unsigned *cells = cells_of(3), *variable = nullptr;
  const auto find = [&] {
    void* address = nullptr;
    size_t bytes = 0;
    HIP(hipModuleGetGlobal(&address, &bytes, module, "hg_symbol1"));
    return static_cast<unsigned*>(address);
  };
  variable = find();
  hipGraph_t graph = nullptr;
  hipStream_t other = nullptr;
  HIP(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  HIP(hipMemsetAsync(cells, 1, kBytes, stream));
  std::thread([&] {
    const unsigned values[] = {2, 7, 1, 8};
    HIP(hipMemcpyWithStream(find(), values, sizeof values, hipMemcpyHostToDevice, other));
  }).join();
  variable = find();
  add<<<1, kCells, 0, stream>>>(cells, variable);
  HIP(hipStreamEndCapture(stream, &graph));
  launch(graph, stream);
  read_back(cells);
  read_back(variable);
  HIP(hipStreamDestroy(other));
  HIP(hipFree(cells));
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string mode = argv[2];
  hipStream_t stream = nullptr;
  hipModule_t module = nullptr;
  HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  HIP(hipModuleLoad(&module, argv[1]));
  if (mode == "cooperative") cooperative(stream, module);
  if (mode == "variables") variables(stream, module);
  HIP(hipModuleUnload(module));
  HIP(hipStreamDestroy(stream));
  std::printf("%s %u\n", mode.c_str(), sum);
}
