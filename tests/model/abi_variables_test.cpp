// Variables of device code through the C ABI of an instance to which the test adds them; dropin_test.cpp checks
// variables that a program registers.
#include <array>

#include "model/abi_fixture.h"

namespace model::abi {
namespace {

struct VariablesTest : AbiTest {
  static constexpr std::size_t kBytes = 64;
  VariablesTest() { instance.add_variable(&symbol, kBytes); }
  unsigned char at(std::size_t offset) {
    unsigned char byte = 0;
    EXPECT_HIP(api.hipMemcpyFromSymbol(&byte, &symbol, 1, offset, hipMemcpyDeviceToHost));
    return byte;
  }
  char symbol = 0;
};

TEST_F(VariablesTest, AVariableHasOneAddressAndItsSize) {
  void *first = nullptr, *second = nullptr;
  std::size_t size = 0;
  EXPECT_EQ(instance.variables_in_memory(), 0u);
  EXPECT_HIP(api.hipGetSymbolSize(&size, &symbol));
  EXPECT_EQ(size, kBytes);
  EXPECT_HIP(api.hipGetSymbolAddress(&first, &symbol));
  EXPECT_HIP(api.hipGetSymbolAddress(&second, &symbol));
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(first, second);
  EXPECT_EQ(instance.variables_in_memory(), 1u);
  const char stranger = 0;
  EXPECT_EQ(api.hipGetSymbolAddress(&first, &stranger), hipErrorInvalidSymbol);
  EXPECT_EQ(api.hipGetSymbolAddress(nullptr, &symbol), hipErrorInvalidValue);
}

TEST_F(VariablesTest, NodesCopyToAndFromAnOffsetOfIt) {
  std::array<unsigned char, 4> in{1, 2, 3, 4}, out{};
  void* memory = allocate();
  EXPECT_HIP(api.hipMemcpy(memory, in.data(), 4, hipMemcpyHostToDevice));
  hipGraph_t graph = create_graph();
  hipGraphNode_t to = nullptr, from = nullptr;
  EXPECT_HIP(api.hipGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, &symbol, memory, 4, 8, hipMemcpyDeviceToDevice));
  EXPECT_HIP(api.hipGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, static_cast<char*>(memory) + 32, &symbol, 2, 10,
                                                 hipMemcpyDeviceToDevice));
  hipGraphExec_t exec = instantiate(graph);
  EXPECT_HIP(api.hipGraphLaunch(exec, nullptr));
  EXPECT_EQ(at(8), 1);
  EXPECT_EQ(at(11), 4);
  EXPECT_HIP(api.hipMemcpy(out.data(), static_cast<char*>(memory) + 32, 4, hipMemcpyDeviceToHost));
  EXPECT_EQ(out, (std::array<unsigned char, 4>{3, 4, 0, 0}));
  // Set: the executable graph, then the graph's own node.
  EXPECT_HIP(api.hipGraphExecMemcpyNodeSetParamsToSymbol(exec, to, &symbol, memory, 1, 40, hipMemcpyDeviceToDevice));
  EXPECT_HIP(api.hipGraphLaunch(exec, nullptr));
  EXPECT_EQ(at(40), 1);
  EXPECT_EQ(at(41), 0);
  EXPECT_HIP(api.hipGraphMemcpyNodeSetParamsFromSymbol(from, memory, &symbol, 1, 63, hipMemcpyDeviceToDevice));
  hipMemcpy3DParms params{};
  EXPECT_HIP(api.hipGraphMemcpyNodeGetParams(from, &params));
  void* variable = nullptr;
  EXPECT_HIP(api.hipGetSymbolAddress(&variable, &symbol));
  EXPECT_EQ(params.srcPtr.ptr, static_cast<char*>(variable) + 63);
  EXPECT_HIP(api.hipGraphExecDestroy(exec));
  EXPECT_HIP(api.hipGraphDestroy(graph));
}

TEST_F(VariablesTest, WhatDoesNotFitIsRefused) {
  hipGraph_t graph = create_graph();
  hipGraphNode_t node = nullptr;
  void* memory = allocate(128);
  const auto add_copy = [&](const void* to, std::size_t bytes, std::size_t offset, hipMemcpyKind kind) {
    return api.hipGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, to, memory, bytes, offset, kind);
  };
  EXPECT_EQ(add_copy(&symbol, kBytes + 1, 0, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
  EXPECT_EQ(add_copy(&symbol, 8, kBytes - 7, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
  EXPECT_EQ(add_copy(&symbol, 8, ~std::size_t{0}, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
  EXPECT_EQ(add_copy(&symbol, 0, 0, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
  EXPECT_EQ(add_copy(&symbol, 8, 0, hipMemcpyDeviceToHost), hipErrorInvalidMemcpyDirection);
  EXPECT_EQ(add_copy(nullptr, 8, 0, hipMemcpyDeviceToDevice), hipErrorInvalidSymbol);
  EXPECT_HIP(add_copy(&symbol, kBytes, 0, hipMemcpyDeviceToDevice));
  EXPECT_HIP(api.hipGraphDestroy(graph));
}

TEST_F(VariablesTest, AStreamThatCapturesMakesANodeOfACopy) {
  hipStream_t stream = create_stream(hipStreamNonBlocking);
  void* memory = allocate();
  EXPECT_HIP(api.hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  EXPECT_HIP(api.hipMemcpyToSymbolAsync(&symbol, memory, 8, 0, hipMemcpyDeviceToDevice, stream));
  EXPECT_HIP(api.hipMemcpyFromSymbolAsync(memory, &symbol, 8, 8, hipMemcpyDeviceToDevice, stream));
  hipGraph_t graph = end_capture(stream);
  EXPECT_EQ(node_count(graph), 2u);
  EXPECT_HIP(api.hipGraphDestroy(graph));
  EXPECT_HIP(api.hipStreamDestroy(stream));
}

}  // namespace
}  // namespace model::abi
