// Null, foreign, destroyed and made-up handles: the documented error, and nothing changes.
#include "model/abi_fixture.h"

namespace model::abi {
namespace {

struct HandleTest : AbiTest {
  // Null, small numbers, an address of the process, everything, and something that lived once.
  template <class Handle>
  std::vector<Handle> bad(Handle destroyed) {
    return {nullptr, bad_handle<Handle>(16), reinterpret_cast<Handle>(&something), bad_handle<Handle>(~0ull),
            destroyed};
  }
  int something = 0;
};

TEST_F(HandleTest, ABadGraphIsRefusedEverywhere) {
  hipGraph_t destroyed = create_graph(), good = create_graph();
  EXPECT_HIP(api.hipGraphDestroy(destroyed));
  for (hipGraph_t graph : bad(destroyed)) {
    hipGraphNode_t node = nullptr;
    hipGraphExec_t exec = nullptr;
    hipGraph_t clone = nullptr;
    std::size_t count = 3;
    const hipMemsetParams params = set(allocate(), 1);
    EXPECT_EQ(api.hipGraphAddEmptyNode(&node, graph, nullptr, 0), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphAddMemsetNode(&node, graph, nullptr, 0, &params), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphAddChildGraphNode(&node, graph, nullptr, 0, good), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphAddChildGraphNode(&node, good, nullptr, 0, graph), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphClone(&clone, graph), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphGetNodes(graph, nullptr, &count), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphGetEdges(graph, nullptr, nullptr, &count), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphDestroy(graph), hipErrorInvalidValue);
    EXPECT_EQ(node, nullptr);
    EXPECT_EQ(exec, nullptr);
    EXPECT_EQ(clone, nullptr);
    EXPECT_EQ(count, 3u);
  }
  EXPECT_EQ(instance.runtime().live_handles().nodes, 0u);
}

TEST_F(HandleTest, ABadNodeIsRefusedEverywhere) {
  hipGraph_t graph = create_graph();
  hipGraphNode_t destroyed = add_set(graph, allocate(), 1), good = add_set(graph, allocate(), 1);
  EXPECT_HIP(api.hipGraphDestroyNode(destroyed));
  hipGraphExec_t exec = instantiate(graph);
  std::vector<hipGraphNode_t> nodes = bad(destroyed);
  nodes.push_back(reinterpret_cast<hipGraphNode_t>(graph));  // a live handle of another kind
  for (hipGraphNode_t node : nodes) {
    hipGraphNodeType type = hipGraphNodeTypeCount;
    hipMemsetParams params = set(allocate(), 1);
    hipGraphNode_t out = nullptr;
    EXPECT_EQ(api.hipGraphNodeGetType(node, &type), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphMemsetNodeGetParams(node, &params), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphMemsetNodeSetParams(node, &params), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphExecMemsetNodeSetParams(exec, node, &params), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphAddEmptyNode(&out, graph, &node, 1), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphAddDependencies(graph, &node, &good, 1), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphAddDependencies(graph, &good, &node, 1), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphNodeSetEnabled(exec, node, 0), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphDestroyNode(node), hipErrorInvalidValue);
  }
  EXPECT_EQ(instance.graph(graph)->nodes().size(), 1u);
}

TEST_F(HandleTest, ABadExecutableGraphIsRefusedEverywhere) {
  hipGraph_t graph = create_graph();
  hipGraphNode_t node = add_set(graph, allocate(), 1);
  hipGraphExec_t destroyed = instantiate(graph);
  EXPECT_HIP(api.hipGraphExecDestroy(destroyed));
  for (hipGraphExec_t exec : bad(destroyed)) {
    hipGraphNode_t error_node = nullptr;
    hipGraphExecUpdateResult result = hipGraphExecUpdateError;
    const hipMemsetParams params = set(allocate(), 1);
    EXPECT_EQ(api.hipGraphLaunch(exec, nullptr), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphUpload(exec, nullptr), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphExecMemsetNodeSetParams(exec, node, &params), hipErrorInvalidValue);
    EXPECT_EQ(api.hipGraphExecUpdate(exec, graph, &error_node, &result), hipErrorInvalidValue);
    EXPECT_EQ(result, hipGraphExecUpdateError);
    EXPECT_EQ(api.hipGraphExecDestroy(exec), hipErrorInvalidValue);
  }
}

TEST_F(HandleTest, ADestroyedStreamIsRecognised) {
  hipStream_t stream = create_stream();
  EXPECT_HIP(api.hipStreamDestroy(stream));
  hipEvent_t event = create_event();
  hipGraphExec_t exec = instantiate(create_graph());
  EXPECT_EQ(api.hipStreamDestroy(stream), hipErrorContextIsDestroyed);
  EXPECT_EQ(api.hipStreamSynchronize(stream), hipErrorContextIsDestroyed);
  EXPECT_EQ(api.hipStreamQuery(stream), hipErrorContextIsDestroyed);
  EXPECT_EQ(api.hipGraphLaunch(exec, stream), hipErrorContextIsDestroyed);
  EXPECT_EQ(api.hipMemsetAsync(allocate(), 1, 1, stream), hipErrorContextIsDestroyed);
  EXPECT_EQ(api.hipEventRecord(event, stream), hipErrorContextIsDestroyed);
  EXPECT_EQ(api.hipStreamWaitEvent(stream, event, 0), hipErrorInvalidHandle);
  EXPECT_EQ(api.hipStreamDestroy(nullptr), hipErrorInvalidHandle);
}

TEST_F(HandleTest, ABadEventIsAnInvalidHandle) {
  hipEvent_t destroyed = create_event();
  EXPECT_HIP(api.hipEventDestroy(destroyed));
  for (hipEvent_t event : bad(destroyed)) {
    EXPECT_EQ(api.hipEventRecord(event, nullptr), hipErrorInvalidHandle);
    EXPECT_EQ(api.hipEventQuery(event), hipErrorInvalidHandle);
    EXPECT_EQ(api.hipEventSynchronize(event), hipErrorInvalidHandle);
    EXPECT_EQ(api.hipStreamWaitEvent(nullptr, event, 0), hipErrorInvalidHandle);
    EXPECT_NE(api.hipEventDestroy(event), hipSuccess);
  }
}

TEST_F(HandleTest, ABadFunctionIsAnInvalidDeviceFunction) {
  EXPECT_HIP(api.hipModuleUnload(module));
  hipGraph_t graph = create_graph();
  hipGraphNode_t node = nullptr;
  for (hipFunction_t function : bad(add)) {
    hipKernelNodeParams params = kernel(nullptr);
    params.func = function;
    EXPECT_EQ(api.hipGraphAddKernelNode(&node, graph, nullptr, 0, &params),
              function == nullptr ? hipErrorInvalidValue : hipErrorInvalidDeviceFunction);
    EXPECT_EQ(api.hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
              hipErrorInvalidHandle);
  }
  EXPECT_EQ(api.hipModuleUnload(module), hipErrorNotFound);
}

// Long lists of dependencies cannot be right, and are refused before they are read.
TEST_F(HandleTest, ADependencyListLongerThanTheGraphIsNotRead) {
  hipGraph_t graph = create_graph();
  hipGraphNode_t only = add_set(graph, allocate(), 1), out = nullptr;
  EXPECT_EQ(api.hipGraphAddEmptyNode(&out, graph, &only, 2), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphAddEmptyNode(&out, graph, &only, ~std::size_t{0}), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphAddEmptyNode(&out, graph, nullptr, 1), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphAddDependencies(graph, &only, &only, ~std::size_t{0}), hipErrorInvalidValue);
  EXPECT_EQ(instance.graph(graph)->nodes().size(), 1u);
}

}  // namespace
}  // namespace model::abi
