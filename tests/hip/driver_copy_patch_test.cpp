// GraphPatcher and copies that the driver's function added: they are set by the driver's setter alone, also after
// their parameters were replaced. (AMD's runtime writes past such a node when another setter meets it.)
#include <gtest/gtest.h>

#include <vector>

#include "hip/fake_api.h"
#include "hip/graph_patcher.h"

namespace {

std::vector<const void*> sources;  // that the driver's setter was given

hip::RecordedNode copy_between(hip::BufferIndex to, hip::BufferIndex from, hip::NodeForm form) {
  hip::CopyRecord copy;
  copy.params.dstPtr.pitch = copy.params.srcPtr.pitch = 16;
  copy.params.dstPtr.ysize = copy.params.srcPtr.ysize = 1;
  copy.params.extent = {8, 1, 1};
  copy.params.kind = hipMemcpyDeviceToDevice;
  return {copy, {}, {{hip::Field::kCopyDestination, 0, to, 0}, {hip::Field::kCopySource, 0, from, 0}}, form};
}

TEST(GraphPatcher, ACopyOfTheDriversStaysOneWhenItsParametersAreReplaced) {
  fake::World world;
  hip::Api table = fake::api();
  table.hipCtxGetCurrent = [](hipCtx_t* context) {
    *context = nullptr;
    return hipSuccess;
  };
  table.hipDrvGraphExecMemcpyNodeSetParams = [](hipGraphExec_t, hipGraphNode_t, const HIP_MEMCPY3D* copy, hipCtx_t) {
    sources.push_back(copy->srcDevice);
    return hipSuccess;
  };
  table.hipGraphExecMemcpyNodeSetParams = [](hipGraphExec_t, hipGraphNode_t, hipMemcpy3DParms*) {
    ADD_FAILURE() << "the runtime's own setter met a copy that the driver added";
    return hipSuccess;
  };
  // The fake knows nodes of the runtime's own only; the patcher is told another form of the same graph.
  hip::Recording typed, driver;
  typed.add(copy_between(0, 1, hip::NodeForm::kTyped));
  driver.add(copy_between(0, 1, hip::NodeForm::kDriver));
  const hip::AddressTable addresses = {0x1000, 0x2000, 0x3000};
  const auto graph = hip::record_graph(table, typed, addresses);
  ASSERT_TRUE(graph.ok());
  hipGraphExec_t exec = nullptr;
  ASSERT_EQ(table.hipGraphInstantiate(&exec, graph.value().graph, nullptr, nullptr, 0), hipSuccess);
  auto patcher = hip::GraphPatcher::of_exec(table, driver, graph.value(), exec, addresses);
  const auto moves = [&](hip::BufferIndex buffer, hip::DeviceAddress from, hip::DeviceAddress to) {
    return patcher.patch(std::vector<hip::Move>{{buffer, from, to}}).ok();
  };
  sources.clear();
  EXPECT_TRUE(moves(1, 0x2000, 0x4000));
  const hip::RecordedNode other_source = copy_between(0, 2, hip::NodeForm::kDriver);
  patcher.replace(0, other_source.record, other_source.relocations);
  EXPECT_TRUE(moves(2, 0x3000, 0x5000));
  const std::vector<const void*> expected = {reinterpret_cast<void*>(0x4000), reinterpret_cast<void*>(0x5000)};
  EXPECT_EQ(sources, expected);
}

// The driver's functions know no linear copies: a node of theirs that was given one's parameters is recorded again as
// one of the runtime's own, and is set as such.
TEST(GraphPatcher, ALinearCopyIsTheRuntimesOwnWhateverItsForm) {
  fake::World world;
  hip::Api table = fake::api();
  table.hipDrvGraphAddMemcpyNode = nullptr;
  table.hipDrvGraphExecMemcpyNodeSetParams = [](hipGraphExec_t, hipGraphNode_t, const HIP_MEMCPY3D*, hipCtx_t) {
    ADD_FAILURE() << "the driver's setter met a copy that it did not add";
    return hipSuccess;
  };
  hip::RecordedNode linear = copy_between(0, 1, hip::NodeForm::kDriver);
  std::get<hip::CopyRecord>(linear.record).linear = true;
  EXPECT_EQ(hip::form_of(linear), hip::NodeForm::kTyped);
  hip::Recording recording;
  recording.add(linear);
  const hip::AddressTable addresses = {0x1000, 0x2000};
  const auto graph = hip::record_graph(table, recording, addresses);
  ASSERT_TRUE(graph.ok());
  hipGraphExec_t exec = nullptr;
  ASSERT_EQ(table.hipGraphInstantiate(&exec, graph.value().graph, nullptr, nullptr, 0), hipSuccess);
  auto patcher = hip::GraphPatcher::of_exec(table, recording, graph.value(), exec, addresses);
  EXPECT_TRUE(patcher.patch(std::vector<hip::Move>{{1, 0x2000, 0x4000}}).ok());
}

}  // namespace
