// Event nodes through the C ABI.
#include "model/abi_fixture.h"

namespace model::abi {
namespace {

struct EventNodeAbiTest : AbiGraphTest {
  EventNodeAbiTest() {
    EXPECT_HIP(api.hipGraphAddEventRecordNode(&record, graph, nullptr, 0, event));
    EXPECT_HIP(api.hipGraphAddEventWaitNode(&wait, graph, &record, 1, other));
    exec = instantiate(graph);
  }
  hipGraphExec_t exec = nullptr;
  hipEvent_t event = create_event(), other = create_event();
  hipGraphNode_t record = nullptr, wait = nullptr;
};

TEST_F(EventNodeAbiTest, NodesKnowTheirTypeAndEvent) {
  EXPECT_EQ(type_of(record), hipGraphNodeTypeEventRecord);
  EXPECT_EQ(type_of(wait), hipGraphNodeTypeWaitEvent);
  hipEvent_t found = nullptr;
  EXPECT_HIP(api.hipGraphEventRecordNodeGetEvent(record, &found));
  EXPECT_EQ(found, event);
  EXPECT_HIP(api.hipGraphEventWaitNodeGetEvent(wait, &found));
  EXPECT_EQ(found, other);
  EXPECT_HIP(api.hipGraphEventRecordNodeSetEvent(record, other));
  EXPECT_HIP(api.hipGraphEventRecordNodeGetEvent(record, &found));
  EXPECT_EQ(found, other);
  EXPECT_HIP(api.hipGraphEventWaitNodeSetEvent(wait, event));
  EXPECT_HIP(api.hipGraphEventWaitNodeGetEvent(wait, &found));
  EXPECT_EQ(found, event);
}

// hipEventElapsedTime: "the elapsed time between events"; profilers of graphs put event nodes around a node.
TEST_F(EventNodeAbiTest, EventsThatOneLaunchRecordsAreApart) {
  const hipEvent_t last = create_event();
  hipGraphNode_t end = nullptr;
  EXPECT_HIP(api.hipGraphAddEventRecordNode(&end, graph, &wait, 1, last));
  const hipGraphExec_t timed = instantiate(graph);
  EXPECT_HIP(api.hipGraphLaunch(timed, nullptr));
  EXPECT_HIP(api.hipDeviceSynchronize());
  float milliseconds = 0;
  EXPECT_HIP(api.hipEventElapsedTime(&milliseconds, event, last));
  EXPECT_GT(milliseconds, 0.0F);
  EXPECT_HIP(api.hipEventRecord(other, nullptr));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_HIP(api.hipEventElapsedTime(&milliseconds, last, other));
  EXPECT_GT(milliseconds, 0.0F);
  EXPECT_HIP(api.hipGraphExecDestroy(timed));
}

// hipGraphAddEventRecordNode.cc, hipGraphAddEventWaitNode.cc and their neighbours.
TEST_F(EventNodeAbiTest, NullAndForeignHandlesAreInvalidValues) {
  hipGraphNode_t node = nullptr;
  hipEvent_t found = nullptr;
  EXPECT_EQ(api.hipGraphAddEventRecordNode(&node, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphAddEventRecordNode(&node, nullptr, nullptr, 0, event), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphAddEventRecordNode(nullptr, graph, nullptr, 0, event), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphAddEventRecordNode(&node, graph, nullptr, 1, event), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphAddEventWaitNode(&node, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphAddEventWaitNode(&node, nullptr, nullptr, 0, event), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphEventRecordNodeGetEvent(wait, &found), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphEventRecordNodeGetEvent(record, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphEventRecordNodeGetEvent(nullptr, &found), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphEventWaitNodeGetEvent(record, &found), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphEventRecordNodeSetEvent(wait, event), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphEventRecordNodeSetEvent(record, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphEventWaitNodeSetEvent(record, event), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphExecEventRecordNodeSetEvent(nullptr, record, event), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphExecEventRecordNodeSetEvent(exec, nullptr, event), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphExecEventRecordNodeSetEvent(exec, record, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphExecEventRecordNodeSetEvent(exec, wait, event), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphExecEventWaitNodeSetEvent(exec, record, event), hipErrorInvalidValue);
  EXPECT_HIP(api.hipGraphExecEventWaitNodeSetEvent(exec, wait, event));
}

TEST_F(EventNodeAbiTest, ANodeOfAnotherGraphIsNotInTheExecutable) {
  hipGraphNode_t node = nullptr;
  EXPECT_HIP(api.hipGraphAddEventRecordNode(&node, create_graph(), nullptr, 0, event));
  EXPECT_EQ(api.hipGraphExecEventRecordNodeSetEvent(exec, node, event), hipErrorInvalidValue);
}

TEST_F(EventNodeAbiTest, ALaunchRecordsTheEvent) {
  hipStream_t stream = create_stream(hipStreamNonBlocking);
  EXPECT_HIP(api.hipEventQuery(event));
  EXPECT_HIP(api.hipGraphLaunch(exec, stream));
  EXPECT_EQ(api.hipEventQuery(event), hipErrorNotReady);
  EXPECT_HIP(api.hipEventSynchronize(event));
  EXPECT_HIP(api.hipEventQuery(event));
}

TEST_F(EventNodeAbiTest, EventNodesCannotBeDisabled) {
  EXPECT_EQ(api.hipGraphNodeSetEnabled(exec, record, 0), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphNodeSetEnabled(exec, wait, 0), hipErrorInvalidValue);
}

}  // namespace
}  // namespace model::abi
