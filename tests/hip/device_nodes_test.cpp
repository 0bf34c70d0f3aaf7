// Nodes of another device: which device is current while HIP is told of them. Patches are in graph_patcher_test's
// manner on the model (tests/verify/devices_test.cpp).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hip/recording.h"

namespace {

int current = 0;
bool device_fails = false;
std::vector<std::string> calls;

hip::Api noting() {
  current = 0;
  device_fails = false;
  calls.clear();
  hip::Api api;
  api.hipGetDevice = [](int* device) {
    *device = current;
    return hipSuccess;
  };
  api.hipSetDevice = [](int device) {
    if (device_fails) return hipErrorInvalidDevice;
    current = device;
    return hipSuccess;
  };
  api.hipGraphAddKernelNode = [](hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
                                 const hipKernelNodeParams*) {
    calls.push_back("kernel on " + std::to_string(current));
    return hipSuccess;
  };
  api.hipGraphAddMemsetNode = [](hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t, const hipMemsetParams*) {
    calls.push_back("memset on " + std::to_string(current));
    return hipSuccess;
  };
  return api;
}

hip::RecordedNode kernel(int device) {
  static char function;
  hip::KernelRecord record;
  record.function = reinterpret_cast<hipFunction_t>(&function);
  record.device = device;
  return {record, {}, {}};
}

hip::RecordedNode memset(int device) {
  static char memory;
  hip::MemsetRecord record;
  record.params.dst = &memory;
  record.params.elementSize = record.params.width = record.params.height = 1;
  record.device = device;
  return {record, {}, {}};
}

TEST(DeviceNodes, ANodesDeviceIsCurrentWhileItIsRecordedAndNoLonger) {
  hip::NodeExtras extras;
  const hip::Api api = noting();
  EXPECT_TRUE(hip::record_node(api, nullptr, kernel(2), {}, {}, extras).ok());
  EXPECT_TRUE(hip::record_node(api, nullptr, memset(1), {}, {}, extras).ok());
  EXPECT_TRUE(hip::record_node(api, nullptr, kernel(0), {}, {}, extras).ok());
  EXPECT_EQ(calls, (std::vector<std::string>{"kernel on 2", "memset on 1", "kernel on 0"}));
  EXPECT_EQ(current, 0);
}

TEST(DeviceNodes, ADeviceThatIsNotThereIsAnErrorAndNothingIsRecorded) {
  hip::NodeExtras extras;
  const hip::Api api = noting();
  device_fails = true;
  const hip::Result<hipGraphNode_t> added = hip::record_node(api, nullptr, kernel(1), {}, {}, extras);
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().code, hipErrorInvalidDevice);
  EXPECT_TRUE(calls.empty());
}

}  // namespace
