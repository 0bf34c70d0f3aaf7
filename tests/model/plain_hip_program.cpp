// A HIP program that knows nothing of hgcheck: loads a code object, builds a graph, launches it, patches it, checks
// bytes.
//
// Usage: plain_hip_program <code object>. The checks are of inplace_u32 (data[i] = data[i] * 5 + k + i + f(n)): the
// differences between elements and between launches do not depend on f.
#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                               \
  do {                                                                                            \
    const hipError_t error = (call);                                                              \
    if (error != hipSuccess) {                                                                    \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorName(error)); \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (false)

namespace {

constexpr std::uint32_t kCount = 256;
constexpr std::size_t kBytes = kCount * sizeof(std::uint32_t);

struct Kernel {
  hipFunction_t function;
  std::uint32_t* data;
  std::uint32_t count = kCount;
  std::uint32_t k;
  void* arguments[3];
  hipKernelNodeParams params;

  Kernel(hipFunction_t f, std::uint32_t* d, std::uint32_t value)
      : function(f), data(d), k(value), arguments{&data, &count, &k}, params{} {
    params.func = function;
    params.gridDim = dim3(1, 1, 1);
    params.blockDim = dim3(64, 1, 1);
    params.kernelParams = arguments;
  }
};

bool expect(bool holds, const char* what) {
  if (!holds) std::fprintf(stderr, "wrong: %s\n", what);
  return holds;
}

// One launch over zeroes, copied back by the graph itself.
std::vector<std::uint32_t> launch(hipGraphExec_t exec, hipStream_t stream, const std::uint32_t* pinned) {
  CHECK(hipGraphLaunch(exec, stream));
  CHECK(hipStreamSynchronize(stream));
  return {pinned, pinned + kCount};
}

bool run(hipFunction_t function) {
  std::uint32_t *first = nullptr, *second = nullptr, *pinned = nullptr;
  CHECK(hipMalloc(reinterpret_cast<void**>(&first), kBytes));
  CHECK(hipMalloc(reinterpret_cast<void**>(&second), kBytes));
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&pinned), kBytes, 0));
  hipStream_t stream = nullptr;
  CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));

  hipGraph_t graph = nullptr;
  hipGraphNode_t zero = nullptr, work = nullptr, back = nullptr;
  CHECK(hipGraphCreate(&graph, 0));
  hipMemsetParams set{};
  set.dst = first;
  set.elementSize = 4;
  set.width = kCount;
  set.height = 1;
  CHECK(hipGraphAddMemsetNode(&zero, graph, nullptr, 0, &set));
  Kernel kernel(function, first, 7);
  CHECK(hipGraphAddKernelNode(&work, graph, &zero, 1, &kernel.params));
  CHECK(hipGraphAddMemcpyNode1D(&back, graph, &work, 1, pinned, first, kBytes, hipMemcpyDeviceToHost));
  hipGraphExec_t exec = nullptr;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));

  const std::vector<std::uint32_t> before = launch(exec, stream, pinned);
  bool good = true;
  for (std::uint32_t i = 0; i < kCount; ++i) good = good && before[i] == before[0] + i;
  good = expect(good, "elements differ by their index");

  // Everything moves to the second buffer, and the scalar changes.
  set.dst = second;
  CHECK(hipGraphExecMemsetNodeSetParams(exec, zero, &set));
  const Kernel patched(function, second, 1007);
  CHECK(hipGraphExecKernelNodeSetParams(exec, work, &patched.params));
  CHECK(hipGraphExecMemcpyNodeSetParams1D(exec, back, pinned, second, kBytes, hipMemcpyDeviceToHost));
  CHECK(hipMemset(first, 0xff, kBytes));
  const std::vector<std::uint32_t> after = launch(exec, stream, pinned);
  for (std::uint32_t i = 0; i < kCount; ++i) good = good && after[i] == before[i] + 1000;
  good = expect(good, "the patched launch used the new buffer and scalar") && good;
  std::uint32_t untouched = 0;
  CHECK(hipMemcpy(&untouched, first + 5, 4, hipMemcpyDeviceToHost));
  good = expect(untouched == 0xffffffffu, "the old buffer was left alone") && good;

  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipStreamDestroy(stream));
  CHECK(hipHostFree(pinned));
  CHECK(hipFree(first));
  CHECK(hipFree(second));
  return good;
}

// Names and texts last: they are compared after many others were asked for.
bool errors_have_names() {
  const char* name = hipGetErrorName(hipErrorStreamCaptureUnsupported);
  const char* text = hipGetErrorString(hipErrorStreamCaptureUnsupported);
  for (int i = 0; i < 1100; ++i) {
    const auto error = static_cast<hipError_t>(i);
    if (!expect(std::strncmp(hipGetErrorName(error), "hip", 3) == 0, "a name begins with hip")) return false;
    if (!expect(std::strncmp(hipGetErrorString(error), "hip", 3) != 0, "a text is no name")) return false;
  }
  bool good = expect(std::strcmp(name, "hipErrorStreamCaptureUnsupported") == 0, "the name of an error");
  good = expect(std::strcmp(text, "operation not permitted when stream is capturing") == 0, "its text") && good;
  good = expect(std::strcmp(hipGetErrorName(static_cast<hipError_t>(77)), "hipErrorUnknown") == 0, "no such error") &&
         good;
  return good;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s <code object>\n", arguments[0]);
    return 2;
  }
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  CHECK(hipModuleLoad(&module, arguments[1]));
  CHECK(hipModuleGetFunction(&function, module, "inplace_u32"));
  const bool good = run(function) && errors_have_names();
  CHECK(hipModuleUnload(module));
  return good ? 0 : 1;
}
