// GraphPatcher and copies that the driver's function added: they are set by the driver's setter alone, also after
// their parameters were replaced. (AMD's runtime writes past such a node when another setter meets it.)
#include <gtest/gtest.h>

#include <vector>

#include "hip/patcher_subject.h"

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
  // The fake knows nodes of the runtime's own only; the patcher is told another form of the same graph.
  hip::Recording typed, driver;
  typed.add(copy_between(0, 1, hip::NodeForm::kTyped));
  driver.add(copy_between(0, 1, hip::NodeForm::kDriver));
  patching::Subject subject(typed, {0x1000, 0x2000, 0x3000}, patching::Target::kExec);
  subject.table.hipCtxGetCurrent = [](hipCtx_t* context) {
    *context = nullptr;
    return hipSuccess;
  };
  subject.table.hipDrvGraphExecMemcpyNodeSetParams = [](hipGraphExec_t, hipGraphNode_t, const HIP_MEMCPY3D* copy,
                                                        hipCtx_t) {
    sources.push_back(copy->srcDevice);
    return hipSuccess;
  };
  subject.table.hipGraphExecMemcpyNodeSetParams = [](hipGraphExec_t, hipGraphNode_t, hipMemcpy3DParms*) {
    ADD_FAILURE() << "the runtime's own setter met a copy that the driver added";
    return hipSuccess;
  };
  subject.make_patcher(driver, subject.addresses);
  sources.clear();
  EXPECT_TRUE(subject.try_patch({{1, 0x2000, 0x4000}}).ok());
  const hip::RecordedNode other_source = copy_between(0, 2, hip::NodeForm::kDriver);
  subject.patcher->replace(0, other_source.record, other_source.relocations);
  EXPECT_TRUE(subject.try_patch({{2, 0x3000, 0x5000}}).ok());
  const std::vector<const void*> expected = {reinterpret_cast<void*>(0x4000), reinterpret_cast<void*>(0x5000)};
  EXPECT_EQ(sources, expected);
}

// The driver's functions know no linear copies: a node of theirs that was given one's parameters is recorded again as
// one of the runtime's own, and is set as such.
TEST(GraphPatcher, ALinearCopyIsTheRuntimesOwnWhateverItsForm) {
  fake::World world;
  hip::RecordedNode linear = copy_between(0, 1, hip::NodeForm::kDriver);
  std::get<hip::CopyRecord>(linear.record).linear = true;
  EXPECT_EQ(hip::form_of(linear), hip::NodeForm::kTyped);
  hip::Recording recording;
  recording.add(linear);
  patching::Subject subject(recording, {0x1000, 0x2000}, patching::Target::kExec);
  subject.table.hipDrvGraphExecMemcpyNodeSetParams = [](hipGraphExec_t, hipGraphNode_t, const HIP_MEMCPY3D*, hipCtx_t) {
    ADD_FAILURE() << "the driver's setter met a copy that it did not add";
    return hipSuccess;
  };
  subject.make_patcher(recording, subject.addresses);
  EXPECT_TRUE(subject.try_patch({{1, 0x2000, 0x4000}}).ok());
}

}  // namespace
