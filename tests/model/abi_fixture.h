// A HIP program's view of the model: an active instance, its table, and shorthands that expect success.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "model/abi/in_process.h"

namespace model::abi {

#define EXPECT_HIP(call) EXPECT_EQ((call), hipSuccess)

// The arguments of the kernel `add`, packed, and the pointers to each for launches and nodes. Not to be copied.
struct PackedAdd {
  void* out;
  const void* in;
  std::uint32_t amount;
  std::uint8_t tag;
  void* pointers[4] = {&out, &in, &amount, &tag};
};

// out[0] = in[0] + amount + tag, from arguments (out, in, amount, tag) of 21 bytes.
inline Kernel add_with_tag() {
  Kernel kernel;
  kernel.name = "add";
  kernel.signature = {21,
                      {{0, 8, ArgumentKind::kPointer},
                       {8, 8, ArgumentKind::kPointer},
                       {16, 4, ArgumentKind::kValue},
                       {20, 1, ArgumentKind::kValue}}};
  kernel.semantics = [](std::span<const std::byte> arguments, const LaunchShape&, MemoryAccess& memory) {
    PackedAdd a{};
    std::memcpy(&a, arguments.data(), 21);
    memory.store(reinterpret_cast<Address>(a.out),
                 memory.load<std::uint32_t>(reinterpret_cast<Address>(a.in)) + a.amount + a.tag);
  };
  return kernel;
}

inline InProcessOptions host_memory_options() {
  InProcessOptions options;
  options.model.memory.unknown_is_host = true;
  return options;
}

struct AbiTest : testing::Test {
  AbiTest() : instance(host_memory_options()), guard(instance) {
    Kernel nothing;
    nothing.name = "nothing";
    nothing.semantics = [](std::span<const std::byte>, const LaunchShape&, MemoryAccess&) {};
    module = instance.add_module({add_with_tag(), nothing});
    EXPECT_HIP(api.hipModuleGetFunction(&add, module, "add"));
  }

  void* allocate(std::size_t size = 64) {
    void* pointer = nullptr;
    EXPECT_HIP(api.hipMalloc(&pointer, size));
    EXPECT_HIP(api.hipMemset(pointer, 0, size));
    return pointer;
  }
  std::uint32_t word(const void* device) {
    std::uint32_t value = 0;
    EXPECT_HIP(api.hipMemcpy(&value, device, 4, hipMemcpyDeviceToHost));
    return value;
  }
  hipGraph_t create_graph() {
    hipGraph_t graph = nullptr;
    EXPECT_HIP(api.hipGraphCreate(&graph, 0));
    return graph;
  }
  std::size_t node_count(hipGraph_t graph) {
    std::size_t count = 0;
    EXPECT_HIP(api.hipGraphGetNodes(graph, nullptr, &count));
    return count;
  }
  hipGraphNodeType type_of(hipGraphNode_t node) {
    hipGraphNodeType type = hipGraphNodeTypeCount;
    EXPECT_HIP(api.hipGraphNodeGetType(node, &type));
    return type;
  }
  hipGraph_t end_capture(hipStream_t stream) {
    hipGraph_t graph = nullptr;
    EXPECT_HIP(api.hipStreamEndCapture(stream, &graph));
    return graph;
  }
  hipStream_t create_stream(unsigned flags = hipStreamDefault) {
    hipStream_t stream = nullptr;
    EXPECT_HIP(api.hipStreamCreateWithFlags(&stream, flags));
    return stream;
  }
  hipEvent_t create_event() {
    hipEvent_t event = nullptr;
    EXPECT_HIP(api.hipEventCreate(&event));
    return event;
  }
  hipKernelNodeParams kernel(void** kernel_params, void** extra = nullptr) const {
    hipKernelNodeParams params{};
    params.func = add;
    params.gridDim = params.blockDim = dim3(1, 1, 1);
    params.kernelParams = kernel_params;
    params.extra = extra;
    return params;
  }
  hipGraphNode_t add_kernel(hipGraph_t graph, void* out, const void* in, std::uint32_t amount, std::uint8_t tag = 0) {
    PackedAdd arguments{out, in, amount, tag};
    const hipKernelNodeParams params = kernel(arguments.pointers);
    hipGraphNode_t node = nullptr;
    EXPECT_HIP(api.hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    return node;
  }
  static hipMemsetParams set(void* dst, unsigned value, std::size_t words = 1) {
    hipMemsetParams params{};
    params.dst = dst;
    params.elementSize = 4;
    params.width = words;
    params.height = 1;
    params.value = value;
    return params;
  }
  hipGraphNode_t add_set(hipGraph_t graph, void* dst, unsigned value) {
    const hipMemsetParams params = set(dst, value);
    hipGraphNode_t node = nullptr;
    EXPECT_HIP(api.hipGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
    return node;
  }
  hipGraphExec_t instantiate(hipGraph_t graph) {
    hipGraphExec_t exec = nullptr;
    EXPECT_HIP(api.hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    return exec;
  }
  void run(hipGraphExec_t exec) {
    EXPECT_HIP(api.hipGraphLaunch(exec, nullptr));
    EXPECT_HIP(api.hipDeviceSynchronize());
  }
  template <class Handle>
  static Handle bad_handle(std::uint64_t value) {
    return reinterpret_cast<Handle>(value);
  }

  const hip::Api& api = InProcess::api();
  InProcess instance;
  Activate guard;
  hipModule_t module = nullptr;
  hipFunction_t add = nullptr;
};

// With a graph to begin with.
struct AbiGraphTest : AbiTest {
  hipGraph_t graph = create_graph();
};

}  // namespace model::abi
