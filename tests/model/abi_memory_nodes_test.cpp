// Memory nodes through the C ABI: parameters, refusals and the memory attributes that a device reports.
#include "model/abi_fixture.h"

namespace model::abi {
namespace {

struct MemoryNodeAbiTest : AbiGraphTest {
  MemoryNodeAbiTest() {
    params.bytesize = 1024;
    params.poolProps.allocType = hipMemAllocationTypePinned;
    params.poolProps.location = {hipMemLocationTypeDevice, 0};
  }
  std::uint64_t attribute(hipGraphMemAttributeType which) {
    std::uint64_t value = 0;
    EXPECT_HIP(api.hipDeviceGetGraphMemAttribute(0, which, &value));
    return value;
  }
  hipGraphNode_t allocation = nullptr, release = nullptr;
  hipMemAllocNodeParams params{};
};

TEST_F(MemoryNodeAbiTest, AnAllocationNodeHasItsAddressAtOnceAndKeepsIt) {
  hipMemAccessDesc right{{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
  params.accessDescs = &right;
  params.accessDescCount = 1;
  EXPECT_HIP(api.hipGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &params));
  ASSERT_NE(params.dptr, nullptr);
  right = {};
  hipMemAllocNodeParams got{};
  EXPECT_HIP(api.hipGraphMemAllocNodeGetParams(allocation, &got));
  EXPECT_EQ(got.dptr, params.dptr);
  EXPECT_EQ(got.bytesize, 1024u);
  EXPECT_EQ(got.poolProps.location.type, hipMemLocationTypeDevice);
  ASSERT_EQ(got.accessDescCount, 1u);
  EXPECT_EQ(got.accessDescs[0].flags, hipMemAccessFlagsProtReadWrite);
  EXPECT_EQ(type_of(allocation), hipGraphNodeTypeMemAlloc);
  EXPECT_HIP(api.hipGraphAddMemFreeNode(&release, graph, &allocation, 1, params.dptr));
  void* freed = nullptr;
  EXPECT_HIP(api.hipGraphMemFreeNodeGetParams(release, &freed));
  EXPECT_EQ(freed, params.dptr);
  EXPECT_EQ(type_of(release), hipGraphNodeTypeMemFree);
}

// Unit_hipGraphAddMemAllocNode_Negative_Params
TEST_F(MemoryNodeAbiTest, AllocationNodesCheckTheirParameters) {
  const auto refused = [this](auto change) {
    hipMemAllocNodeParams changed = params;
    change(changed);
    return api.hipGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &changed);
  };
  EXPECT_EQ(api.hipGraphAddMemAllocNode(nullptr, graph, nullptr, 0, &params), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphAddMemAllocNode(&allocation, nullptr, nullptr, 0, &params), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphAddMemAllocNode(&allocation, graph, nullptr, 11, &params), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphAddMemAllocNode(&allocation, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(refused([](auto& p) { p.bytesize = 0; }), hipErrorInvalidValue);
  EXPECT_EQ(refused([](auto& p) { p.bytesize = ~std::size_t{0}; }), hipErrorOutOfMemory);
  EXPECT_EQ(refused([](auto& p) { p.poolProps.allocType = hipMemAllocationTypeInvalid; }), hipErrorInvalidValue);
  EXPECT_EQ(refused([](auto& p) { p.poolProps.location.type = hipMemLocationTypeInvalid; }), hipErrorInvalidValue);
  EXPECT_EQ(refused([](auto& p) { p.poolProps.location.id = 1; }), hipErrorInvalidValue);
  EXPECT_EQ(refused([](auto& p) { p.poolProps.location.id = -1; }), hipErrorInvalidValue);
  EXPECT_EQ(refused([](auto& p) { p.accessDescCount = 2; }), hipErrorInvalidValue);
  EXPECT_HIP(refused([](auto&) {}));
}

// Unit_hipGraphAddMemFreeNode_Negative_Params
TEST_F(MemoryNodeAbiTest, FreeNodesFreeWhatAnAllocationNodeAllocatesOnce) {
  EXPECT_HIP(api.hipGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &params));
  void* plain = allocate();
  int value = 0;
  EXPECT_EQ(api.hipGraphAddMemFreeNode(nullptr, graph, &allocation, 1, params.dptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphAddMemFreeNode(&release, nullptr, &allocation, 1, params.dptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphAddMemFreeNode(&release, graph, nullptr, 5, params.dptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphAddMemFreeNode(&release, graph, &allocation, 1, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphAddMemFreeNode(&release, graph, &allocation, 1, &value), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphAddMemFreeNode(&release, graph, &allocation, 1, plain), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphAddMemFreeNode(&release, graph, &allocation, 1, static_cast<char*>(params.dptr) + 16),
            hipErrorInvalidValue);
  EXPECT_HIP(api.hipDrvGraphAddMemFreeNode(&release, graph, &allocation, 1, params.dptr));
  EXPECT_EQ(api.hipGraphAddMemFreeNode(&release, graph, &allocation, 1, params.dptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphMemAllocNodeGetParams(release, &params), hipErrorInvalidValue);
  void* pointer = nullptr;
  EXPECT_EQ(api.hipGraphMemFreeNodeGetParams(allocation, &pointer), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphMemFreeNodeGetParams(release, nullptr), hipErrorInvalidValue);
}

TEST_F(MemoryNodeAbiTest, GraphsWithMemoryNodesAreNotClonedAndLoseNoNodes) {
  EXPECT_HIP(api.hipGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &params));
  hipGraph_t clone = nullptr;
  EXPECT_EQ(api.hipGraphClone(&clone, graph), hipErrorNotSupported);
  EXPECT_EQ(api.hipGraphDestroyNode(allocation), hipErrorNotSupported);
  hipGraphNode_t child = nullptr;
  EXPECT_EQ(api.hipGraphAddChildGraphNode(&child, create_graph(), nullptr, 0, graph), hipErrorNotSupported);
  hipGraphExec_t one = instantiate(graph), other = nullptr;
  EXPECT_EQ(api.hipGraphInstantiate(&other, graph, nullptr, nullptr, 0), hipErrorNotSupported);
  EXPECT_HIP(api.hipGraphExecDestroy(one));
  instantiate(graph);
}

// hipDeviceGetGraphMemAttribute.cc
TEST_F(MemoryNodeAbiTest, ADeviceKnowsWhatItsGraphsHold) {
  EXPECT_HIP(api.hipGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &params));
  hipGraphExec_t exec = nullptr;
  EXPECT_HIP(api.hipGraphInstantiateWithFlags(&exec, graph, hipGraphInstantiateFlagAutoFreeOnLaunch));
  EXPECT_EQ(attribute(hipGraphMemAttrUsedMemCurrent), 0u);
  EXPECT_HIP(api.hipGraphLaunch(exec, nullptr));
  EXPECT_HIP(api.hipGraphLaunch(exec, nullptr));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(attribute(hipGraphMemAttrUsedMemCurrent), 1024u);
  EXPECT_EQ(attribute(hipGraphMemAttrReservedMemCurrent), 1024u);
  EXPECT_HIP(api.hipMemset(params.dptr, 3, 1024));
  EXPECT_HIP(api.hipFree(params.dptr));
  EXPECT_EQ(attribute(hipGraphMemAttrUsedMemCurrent), 0u);
  EXPECT_EQ(attribute(hipGraphMemAttrUsedMemHigh), 1024u);
  EXPECT_EQ(attribute(hipGraphMemAttrReservedMemHigh), 1024u);
  std::uint64_t zero = 0, one = 1;
  EXPECT_EQ(api.hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, &one), hipErrorInvalidValue);
  EXPECT_EQ(api.hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, &zero), hipErrorInvalidValue);
  EXPECT_EQ(api.hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipDeviceSetGraphMemAttribute(9, hipGraphMemAttrUsedMemHigh, &zero), hipErrorInvalidDevice);
  EXPECT_HIP(api.hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, &zero));
  EXPECT_EQ(attribute(hipGraphMemAttrUsedMemHigh), 0u);
  EXPECT_HIP(api.hipDeviceGraphMemTrim(0));
  EXPECT_EQ(api.hipDeviceGraphMemTrim(-1), hipErrorInvalidDevice);
  EXPECT_EQ(api.hipDeviceGetGraphMemAttribute(7, hipGraphMemAttrUsedMemHigh, &zero), hipErrorInvalidDevice);
  EXPECT_EQ(api.hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipDeviceGetGraphMemAttribute(0, static_cast<hipGraphMemAttributeType>(99), &zero),
            hipErrorInvalidValue);
}

TEST_F(MemoryNodeAbiTest, WorkOnAStreamMayUseWhatALaunchAllocates) {
  EXPECT_HIP(api.hipGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &params));
  EXPECT_HIP(api.hipGraphLaunch(instantiate(graph), nullptr));
  EXPECT_HIP(api.hipMemsetAsync(params.dptr, 1, 1024, nullptr));
  EXPECT_EQ(word(params.dptr), 0x01010101u);
  EXPECT_HIP(api.hipFreeAsync(params.dptr, nullptr));
  EXPECT_EQ(api.hipFree(params.dptr), hipErrorInvalidValue);
  EXPECT_HIP(api.hipDeviceSynchronize());
}

}  // namespace
}  // namespace model::abi
