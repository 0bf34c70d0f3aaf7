// Attributes of kernel nodes and streams, and the driver's forms of nodes, through the C ABI.
#include "model/abi_fixture.h"

namespace model::abi {
namespace {

using AttributeTest = AbiGraphTest;

TEST_F(AttributeTest, WhatIsSetIsHandedOutAndSettingParametersKeepsIt) {
  void* at = allocate();
  hipGraphNode_t node = add_kernel(graph, at, at, 1);
  hipLaunchAttributeValue value{}, out{};
  value.priority = -1;
  EXPECT_HIP(api.hipGraphKernelNodeSetAttribute(node, hipLaunchAttributePriority, &value));
  value.cooperative = 2;
  EXPECT_HIP(api.hipGraphKernelNodeSetAttribute(node, hipLaunchAttributeCooperative, &value));
  value = {};
  value.accessPolicyWindow = {at, hipAccessPropertyPersisting, 0.5f, hipAccessPropertyStreaming, 0};
  EXPECT_HIP(api.hipGraphKernelNodeSetAttribute(node, hipLaunchAttributeAccessPolicyWindow, &value));
  PackedAdd arguments{at, at, 6, 0};
  const hipKernelNodeParams params = kernel(arguments.pointers);
  EXPECT_HIP(api.hipGraphKernelNodeSetParams(node, &params));
  EXPECT_HIP(api.hipGraphKernelNodeGetAttribute(node, hipLaunchAttributePriority, &out));
  EXPECT_EQ(out.priority, -1);
  EXPECT_HIP(api.hipGraphKernelNodeGetAttribute(node, hipLaunchAttributeCooperative, &out));
  EXPECT_EQ(out.cooperative, 2);
  EXPECT_HIP(api.hipGraphKernelNodeGetAttribute(node, hipLaunchAttributeAccessPolicyWindow, &out));
  EXPECT_EQ(out.accessPolicyWindow.base_ptr, at);
  EXPECT_EQ(out.accessPolicyWindow.hitRatio, 0.5f);
  EXPECT_EQ(out.accessPolicyWindow.missProp, hipAccessPropertyStreaming);
}

TEST_F(AttributeTest, CopyingTakesThemAllAndChangesNothingElse) {
  void *at = allocate(), *other = allocate();
  hipGraphNode_t from = add_kernel(graph, at, at, 1), to = add_kernel(graph, other, other, 7), empty = nullptr;
  EXPECT_HIP(api.hipGraphAddEmptyNode(&empty, graph, nullptr, 0));
  hipLaunchAttributeValue value{};
  value.cooperative = 1;
  EXPECT_HIP(api.hipGraphKernelNodeSetAttribute(from, hipLaunchAttributeCooperative, &value));
  EXPECT_HIP(api.hipGraphKernelNodeCopyAttributes(from, to));
  value.cooperative = 9;
  EXPECT_HIP(api.hipGraphKernelNodeGetAttribute(to, hipLaunchAttributeCooperative, &value));
  EXPECT_EQ(value.cooperative, 1);
  EXPECT_EQ(api.hipGraphKernelNodeCopyAttributes(empty, to), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphKernelNodeCopyAttributes(from, empty), hipErrorInvalidValue);
  run(instantiate(graph));
  EXPECT_EQ(word(other), 7u);
}

TEST_F(AttributeTest, ACopyOfTheGraphHasThemToo) {
  void* at = allocate();
  hipGraph_t clone = nullptr;
  hipGraphNode_t node = add_kernel(graph, at, at, 1), twin = nullptr;
  hipLaunchAttributeValue value{};
  value.priority = 1;
  EXPECT_HIP(api.hipGraphKernelNodeSetAttribute(node, hipLaunchAttributePriority, &value));
  EXPECT_HIP(api.hipGraphClone(&clone, graph));
  EXPECT_HIP(api.hipGraphNodeFindInClone(&twin, node, clone));
  value.priority = 0;
  EXPECT_HIP(api.hipGraphKernelNodeGetAttribute(twin, hipLaunchAttributePriority, &value));
  EXPECT_EQ(value.priority, 1);
}

TEST_F(AttributeTest, StreamsHaveTheirs) {
  hipStream_t stream = create_stream(), other = create_stream();
  hipLaunchAttributeValue value{};
  EXPECT_HIP(api.hipStreamGetAttribute(stream, hipLaunchAttributeSynchronizationPolicy, &value));
  EXPECT_EQ(value.syncPolicy, hipSyncPolicyAuto);
  value.syncPolicy = hipSyncPolicyYield;
  EXPECT_HIP(api.hipStreamSetAttribute(stream, hipLaunchAttributeSynchronizationPolicy, &value));
  EXPECT_HIP(api.hipStreamCopyAttributes(other, stream));
  value = {};
  EXPECT_HIP(api.hipStreamGetAttribute(other, hipLaunchAttributeSynchronizationPolicy, &value));
  EXPECT_EQ(value.syncPolicy, hipSyncPolicyYield);
  value.syncPolicy = static_cast<hipSynchronizationPolicy>(3 + 2);
  EXPECT_EQ(api.hipStreamSetAttribute(stream, hipLaunchAttributeSynchronizationPolicy, &value), hipErrorInvalidValue);
}

TEST_F(AttributeTest, AnExecutableGraphKnowsItsFlags) {
  hipGraphExec_t exec = nullptr;
  unsigned long long flags = 99;
  EXPECT_HIP(api.hipGraphInstantiateWithFlags(&exec, graph, hipGraphInstantiateFlagAutoFreeOnLaunch));
  EXPECT_HIP(api.hipGraphExecGetFlags(exec, &flags));
  EXPECT_EQ(flags, hipGraphInstantiateFlagAutoFreeOnLaunch);
  EXPECT_HIP(api.hipGraphExecGetFlags(instantiate(graph), &flags));
  EXPECT_EQ(flags, 0u);
}

struct DriverFormTest : AbiGraphTest {
  static HIP_MEMCPY3D rows(hipMemoryType dst_type, void* dst, hipMemoryType src_type, void* src) {
    HIP_MEMCPY3D copy{};
    copy.dstMemoryType = dst_type;
    copy.srcMemoryType = src_type;
    if (dst_type == hipMemoryTypeHost) copy.dstHost = dst;
    if (dst_type != hipMemoryTypeHost) copy.dstDevice = dst;
    if (src_type == hipMemoryTypeHost) copy.srcHost = src;
    if (src_type != hipMemoryTypeHost) copy.srcDevice = src;
    copy.dstPitch = copy.srcPitch = 8;
    copy.dstHeight = copy.srcHeight = 2;
    copy.WidthInBytes = 4;
    copy.Height = 2;
    copy.Depth = 1;
    return copy;
  }
  const hipCtx_t context = bad_handle<hipCtx_t>(16);
};

TEST_F(DriverFormTest, ACopyIsAddedReadAndSet) {
  void *a = allocate(), *b = allocate(), *c = allocate();
  EXPECT_HIP(api.hipMemset(a, 1, 64));
  EXPECT_HIP(api.hipMemset(c, 3, 64));
  hipGraphNode_t node = nullptr;
  HIP_MEMCPY3D copy = rows(hipMemoryTypeDevice, b, hipMemoryTypeDevice, a), out{};
  EXPECT_EQ(api.hipDrvGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, nullptr), hipErrorInvalidValue);
  EXPECT_HIP(api.hipDrvGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context));
  EXPECT_HIP(api.hipDrvGraphMemcpyNodeGetParams(node, &out));
  EXPECT_EQ(std::memcmp(&out, &copy, sizeof copy), 0);
  hipGraphExec_t exec = instantiate(graph);
  run(exec);
  EXPECT_EQ(word(b), 0x01010101u);
  copy.srcDevice = c;
  EXPECT_HIP(api.hipDrvGraphExecMemcpyNodeSetParams(exec, node, &copy, context));
  run(exec);
  EXPECT_EQ(word(b), 0x03030303u);
  EXPECT_EQ(word(static_cast<char*>(b) + 4), 0u);  // between the rows
  EXPECT_HIP(api.hipDrvGraphMemcpyNodeSetParams(node, &copy));
  EXPECT_HIP(api.hipDrvGraphMemcpyNodeGetParams(node, &out));
  EXPECT_EQ(out.srcDevice, c);
}

TEST_F(DriverFormTest, TypesOfMemoryAreTheDirection) {
  void *device = allocate(), *host = nullptr;
  EXPECT_HIP(api.hipHostMalloc(&host, 64, 0));
  hipGraphNode_t node = nullptr;
  const auto add_copy = [&](const HIP_MEMCPY3D& copy) {
    return api.hipDrvGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context);
  };
  hipMemcpy3DParms plain{};
  EXPECT_HIP(add_copy(rows(hipMemoryTypeDevice, device, hipMemoryTypeHost, host)));
  EXPECT_HIP(api.hipGraphMemcpyNodeGetParams(node, &plain));
  EXPECT_EQ(plain.kind, hipMemcpyHostToDevice);
  EXPECT_HIP(add_copy(rows(hipMemoryTypeHost, host, hipMemoryTypeDevice, device)));
  EXPECT_HIP(api.hipGraphMemcpyNodeGetParams(node, &plain));
  EXPECT_EQ(plain.kind, hipMemcpyDeviceToHost);
  EXPECT_HIP(add_copy(rows(hipMemoryTypeUnified, host, hipMemoryTypeUnified, device)));
  EXPECT_HIP(api.hipGraphMemcpyNodeGetParams(node, &plain));
  EXPECT_EQ(plain.kind, hipMemcpyDefault);
  HIP_MEMCPY3D wrong = rows(hipMemoryTypeHost, host, hipMemoryTypeDevice, device);
  wrong.srcMemoryType = hipMemoryTypeHost;
  EXPECT_EQ(add_copy(wrong), hipErrorInvalidValue);
  wrong = rows(hipMemoryTypeHost, host, hipMemoryTypeDevice, device);
  wrong.dstPitch = 3;
  EXPECT_EQ(add_copy(wrong), hipErrorInvalidValue);
}

TEST_F(DriverFormTest, AMemsetIsAddedAndSet) {
  void* at = allocate();
  hipGraphNode_t node = nullptr;
  hipMemsetParams params = set(at, 5);
  EXPECT_HIP(api.hipDrvGraphAddMemsetNode(&node, graph, nullptr, 0, &params, context));
  hipGraphExec_t exec = instantiate(graph);
  params.value = 6;
  EXPECT_HIP(api.hipDrvGraphExecMemsetNodeSetParams(exec, node, &params, context));
  run(exec);
  EXPECT_EQ(word(at), 6u);
}

}  // namespace
}  // namespace model::abi
