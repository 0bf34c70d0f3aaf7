// Nodes through the C ABI: arguments, ownership (P1) and getters.
#include <memory>
#include <tuple>

#include "model/abi_fixture.h"

namespace model::abi {
namespace {

using NodeTest = AbiGraphTest;

TEST_F(NodeTest, KernelParamsAndExtraGiveTheSameArguments) {
  void *out = allocate(), *in = allocate();
  PackedAdd packed{out, in, 7, 3};
  std::size_t size = sizeof packed;  // larger than the 21 bytes that the kernel has: cut
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  hipGraphNode_t a = nullptr, b = nullptr;
  const hipKernelNodeParams by_params = kernel(packed.pointers), by_extra = kernel(nullptr, extra);
  EXPECT_HIP(api.hipGraphAddKernelNode(&a, graph, nullptr, 0, &by_params));
  EXPECT_HIP(api.hipGraphAddKernelNode(&b, graph, &a, 1, &by_extra));
  EXPECT_EQ(instance.node(a)->params(), instance.node(b)->params());
  run(instantiate(graph));
  EXPECT_EQ(word(out), 10u);
}

TEST_F(NodeTest, ArgumentsComeInExactlyOneWay) {
  void *out = allocate(), *in = allocate();
  PackedAdd packed{out, in, 7, 3};
  std::size_t size = 21;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  void* no_pointer[] = {HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  void* no_size[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_END};
  void* nonsense[] = {&packed, &size, HIP_LAUNCH_PARAM_END};
  const auto status = [&](void** params, void** block) {
    const hipKernelNodeParams node_params = kernel(params, block);
    hipGraphNode_t node = nullptr;
    return api.hipGraphAddKernelNode(&node, graph, nullptr, 0, &node_params);
  };
  EXPECT_HIP(status(packed.pointers, nullptr));
  EXPECT_HIP(status(nullptr, extra));
  EXPECT_EQ(status(packed.pointers, extra), hipErrorInvalidValue);
  EXPECT_EQ(status(nullptr, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(status(nullptr, no_pointer), hipErrorInvalidValue);
  EXPECT_EQ(status(nullptr, no_size), hipErrorInvalidValue);
  EXPECT_EQ(status(nullptr, nonsense), hipErrorInvalidValue);
  size = 20;
  EXPECT_EQ(status(nullptr, extra), hipErrorInvalidValue);
  EXPECT_EQ(instance.graph(graph)->nodes().size(), 2u);
}

TEST_F(NodeTest, AKernelWithoutArgumentsNeedsNone) {
  hipFunction_t nothing = nullptr;
  EXPECT_HIP(api.hipModuleGetFunction(&nothing, module, "nothing"));
  hipKernelNodeParams params = kernel(nullptr);
  params.func = nothing;
  hipGraphNode_t node = nullptr;
  EXPECT_HIP(api.hipGraphAddKernelNode(&node, create_graph(), nullptr, 0, &params));
  EXPECT_HIP(api.hipModuleLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  void* both[] = {nullptr};
  void* extra[] = {HIP_LAUNCH_PARAM_END};
  EXPECT_EQ(api.hipModuleLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, nullptr, both, extra), hipErrorInvalidValue);
}

// P1: everything that was passed is overwritten and freed before the graph runs.
TEST_F(NodeTest, WhatTheCallerPassedIsCopiedBeforeTheCallReturns) {
  void *out = allocate(), *in = allocate();
  hipGraphNode_t set_node = add_set(graph, in, 30), node = nullptr;
  {
    struct Passed {
      PackedAdd arguments;
      hipKernelNodeParams params;
      hipGraphNode_t dependencies[1];
    };
    const std::unique_ptr<Passed> passed(new Passed{{out, in, 5, 1}, {}, {set_node}});
    passed->params = kernel(passed->arguments.pointers);
    EXPECT_HIP(api.hipGraphAddKernelNode(&node, graph, passed->dependencies, 1, &passed->params));
    std::memset(static_cast<void*>(passed.get()), 0xff, sizeof(Passed));
  }
  run(instantiate(graph));
  EXPECT_EQ(word(out), 36u);
}

TEST_F(NodeTest, WhatAGetterReturnsIsTheRuntimesOwn) {
  void *out = allocate(), *in = allocate();
  hipGraphNode_t node = add_kernel(graph, out, in, 5, 2);
  hipKernelNodeParams got{};
  EXPECT_HIP(api.hipGraphKernelNodeGetParams(node, &got));
  EXPECT_EQ(got.func, add);
  EXPECT_EQ(got.extra, nullptr);
  void* argument = nullptr;
  std::memcpy(&argument, got.kernelParams[0], 8);
  EXPECT_EQ(argument, out);
  // Writing to it changes nothing, and it can be handed back as it is.
  const std::uint32_t poison = 99;
  std::memcpy(got.kernelParams[2], &poison, 4);
  run(instantiate(graph));
  EXPECT_EQ(word(out), 7u);
  hipKernelNodeParams again{};
  EXPECT_HIP(api.hipGraphKernelNodeGetParams(node, &again));
  EXPECT_EQ(again.kernelParams, got.kernelParams);
  EXPECT_HIP(api.hipGraphKernelNodeSetParams(node, &got));
  EXPECT_HIP(api.hipGraphKernelNodeGetParams(node, &again));
  std::uint32_t amount = 0;
  std::memcpy(&amount, again.kernelParams[2], 4);
  EXPECT_EQ(amount, poison);
  run(instantiate(graph));
  EXPECT_EQ(word(out), 101u);
}

TEST_F(NodeTest, GettersGiveBackWhatWasSet) {
  void *dst = allocate(1024), *src = allocate(1024);
  hipMemcpy3DParms copy{};
  copy.dstPtr = {dst, 64, 60, 4};
  copy.srcPtr = {src, 32, 31, 5};
  copy.dstPos = {1, 2, 0};
  copy.srcPos = {3, 1, 2};
  copy.extent = {9, 2, 1};
  copy.kind = hipMemcpyDeviceToDevice;
  hipGraphNode_t node = nullptr, line = nullptr, host = nullptr;
  EXPECT_HIP(api.hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy));
  hipMemcpy3DParms got{};
  EXPECT_HIP(api.hipGraphMemcpyNodeGetParams(node, &got));
  EXPECT_EQ(std::memcmp(&got, &copy, sizeof copy), 0);
  EXPECT_HIP(api.hipGraphAddMemcpyNode1D(&line, graph, nullptr, 0, dst, src, 48, hipMemcpyDefault));
  EXPECT_HIP(api.hipGraphMemcpyNodeGetParams(line, &got));
  EXPECT_EQ(got.dstPtr.ptr, dst);
  EXPECT_EQ(got.extent.width, 48u);
  EXPECT_EQ(got.extent.height, 1u);
  hipMemsetParams params = set(dst, 77, 3), got_set{};
  hipGraphNode_t set_node = add_set(graph, src, 1);
  EXPECT_HIP(api.hipGraphMemsetNodeSetParams(set_node, &params));
  EXPECT_HIP(api.hipGraphMemsetNodeGetParams(set_node, &got_set));
  EXPECT_EQ(std::tuple(got_set.dst, got_set.value, got_set.width), std::tuple(dst, 77u, 3u));
  const hipHostNodeParams host_params{[](void*) {}, &params};
  hipHostNodeParams got_host{};
  EXPECT_HIP(api.hipGraphAddHostNode(&host, graph, nullptr, 0, &host_params));
  EXPECT_HIP(api.hipGraphHostNodeGetParams(host, &got_host));
  EXPECT_EQ(got_host.fn, host_params.fn);
  EXPECT_EQ(got_host.userData, &params);
  EXPECT_EQ(api.hipGraphMemsetNodeGetParams(host, &got_set), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphKernelNodeGetParams(host, nullptr), hipErrorInvalidValue);
}

TEST_F(NodeTest, TypesAreHips) {
  const hipHostNodeParams host_params{[](void*) {}, nullptr};
  hipGraphNode_t nodes[6] = {};
  nodes[0] = add_kernel(graph, allocate(), allocate(), 1);
  EXPECT_HIP(api.hipGraphAddMemcpyNode1D(&nodes[1], graph, nullptr, 0, allocate(), allocate(), 4, hipMemcpyDefault));
  nodes[2] = add_set(graph, allocate(), 1);
  EXPECT_HIP(api.hipGraphAddHostNode(&nodes[3], graph, nullptr, 0, &host_params));
  EXPECT_HIP(api.hipGraphAddChildGraphNode(&nodes[4], graph, nullptr, 0, create_graph()));
  EXPECT_HIP(api.hipGraphAddEmptyNode(&nodes[5], graph, nullptr, 0));
  for (int type = hipGraphNodeTypeKernel; type <= hipGraphNodeTypeEmpty; ++type) {
    EXPECT_EQ(type_of(nodes[type]), type);
  }
}

TEST_F(NodeTest, ListsAreCutOrFilledUp) {
  hipGraphNode_t a = add_set(graph, allocate(), 1), b = nullptr;
  EXPECT_HIP(api.hipGraphAddEmptyNode(&b, graph, &a, 1));
  EXPECT_EQ(node_count(graph), 2u);
  hipGraphNode_t list[3] = {a, a, a};
  std::size_t count = 1;
  EXPECT_HIP(api.hipGraphGetNodes(graph, list, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(list[0], a);
  EXPECT_EQ(list[1], a);  // untouched
  count = 3;
  EXPECT_HIP(api.hipGraphGetNodes(graph, list, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(list[1], b);
  EXPECT_EQ(list[2], nullptr);
  hipGraphNode_t from[2] = {}, to[2] = {};
  count = 2;
  EXPECT_HIP(api.hipGraphGetEdges(graph, from, to, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(from[0], a);
  EXPECT_EQ(to[0], b);
  EXPECT_EQ(api.hipGraphGetEdges(graph, from, nullptr, &count), hipErrorInvalidValue);
  count = 2;
  EXPECT_HIP(api.hipGraphNodeGetDependencies(b, list, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(list[0], a);
  count = 2;
  EXPECT_HIP(api.hipGraphNodeGetDependentNodes(a, list, &count));
  EXPECT_EQ(list[0], b);
  count = 2;
  EXPECT_HIP(api.hipGraphGetRootNodes(graph, list, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(list[0], a);
}

TEST_F(NodeTest, ANodeIsFoundInAClone) {
  hipGraph_t clone = nullptr;
  hipGraphNode_t node = add_set(graph, allocate(), 1), found = nullptr;
  EXPECT_HIP(api.hipGraphClone(&clone, graph));
  EXPECT_HIP(api.hipGraphNodeFindInClone(&found, node, clone));
  EXPECT_NE(found, node);
  EXPECT_EQ(instance.node(found)->params(), instance.node(node)->params());
  hipGraphNode_t late = add_set(graph, allocate(), 1);
  EXPECT_EQ(api.hipGraphNodeFindInClone(&found, late, clone), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphNodeFindInClone(&found, node, graph), hipErrorInvalidValue);
  EXPECT_HIP(api.hipGraphDestroyNode(node));
  EXPECT_EQ(api.hipGraphNodeFindInClone(&found, node, clone), hipErrorInvalidValue);
}

TEST_F(NodeTest, AChildsGraphCanBeChangedInPlace) {
  void* at = allocate();
  hipGraph_t inner = create_graph(), outer = create_graph(), child = nullptr;
  hipGraphNode_t original = add_set(inner, at, 1), child_node = nullptr, nested = nullptr;
  EXPECT_HIP(api.hipGraphAddChildGraphNode(&child_node, outer, nullptr, 0, inner));
  EXPECT_HIP(api.hipGraphChildGraphNodeGetGraph(child_node, &child));
  EXPECT_NE(child, inner);
  EXPECT_HIP(api.hipGraphNodeFindInClone(&nested, original, child));
  const hipMemsetParams params = set(at, 5);
  EXPECT_HIP(api.hipGraphMemsetNodeSetParams(nested, &params));
  run(instantiate(outer));
  EXPECT_EQ(word(at), 5u);
  EXPECT_EQ(api.hipGraphDestroy(child), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphChildGraphNodeGetGraph(original, &child), hipErrorInvalidValue);
}

TEST_F(NodeTest, ACopyOfArraysIsNotSupportedAndOfBothIsInvalid) {
  void* device = allocate();
  hipMemcpy3DParms copy{};
  copy.dstPtr = copy.srcPtr = {device, 16, 16, 1};
  copy.extent = {4, 1, 1};
  copy.kind = hipMemcpyDefault;
  hipGraphNode_t node = nullptr;
  copy.srcArray = bad_handle<hipArray_t>(64);
  EXPECT_EQ(api.hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy), hipErrorInvalidValue);
  copy.srcPtr.ptr = nullptr;
  EXPECT_EQ(api.hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy), hipErrorNotSupported);
}

}  // namespace
}  // namespace model::abi
