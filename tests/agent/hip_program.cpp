// An ordinary HIP program without device code, for each release of AMD's runtime. Of the agent it knows only the
// functions of configure.h, which it looks up as any program can.
//
//   hip_program CODE_OBJECT plain|seed|quarantine|agents|fault|trap
// Ends with 0 when every status and every result of HIP is right; else prints the check that failed.
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "hip/agent/configure.h"
#include "program_checks.h"

namespace {

constexpr int kCount = 4096;

template <class T>
T agent_function(const char* name) {
  void* library = dlopen("libhsa-runtime64.so.1", RTLD_NOW | RTLD_NOLOAD);
  REQUIRE(library != nullptr);
  void* function = dlsym(library, name);
  REQUIRE(function != nullptr);
  return reinterpret_cast<T>(function);
}
uint64_t counter(hgagent_counter which) {
  return agent_function<uint64_t (*)(uint32_t)>("hgagent_counters")(which);
}

void configure(const std::string& mode) {
  hgagent_options options;
  agent_function<void (*)(hgagent_options*)>("hgagent_defaults")(&options);
  if (mode == "seed") {
    options.schedule_seed = 12345;
    options.max_delay_us = 100;
  }
  if (mode == "quarantine") options.quarantine = 1;
  if (mode == "agents") options.agents = 4;
  REQUIRE(agent_function<int (*)(const hgagent_options*)>("hgagent_configure")(&options) == 0);
}

std::vector<uint32_t> download(const uint32_t* from, std::size_t count) {
  std::vector<uint32_t> values(count);
  HIP(hipMemcpy(values.data(), from, count * sizeof(uint32_t), hipMemcpyDeviceToHost));
  return values;
}

void copies_and_fills(uint32_t* a, uint32_t* b) {
  std::vector<uint32_t> values(kCount);
  for (int i = 0; i < kCount; ++i) values[static_cast<std::size_t>(i)] = static_cast<uint32_t>(i * 3);
  HIP(hipMemcpy(a, values.data(), kCount * 4, hipMemcpyHostToDevice));
  HIP(hipMemcpy(b, a, kCount * 4, hipMemcpyDeviceToDevice));
  REQUIRE(download(b, kCount) == values);
  HIP(hipMemset(a, 0x11, kCount * 4));
  REQUIRE(download(a, kCount) == std::vector<uint32_t>(kCount, 0x11111111));
  HIP(hipMemcpy2D(a, 256, b, 128, 64, 10, hipMemcpyDeviceToDevice));
  REQUIRE(download(a, kCount)[64 * 3 + 5] == values[32 * 3 + 5]);
  std::vector<uint8_t> large(std::size_t{5} << 20, 9);
  void* device = nullptr;
  HIP(hipMalloc(&device, large.size()));
  HIP(hipMemcpy(device, large.data(), large.size(), hipMemcpyHostToDevice));
  std::fill(large.begin(), large.end(), uint8_t{0});
  HIP(hipMemcpy(large.data(), device, large.size(), hipMemcpyDeviceToHost));
  REQUIRE(std::count(large.begin(), large.end(), 9) == static_cast<std::ptrdiff_t>(large.size()));
  HIP(hipFree(device));
  void* pinned = nullptr;
  HIP(hipHostMalloc(&pinned, 4096, 0));
  HIP(hipMemcpy(pinned, b, 4096, hipMemcpyDefault));
  REQUIRE(std::memcmp(pinned, values.data(), 4096) == 0);
  HIP(hipHostFree(pinned));
}

hipGraphNode_t add_append(hipGraph_t graph, hipFunction_t append, uint32_t* list, uint32_t value,
                          const std::vector<hipGraphNode_t>& after) {
  void* arguments[] = {&list, &value};
  hipKernelNodeParams p{};
  p.func = reinterpret_cast<void*>(append);
  p.gridDim = dim3(1, 1, 1);
  p.blockDim = dim3(64, 1, 1);
  p.kernelParams = arguments;
  hipGraphNode_t node = nullptr;
  HIP(hipGraphAddKernelNode(&node, graph, after.data(), after.size(), &p));
  return node;
}

// A memset, a fan of kernels that is wide enough for several streams of the runtime, and a copy that waits for all.
void graphs(const Kernels& kernels, uint32_t* list, uint32_t* copy) {
  constexpr uint32_t kWide = 24;
  hipGraph_t graph = nullptr;
  HIP(hipGraphCreate(&graph, 0));
  hipMemsetParams fill{};
  fill.dst = list;
  fill.elementSize = 4;
  fill.width = kCount;
  fill.height = 1;
  hipGraphNode_t first = nullptr;
  HIP(hipGraphAddMemsetNode(&first, graph, nullptr, 0, &fill));
  std::vector<hipGraphNode_t> fan;
  for (uint32_t i = 0; i < kWide; ++i) fan.push_back(add_append(graph, kernels["append"], list, i, {first}));
  hipGraphNode_t last = nullptr;
  HIP(hipGraphAddMemcpyNode1D(&last, graph, fan.data(), fan.size(), copy, list, kCount * 4, hipMemcpyDeviceToDevice));
  hipGraphExec_t exec = nullptr;
  HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  hipStream_t stream = nullptr;
  HIP(hipStreamCreate(&stream));
  for (int round = 0; round < 20; ++round) {
    HIP(hipMemsetAsync(copy, 0xff, kCount * 4, stream));
    HIP(hipGraphLaunch(exec, stream));
    HIP(hipStreamSynchronize(stream));
    std::vector<uint32_t> values = download(copy, 1 + kWide);
    REQUIRE(values[0] == kWide);
    std::sort(values.begin() + 1, values.end());
    for (uint32_t i = 0; i < kWide; ++i) REQUIRE(values[1 + i] == i);
  }
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
  HIP(hipStreamDestroy(stream));
}

void capture(const Kernels& kernels, uint32_t* list) {
  hipStream_t stream = nullptr;
  HIP(hipStreamCreate(&stream));
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP(hipMemsetAsync(list, 0, 64, stream));
  uint32_t value = 77;
  void* arguments[] = {&list, &value};
  HIP(hipModuleLaunchKernel(kernels["append"], 1, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr));
  hipGraph_t graph = nullptr;
  HIP(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec = nullptr;
  HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  HIP(hipGraphLaunch(exec, stream));
  HIP(hipStreamSynchronize(stream));
  REQUIRE(download(list, 2) == (std::vector<uint32_t>{1, 77}));
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
  HIP(hipEventCreate(&start));
  HIP(hipEventCreate(&stop));
  HIP(hipEventRecord(start, stream));
  HIP(hipModuleLaunchKernel(kernels["append"], 1, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr));
  HIP(hipEventRecord(stop, stream));
  HIP(hipEventSynchronize(stop));
  float milliseconds = -1;
  HIP(hipEventElapsedTime(&milliseconds, start, stop));
  REQUIRE(milliseconds >= 0 && milliseconds < 10000);
  HIP(hipEventDestroy(start));
  HIP(hipEventDestroy(stop));
  HIP(hipStreamDestroy(stream));
}

void variables_and_pools(const Kernels& kernels, uint32_t* out) {
  hipDeviceptr_t address = nullptr;
  std::size_t bytes = 0;
  HIP(hipModuleGetGlobal(&address, &bytes, kernels.module, "table"));
  REQUIRE(bytes == 16);
  uint32_t values[4] = {1, 2, 3, 4};
  HIP(hipMemcpyHtoD(address, values, sizeof(values)));
  HIP(hipMemset(out, 0, 16));
  void* arguments[] = {&out};
  HIP(hipModuleLaunchKernel(kernels["add_table"], 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  REQUIRE(download(out, 4) == (std::vector<uint32_t>{3, 4, 5, 6}));
  hipStream_t stream = nullptr;
  HIP(hipStreamCreate(&stream));
  for (int i = 0; i < 10; ++i) {
    void* memory = nullptr;
    HIP(hipMallocAsync(&memory, 100000, stream));
    HIP(hipMemsetAsync(memory, i, 100000, stream));
    HIP(hipMemcpyAsync(out, memory, 16, hipMemcpyDeviceToDevice, stream));
    HIP(hipFreeAsync(memory, stream));
    HIP(hipStreamSynchronize(stream));
    REQUIRE(download(out, 1)[0] == static_cast<uint32_t>(i) * 0x01010101);
  }
  HIP(hipStreamDestroy(stream));
}

void several_devices(const char* code) {
  int count = 0;
  HIP(hipGetDeviceCount(&count));
  REQUIRE(count == 4);
  std::vector<uint32_t*> memory;
  for (int i = 0; i < count; ++i) {
    HIP(hipSetDevice(i));
    const Kernels kernels(code);
    uint32_t* p = nullptr;
    HIP(hipMalloc(reinterpret_cast<void**>(&p), 4096));
    uint32_t value = static_cast<uint32_t>(100 + i);
    void* arguments[] = {&p, &value};
    HIP(hipModuleLaunchKernel(kernels["store_value"], 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    HIP(hipDeviceSynchronize());
    memory.push_back(p);
  }
  for (int i = 1; i < count; ++i) {
    HIP(hipMemcpyPeer(memory[0], 0, memory[static_cast<std::size_t>(i)], i, 4));
    REQUIRE(download(memory[0], 1)[0] == static_cast<uint32_t>(100 + i));
  }
}

// On release 7.2 and later, every later call returns the fault. Earlier releases have no such state: only the agent
// knows of the fault, and nothing hangs.
void faulting_kernel(const Kernels& kernels, const char* name, int expected) {
  uint32_t* nowhere = nullptr;
  uint32_t value = 1;
  void* arguments[] = {&nowhere, &value};
  // The kernel may have ended before the launch returns.
  const hipError_t launched = hipModuleLaunchKernel(kernels[name], 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
  REQUIRE(launched == hipSuccess || static_cast<int>(launched) == expected);
  const hipError_t status = hipDeviceSynchronize();
  REQUIRE(counter(HGAGENT_FAULTS) == 1);
  char text[512] = {};
  agent_function<size_t (*)(char*, size_t)>("hgagent_last_fault")(text, sizeof(text));
  REQUIRE(std::strstr(text, name) != nullptr);
  if (HIP_VERSION_MAJOR < 7) return;
  REQUIRE(static_cast<int>(status) == expected);
  REQUIRE(static_cast<int>(hipDeviceSynchronize()) == expected);
  void* memory = nullptr;
  REQUIRE(static_cast<int>(hipMalloc(&memory, 64)) == expected);
}

}  // namespace

int main(int argc, char** argv) {
  REQUIRE(argc == 3);
  const std::string mode = argv[2];
  configure(mode);
  if (mode == "agents") {
    several_devices(argv[1]);
  } else if (mode == "fault" || mode == "trap") {
    const Kernels kernels(argv[1]);
    faulting_kernel(kernels, mode == "trap" ? "trap" : "store_value",
                    mode == "trap" ? hipErrorLaunchFailure : hipErrorIllegalAddress);
  } else {
    const Kernels kernels(argv[1]);
    uint32_t* a = nullptr;
    uint32_t* b = nullptr;
    HIP(hipMalloc(reinterpret_cast<void**>(&a), kCount * 4));
    HIP(hipMalloc(reinterpret_cast<void**>(&b), kCount * 4));
    copies_and_fills(a, b);
    graphs(kernels, a, b);
    capture(kernels, a);
    variables_and_pools(kernels, b);
    HIP(hipFree(a));
    HIP(hipFree(b));
    HIP(hipModuleUnload(kernels.module));
    REQUIRE(counter(HGAGENT_FAULTS) == 0);
    REQUIRE(counter(HGAGENT_DISPATCHES) > 500);
  }
  std::printf("ok\n");
  return 0;
}
