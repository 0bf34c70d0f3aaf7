// Checks, on each release of AMD's runtime, who owns the memory that hipGraphKernelNodeGetParams points at for captured
// kernels: the launch's arguments, arrays included, lie in memory that is given back to the operating system before the
// getter is called. hip/differential_capture.cpp relies on the result when it reads the arguments from the getter.
//
//   kernel_params_owned CODE_OBJECT
// Ends with 0 if the getter returns every argument from memory of the runtime's own; else prints the check that failed.
#include <hip/hip_runtime_api.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include "fat_binary.h"
#include "program_checks.h"

// Functions that compilers call to register a program's kernels.
extern "C" void** __hipRegisterFatBinary(const void* wrapper);
extern "C" void __hipRegisterFunction(void** modules, const void* host_function, char* device_function,
                                      const char* device_name, unsigned threads, void*, void*, void*, void*, int*);

namespace {

// axpy_u64 of hip/kernels/kernels.inc.
struct Arguments {
  std::uint64_t out = 0x1000, in = 0x2000;  // nothing is launched
  std::uint32_t n = 3;
  std::uint64_t a = 0x1122334455667788;
};
constexpr std::size_t kArguments = 4;
constexpr std::size_t kOffsets[kArguments] = {offsetof(Arguments, out), offsetof(Arguments, in), offsetof(Arguments, n),
                                              offsetof(Arguments, a)};
constexpr std::size_t kSizes[kArguments] = {8, 8, 4, 8};

// All that a launch points at, on a page that goes.
class Handed {
 public:
  struct Page {
    Arguments block;
    std::size_t bytes = sizeof block;
    void* params[kArguments] = {};
    void* extra[5] = {};
  };

  Handed() {
    void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    page = new (memory) Page;
    for (std::size_t i = 0; i < kArguments; ++i) page->params[i] = reinterpret_cast<char*>(&page->block) + kOffsets[i];
    void* const list[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &page->block, HIP_LAUNCH_PARAM_BUFFER_SIZE, &page->bytes,
                          HIP_LAUNCH_PARAM_END};
    std::memcpy(page->extra, list, sizeof list);
  }
  void give_back() const { REQUIRE(munmap(page, kBytes) == 0); }
  bool holds(const void* pointer) const {
    const char* begin = reinterpret_cast<const char*>(page);
    return pointer >= begin && pointer < begin + kBytes;
  }

  Page* page = nullptr;

 private:
  static constexpr std::size_t kBytes = 4096;
};

// Captures a launch, gives back all that it pointed at, and checks the parameters of its node.
template <class Launch, class Check>
void captured(hipStream_t stream, Launch launch, Check check) {
  Handed handed;
  hipGraph_t graph = nullptr;
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  HIP(launch(*handed.page));
  HIP(hipStreamEndCapture(stream, &graph));
  handed.give_back();
  hipGraphNode_t node = nullptr;
  std::size_t count = 1;
  HIP(hipGraphGetNodes(graph, &node, &count));
  REQUIRE(count == 1);
  hipKernelNodeParams params{};
  HIP(hipGraphKernelNodeGetParams(node, &params));
  check(params, handed);
  HIP(hipGraphDestroy(graph));
}

void require_arguments(const hipKernelNodeParams& params, const Handed& handed) {
  const Arguments expected;
  REQUIRE(params.kernelParams != nullptr && params.extra == nullptr && !handed.holds(params.kernelParams));
  for (std::size_t i = 0; i < kArguments; ++i) {
    const char* value = reinterpret_cast<const char*>(&expected) + kOffsets[i];
    REQUIRE(!handed.holds(params.kernelParams[i]) && std::memcmp(params.kernelParams[i], value, kSizes[i]) == 0);
  }
}

void require_block(const hipKernelNodeParams& params, const Handed& handed) {
  const Arguments expected;
  REQUIRE(params.kernelParams == nullptr && params.extra != nullptr && !handed.holds(params.extra));
  REQUIRE(params.extra[0] == HIP_LAUNCH_PARAM_BUFFER_POINTER && params.extra[2] == HIP_LAUNCH_PARAM_BUFFER_SIZE &&
          params.extra[4] == HIP_LAUNCH_PARAM_END);
  REQUIRE(!handed.holds(params.extra[1]) && !handed.holds(params.extra[3]));
  REQUIRE(*static_cast<const std::size_t*>(params.extra[3]) == sizeof expected);
  for (std::size_t i = 0; i < kArguments; ++i) {
    REQUIRE(std::memcmp(static_cast<const char*>(params.extra[1]) + kOffsets[i],
                        reinterpret_cast<const char*>(&expected) + kOffsets[i], kSizes[i]) == 0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  REQUIRE(argc == 2);
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> code{std::istreambuf_iterator<char>(file), {}};
  const FatBinary program(std::as_bytes(std::span(code)));
  static const char stub = 0;  // the host address that stands for the kernel in a program
  char name[] = "axpy_u64";
  __hipRegisterFunction(__hipRegisterFatBinary(program.wrapper()), &stub, name, name, ~0U, nullptr, nullptr, nullptr,
                        nullptr, nullptr);
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  hipStream_t stream = nullptr;
  HIP(hipModuleLoadData(&module, code.data()));
  HIP(hipModuleGetFunction(&function, module, name));
  HIP(hipStreamCreate(&stream));
  const auto launch = [&](void** params, void** extra) {
    return hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, params, extra);
  };
  captured(stream, [&](Handed::Page& page) { return launch(page.params, nullptr); }, require_arguments);
  captured(stream, [&](Handed::Page& page) { return launch(nullptr, page.extra); }, require_block);
  const auto launch_stub = [&](Handed::Page& page) {
    return hipLaunchKernel(&stub, dim3(1), dim3(64), page.params, 0, stream);
  };
  captured(stream, launch_stub, [&](const hipKernelNodeParams& params, const Handed& handed) {
    REQUIRE(params.func == &stub);
    require_arguments(params, handed);
  });
  std::printf("all right\n");
  std::fflush(stdout);
  std::_Exit(0);  // skips exit handlers: AMD's runtimes unload registered code in them
}
