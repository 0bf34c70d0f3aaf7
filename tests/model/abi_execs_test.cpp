// Executable graphs through the C ABI: setters, updates, ownership.
#include "model/abi_fixture.h"

namespace model::abi {
namespace {

using ExecTest = AbiGraphTest;

TEST_F(ExecTest, PatchingThenLaunchingEqualsRecordingAgainThenLaunching) {
  void *a = allocate(), *b = allocate(), *out = allocate();
  EXPECT_HIP(api.hipMemset(b, 1, 4));
  hipGraphNode_t node = add_kernel(graph, out, a, 5);
  hipGraphExec_t exec = instantiate(graph);
  PackedAdd arguments{out, b, 6, 0};
  const hipKernelNodeParams params = kernel(arguments.pointers);
  EXPECT_HIP(api.hipGraphExecKernelNodeSetParams(exec, node, &params));
  run(exec);
  EXPECT_EQ(word(out), 0x01010107u);
  hipGraph_t again = create_graph();
  add_kernel(again, out, b, 6);
  run(instantiate(again));
  EXPECT_EQ(word(out), 0x01010107u);
}

TEST_F(ExecTest, SettersRefuseNodesOfAnotherTypeOrGraph) {
  void *at = allocate(), *other = allocate();
  hipGraph_t foreign = create_graph();
  hipGraphNode_t set_node = add_set(graph, at, 1), copy_node = nullptr, stranger = add_set(foreign, at, 1);
  EXPECT_HIP(api.hipGraphAddMemcpyNode1D(&copy_node, graph, nullptr, 0, at, other, 8, hipMemcpyDeviceToDevice));
  hipGraphExec_t exec = instantiate(graph);
  const hipMemsetParams params = set(other, 2);
  EXPECT_EQ(api.hipGraphExecMemsetNodeSetParams(exec, copy_node, &params), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphExecMemsetNodeSetParams(exec, stranger, &params), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphExecMemsetNodeSetParams(exec, set_node, nullptr), hipErrorInvalidValue);
  EXPECT_HIP(api.hipGraphExecMemsetNodeSetParams(exec, set_node, &params));
  const auto copy = [&](void* dst, void* src, std::size_t bytes, hipMemcpyKind kind) {
    return api.hipGraphExecMemcpyNodeSetParams1D(exec, copy_node, dst, src, bytes, kind);
  };
  EXPECT_HIP(copy(other, at, 8, hipMemcpyDeviceToDevice));
  EXPECT_EQ(copy(other, at, 0, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
  EXPECT_EQ(copy(at, at, 8, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
  EXPECT_EQ(copy(nullptr, at, 8, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
  EXPECT_EQ(copy(other, at, 65, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
  EXPECT_EQ(copy(other, at, 8, hipMemcpyDefault), hipErrorInvalidValue);
}

TEST_F(ExecTest, AnUpdateSaysWhatItCouldNotDo) {
  void* at = allocate();
  hipGraph_t larger = create_graph();
  hipGraphNode_t node = add_set(graph, at, 1);
  add_set(larger, at, 2);
  add_set(larger, at, 3);
  hipGraphExec_t exec = instantiate(graph);
  hipGraphNode_t error_node = node;
  hipGraphExecUpdateResult result = hipGraphExecUpdateError;
  EXPECT_EQ(api.hipGraphExecUpdate(exec, larger, &error_node, &result), hipErrorGraphExecUpdateFailure);
  EXPECT_EQ(result, hipGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(error_node, nullptr);
  hipGraph_t other = create_graph();
  hipGraphNode_t kernel_node = add_kernel(other, at, at, 1);
  EXPECT_EQ(api.hipGraphExecUpdate(exec, other, &error_node, &result), hipErrorGraphExecUpdateFailure);
  EXPECT_EQ(result, hipGraphExecUpdateErrorNodeTypeChanged);
  EXPECT_EQ(error_node, kernel_node);
  const hipMemsetParams params = set(at, 9);
  EXPECT_HIP(api.hipGraphMemsetNodeSetParams(node, &params));
  EXPECT_HIP(api.hipGraphExecUpdate(exec, graph, &error_node, &result));
  EXPECT_EQ(result, hipGraphExecUpdateSuccess);
  run(exec);
  EXPECT_EQ(word(at), 9u);
  EXPECT_EQ(api.hipGraphExecUpdate(exec, graph, nullptr, &result), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphExecUpdate(exec, graph, &error_node, nullptr), hipErrorInvalidValue);
}

TEST_F(ExecTest, AChildIsSetAsAWhole) {
  void* at = allocate();
  hipGraph_t inner = create_graph(), outer = create_graph();
  hipGraphNode_t node = add_set(inner, at, 1), child = nullptr;
  EXPECT_HIP(api.hipGraphAddChildGraphNode(&child, outer, nullptr, 0, inner));
  hipGraphExec_t exec = instantiate(outer);
  const hipMemsetParams params = set(at, 4);
  EXPECT_EQ(api.hipGraphExecMemsetNodeSetParams(exec, node, &params), hipErrorInvalidValue);
  EXPECT_HIP(api.hipGraphMemsetNodeSetParams(node, &params));
  EXPECT_HIP(api.hipGraphExecChildGraphNodeSetParams(exec, child, inner));
  run(exec);
  EXPECT_EQ(word(at), 4u);
  EXPECT_EQ(api.hipGraphExecChildGraphNodeSetParams(exec, child, outer), hipErrorUnknown);
  EXPECT_EQ(api.hipGraphExecChildGraphNodeSetParams(exec, child, nullptr), hipErrorInvalidValue);
}

TEST_F(ExecTest, InstantiationFlagsAreChecked) {
  hipGraphExec_t exec = nullptr;
  EXPECT_HIP(api.hipGraphInstantiateWithFlags(&exec, graph, hipGraphInstantiateFlagAutoFreeOnLaunch));
  EXPECT_HIP(api.hipGraphUpload(exec, nullptr));
  EXPECT_EQ(api.hipGraphInstantiateWithFlags(&exec, graph, 1ull << 40), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphInstantiate(nullptr, graph, nullptr, nullptr, 0), hipErrorInvalidValue);
}

TEST_F(ExecTest, DisablingIsSeenAndUndone) {
  void* at = allocate();
  hipGraphNode_t node = add_set(graph, at, 3);
  hipGraphExec_t exec = instantiate(graph);
  unsigned enabled = 7;
  EXPECT_HIP(api.hipGraphNodeSetEnabled(exec, node, 0));
  EXPECT_HIP(api.hipGraphNodeGetEnabled(exec, node, &enabled));
  EXPECT_EQ(enabled, 0u);
  run(exec);
  EXPECT_EQ(word(at), 0u);
  EXPECT_HIP(api.hipGraphNodeSetEnabled(exec, node, 1));
  run(exec);
  EXPECT_EQ(word(at), 3u);
}

}  // namespace
}  // namespace model::abi
