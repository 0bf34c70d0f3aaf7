// Illegal accesses: the report of a fault, the work that it stops, and the calls that still work.
#include <gtest/gtest.h>

#include "model/fixture.h"

namespace model {
namespace {

using FaultTest = WithGraph;

TEST(Fault, ItNamesNodeKernelAddressAndWhoseMemoryItWas) {
  Machine m;
  const Address freed = m.allocate(), at = m.allocate();
  Graph& graph = m.runtime.create_graph();
  Node* node = m.node(graph, m.add(at, freed + 8, 1));
  GraphExec& exec = m.exec(graph);
  const AllocationId id = m.runtime.memory().find(freed)->id;
  ASSERT_EQ(m.runtime.free(freed), Status::kSuccess);
  ASSERT_EQ(m.runtime.launch(exec, m.runtime.null_stream()), Status::kSuccess);
  EXPECT_EQ(m.runtime.fault(), std::nullopt);
  EXPECT_EQ(m.runtime.synchronize_device(), Status::kIllegalAddress);
  ASSERT_TRUE(m.runtime.fault().has_value());
  const Fault& fault = *m.runtime.fault();
  EXPECT_EQ(fault.node, node->id());
  EXPECT_EQ(fault.type, NodeType::kKernel);
  ASSERT_TRUE(fault.access.has_value());
  EXPECT_EQ(fault.access->address, freed + 8);
  EXPECT_TRUE(fault.access->freed);
  EXPECT_EQ(fault.access->allocation->id, id);
  for (const std::string& part : {"node " + std::to_string(node->id()), std::string("'add'"),
                                  "allocation " + std::to_string(id), std::string("freed")}) {
    EXPECT_NE(fault.text.find(part), std::string::npos) << fault.text;
  }
}

TEST_F(FaultTest, AnAddressThatWasReusedBelongsToItsNewOwner) {
  m.node(graph, m.add(m.allocate(), at, 1));
  GraphExec& exec = m.exec(graph);
  ASSERT_EQ(m.runtime.free(at), Status::kSuccess);
  ASSERT_EQ(m.allocate(), at);
  m.run(exec);  // wrong, and legal: only comparing outcomes can tell
  EXPECT_EQ(m.runtime.fault(), std::nullopt);
}

TEST(Fault, ItStaysAndStopsEverythingElse) {
  Machine m;
  const Address at = m.allocate();
  Stream& stream = m.runtime.create_stream(kStreamNonBlocking, 0, 0);
  Event& event = m.runtime.create_event(0);
  ASSERT_EQ(m.runtime.enqueue(stream, m.add(at, 0x1234567, 1)), Status::kSuccess);
  ASSERT_EQ(m.runtime.enqueue(stream, Machine::set(at, 9)), Status::kSuccess);
  ASSERT_EQ(m.runtime.record(event, stream), Status::kSuccess);
  EXPECT_EQ(m.runtime.synchronize(event), Status::kIllegalAddress);
  EXPECT_EQ(m.word(at), 0u);  // neither the faulting kernel nor the work behind it has run
  EXPECT_EQ(m.runtime.pending(), 0u);
  EXPECT_EQ(m.runtime.query(stream), Status::kIllegalAddress);
  EXPECT_EQ(m.runtime.query(event), Status::kIllegalAddress);
  EXPECT_EQ(m.runtime.synchronize_device(), Status::kIllegalAddress);
  EXPECT_EQ(m.runtime.enqueue(stream, Machine::set(at, 9)), Status::kIllegalAddress);
  EXPECT_EQ(m.runtime.record(event, stream), Status::kIllegalAddress);
  EXPECT_EQ(m.runtime.free(at), Status::kIllegalAddress);
  EXPECT_EQ(m.runtime.destroy_stream(stream), Status::kIllegalAddress);
  EXPECT_EQ(m.runtime.memory().find(at), nullptr);  // released all the same
  EXPECT_EQ(m.runtime.live_handles().streams, 0u);
  m.runtime.reset({});
  EXPECT_EQ(m.runtime.sticky(), Status::kSuccess);
}

TEST(Fault, APollThatMeetsItSaysSo) {
  Machine m;
  ASSERT_EQ(m.runtime.enqueue(m.runtime.null_stream(), m.add(0x5000, 0x6000, 1)), Status::kSuccess);
  EXPECT_EQ(m.runtime.query(m.runtime.null_stream()), Status::kIllegalAddress);
}

TEST(Fault, KernelsCannotReachPageableMemory) {
  Machine m;
  const Address host = m.allocate(64, MemoryKind::kPageable), at = m.allocate();
  ASSERT_EQ(m.runtime.enqueue(m.runtime.null_stream(), m.add(at, host, 1)), Status::kSuccess);
  EXPECT_EQ(m.runtime.synchronize_device(), Status::kIllegalAddress);
}

TEST(Fault, AKernelWithoutHostSemanticsSaysThatTheModelCannotRunIt) {
  Machine m;
  Kernel kernel;
  kernel.name = "mystery";
  Module& module = m.runtime.load_module({std::make_shared<const Kernel>(kernel)});
  Graph& graph = m.runtime.create_graph();
  m.node(graph, KernelParams{module.find("mystery")->kernel(), {}, {}});
  ASSERT_EQ(m.runtime.launch(m.exec(graph), m.runtime.null_stream()), Status::kSuccess);
  EXPECT_EQ(m.runtime.synchronize_device(), Status::kNotSupported);
  EXPECT_NE(m.runtime.fault()->text.find("mystery"), std::string::npos);
}

TEST_F(FaultTest, AKernelOfAnUnloadedModuleIsNotRun) {
  m.node(graph, m.add(at, at, 1));
  GraphExec& exec = m.exec(graph);
  m.runtime.unload_module(*m.module);
  Node* out = nullptr;
  EXPECT_EQ(graph.add(graph.nodes()[0]->params(), {}, &out), Status::kInvalidDeviceFunction);
  EXPECT_EQ(m.runtime.launch(exec, m.runtime.null_stream()), Status::kInvalidDeviceFunction);
  GraphExec* other = nullptr;
  EXPECT_EQ(m.runtime.instantiate(graph, &other), Status::kInvalidDeviceFunction);
  EXPECT_EQ(m.runtime.synchronize_device(), Status::kSuccess);
}

TEST_F(FaultTest, AKernelWhoseModuleIsUnloadedWhileItWaitsIsAFault) {
  m.node(graph, m.add(at, at, 1));
  ASSERT_EQ(m.runtime.launch(m.exec(graph), m.runtime.null_stream()), Status::kSuccess);
  m.runtime.unload_module(*m.module);
  EXPECT_EQ(m.runtime.synchronize_device(), Status::kLaunchFailure);
  EXPECT_NE(m.runtime.fault()->text.find("unloaded"), std::string::npos);
}

}  // namespace
}  // namespace model
