// Kernels without host functions, run by the gfx942 interpreter in the model's memory.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "hip/kernels/device_kernels.h"
#include "model/abi_fixture.h"

namespace model::abi {
namespace {

std::vector<char> file_bytes(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct InterpretedTest : AbiTest {
  InterpretedTest() : image(file_bytes(HGCHECK_DEVICE_CODE)) {
    instance.reset(host_memory_options());
    EXPECT_HIP(api.hipModuleLoadData(&loaded, image.data()));
  }
  hipFunction_t function(const char* name) {
    hipFunction_t found = nullptr;
    EXPECT_HIP(api.hipModuleGetFunction(&found, loaded, name));
    return found;
  }
  void launch(const char* name, void** arguments, unsigned blocks, unsigned threads, hipStream_t stream = nullptr) {
    EXPECT_HIP(api.hipModuleLaunchKernel(function(name), blocks, 1, 1, threads, 1, 1, 0, stream, arguments, nullptr));
  }
  [[nodiscard]] const std::string& fault_text() { return instance.runtime().fault()->text; }
  void expect_in_fault(const std::string& part) {
    EXPECT_NE(fault_text().find(part), std::string::npos) << part << "\n" << fault_text();
  }

  std::vector<char> image;
  hipModule_t loaded = nullptr;
};

std::string hexadecimal(const void* pointer) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", reinterpret_cast<unsigned long long>(pointer));
  return text;
}

// One launch of every kernel of the project that takes (out, in, n, ...) is another test's business (gfx942): here the
// way through the module API is compared, on the kernel with the plainest arguments.
TEST(Interpreted, TheProjectsKernelGivesTheBytesOfItsHostFunction) {
  constexpr std::uint32_t kCount = 200;
  std::vector<std::uint64_t> results[2];
  for (const bool interpreted : {false, true}) {
    InProcessOptions options = host_memory_options();
    if (!interpreted) options.kernels = hg::host_kernels();
    InProcess instance(options);
    const Activate guard(instance);
    const hip::Api& api = InProcess::api();
    hipModule_t module = nullptr;
    hipFunction_t axpy = nullptr;
    EXPECT_HIP(api.hipModuleLoadData(&module, hg::device_code_object().data()));
    EXPECT_HIP(api.hipModuleGetFunction(&axpy, module, "axpy_u64"));
    void *out = nullptr, *in = nullptr;
    EXPECT_HIP(api.hipMalloc(&out, kCount * 8));
    EXPECT_HIP(api.hipMalloc(&in, kCount * 8));
    std::vector<std::uint64_t> values(kCount);
    for (std::uint32_t i = 0; i < kCount; ++i) values[i] = i * 0x123456789abcull;
    EXPECT_HIP(api.hipMemcpy(in, values.data(), kCount * 8, hipMemcpyHostToDevice));
    std::uint32_t n = kCount;
    std::uint64_t a = 77;
    void* arguments[] = {&out, &in, &n, &a};
    EXPECT_HIP(api.hipModuleLaunchKernel(axpy, 2, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
    EXPECT_HIP(api.hipMemcpy(values.data(), out, kCount * 8, hipMemcpyDeviceToHost));
    results[interpreted ? 1 : 0] = values;
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST_F(InterpretedTest, AModulesVariablesAreMemory) {
  hipDeviceptr_t counter = nullptr;
  std::size_t size = 0;
  EXPECT_HIP(api.hipModuleGetGlobal(&counter, &size, loaded, "counter"));
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(word(counter), 40u);
  void* out = allocate();
  void* arguments[] = {&out};
  launch("count", arguments, 1, 1);
  EXPECT_EQ(word(out), 42u);
  const std::uint32_t chosen = 100;
  EXPECT_HIP(api.hipMemcpy(counter, &chosen, 4, hipMemcpyHostToDevice));
  launch("count", arguments, 1, 1);
  EXPECT_EQ(word(out), 102u);
  EXPECT_EQ(api.hipModuleGetGlobal(&counter, &size, loaded, "no_such_variable"), hipErrorNotFound);
}

TEST_F(InterpretedTest, EveryLoadHasVariablesOfItsOwnAndGivesThemBack) {
  const LiveHandles before = instance.runtime().live_handles();
  hipModule_t second = nullptr;
  EXPECT_HIP(api.hipModuleLoadData(&second, image.data()));
  hipDeviceptr_t first_counter = nullptr, second_counter = nullptr;
  EXPECT_HIP(api.hipModuleGetGlobal(&first_counter, nullptr, loaded, "counter"));
  EXPECT_HIP(api.hipModuleGetGlobal(&second_counter, nullptr, second, "counter"));
  EXPECT_NE(first_counter, second_counter);
  EXPECT_GT(instance.runtime().live_handles().allocations, before.allocations);
  EXPECT_HIP(api.hipModuleUnload(second));
  EXPECT_EQ(instance.runtime().live_handles(), before);
}

TEST_F(InterpretedTest, ItsKernelsRunInGraphs) {
  void* out = allocate(64 * 4);
  std::uint32_t value = 9;
  void* arguments[] = {&out, &value};
  hipGraph_t graph = create_graph();
  hipKernelNodeParams params{};
  params.func = function("mark");
  params.gridDim = dim3(2, 1, 1);
  params.blockDim = dim3(32, 1, 1);
  params.kernelParams = arguments;
  hipGraphNode_t node = nullptr;
  EXPECT_HIP(api.hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  run(instantiate(graph));
  EXPECT_EQ(word(out), 9u);
  EXPECT_EQ(word(static_cast<char*>(out) + 63 * 4), 9u);
}

TEST_F(InterpretedTest, AStalePointerIsAFaultThatSaysEverything) {
  void* kept = allocate(4096);
  void* freed = allocate(64);
  const AllocationId owner = instance.runtime().memory().find(reinterpret_cast<Address>(freed))->id;
  EXPECT_HIP(api.hipFree(freed));
  std::uint32_t value = 1;
  void* arguments[] = {&freed, &value};
  launch("mark", arguments, 1, 4);
  EXPECT_EQ(api.hipDeviceSynchronize(), hipErrorIllegalAddress);
  expect_in_fault("kernel 'mark'");
  expect_in_fault("global_store_dword");
  expect_in_fault(hexadecimal(freed));
  expect_in_fault("allocation " + std::to_string(owner));
  expect_in_fault("freed");
  EXPECT_EQ(instance.runtime().fault()->access->allocation->id, owner);
  EXPECT_EQ(api.hipMemset(kept, 0, 4), hipErrorIllegalAddress);
}

TEST_F(InterpretedTest, WritingPastTheEndIsAFault) {
  void* out = allocate(64);
  std::uint32_t value = 1;
  void* arguments[] = {&out, &value};
  launch("mark", arguments, 1, 17);
  EXPECT_EQ(api.hipDeviceSynchronize(), hipErrorIllegalAddress);
  expect_in_fault("kernel 'mark'");
}

TEST_F(InterpretedTest, MemoryOfTheHostIsOutOfReach) {
  std::uint32_t on_the_stack[4] = {};
  void* out = on_the_stack;
  std::uint32_t value = 1;
  void* arguments[] = {&out, &value};
  launch("mark", arguments, 1, 1);
  EXPECT_EQ(api.hipDeviceSynchronize(), hipErrorIllegalAddress);
  EXPECT_EQ(on_the_stack[0], 0u);
}

TEST_F(InterpretedTest, RegisteredMemoryOfTheHostIsWithinReach) {
  alignas(256) static std::uint32_t words[4] = {};
  void* out = words;
  EXPECT_HIP(api.hipHostRegister(words, sizeof words, hipHostRegisterDefault));
  EXPECT_EQ(api.hipHostRegister(words, sizeof words, hipHostRegisterDefault), hipErrorHostMemoryAlreadyRegistered);
  std::uint32_t value = 21;
  void* arguments[] = {&out, &value};
  launch("mark", arguments, 1, 4);
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(words[3], 21u);
  EXPECT_HIP(api.hipHostUnregister(words));
  EXPECT_EQ(api.hipHostUnregister(words), hipErrorHostMemoryNotRegistered);
  launch("mark", arguments, 1, 4);
  EXPECT_EQ(api.hipDeviceSynchronize(), hipErrorIllegalAddress);
}

TEST_F(InterpretedTest, CodeCannotBeWritten) {
  std::uint32_t value = 1;
  void* arguments[] = {&value};
  launch("write_code", arguments, 1, 1);
  EXPECT_EQ(api.hipDeviceSynchronize(), hipErrorIllegalAddress);
  expect_in_fault("code or constants");
}

TEST_F(InterpretedTest, UnorderedKernelsThatShareBytesRaceAndOthersDoNot) {
  hipStream_t first = create_stream(hipStreamNonBlocking), second = create_stream(hipStreamNonBlocking);
  char* out = static_cast<char*>(allocate(64 * 4));
  EXPECT_HIP(api.hipDeviceSynchronize());
  void* even = out;
  void* odd = out + 4;
  std::uint32_t value = 1;
  void* even_arguments[] = {&even, &value};
  void* odd_arguments[] = {&odd, &value};
  launch("mark_even", even_arguments, 1, 31, first);
  launch("mark_even", odd_arguments, 1, 31, second);  // the words between them
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(instance.runtime().races_seen(), 0u);
  launch("mark_even", even_arguments, 1, 31, first);
  launch("mark_even", even_arguments, 1, 1, second);
  EXPECT_HIP(api.hipDeviceSynchronize());
  ASSERT_EQ(instance.runtime().races_seen(), 1u);
  const Interval bytes = instance.runtime().races()[0].bytes;
  EXPECT_EQ(bytes.begin, reinterpret_cast<Address>(out));
  EXPECT_EQ(bytes.end, bytes.begin + 4);
}

TEST_F(InterpretedTest, WhatAKernelTakesCanBeAskedFor) {
  hipFuncAttributes attributes{};
  EXPECT_HIP(api.hipFuncGetAttributes(&attributes, function("mark")));
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  EXPECT_GT(attributes.numRegs, 0);
  int registers = 0;
  EXPECT_HIP(api.hipFuncGetAttribute(&registers, HIP_FUNC_ATTRIBUTE_NUM_REGS, function("mark")));
  EXPECT_EQ(registers, attributes.numRegs);
  EXPECT_EQ(api.hipFuncGetAttributes(&attributes, &attributes), hipErrorInvalidDeviceFunction);
}

}  // namespace
}  // namespace model::abi
