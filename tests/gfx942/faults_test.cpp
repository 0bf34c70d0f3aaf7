// Launches that must not succeed: the fault says which kernel, which instruction, which address, and why. Each negative
// case stands beside one that passes and differs in one argument.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "gfx942/machine.h"

namespace {

using namespace gfx942_test;
using gfx942::FaultKind;
using testing::HasSubstr;

struct Faults : testing::Test {
  template <class... T>
  gfx942::Outcome launch(const char* kernel, const gfx942::Limits& limits, T... arguments) {
    return machine_.launch(kernel, Arguments(arguments...).bytes(), {{64, 1, 1}, {64, 1, 1}, 0}, limits);
  }
  // The fault of a launch; a launch that finished fails the test.
  template <class... T>
  gfx942::Fault fault(const char* kernel, T... arguments) {
    const gfx942::Outcome outcome = launch(kernel, {}, arguments...);
    const auto* fault = std::get_if<gfx942::Fault>(&outcome);
    EXPECT_NE(fault, nullptr) << kernel << " finished";
    if (fault == nullptr) return {};
    EXPECT_THAT(fault->text, HasSubstr(std::string("kernel '") + kernel + "'"));
    EXPECT_THAT(fault->text, HasSubstr(fault->instruction));
    EXPECT_GE(fault->pc, machine_.program().find_kernel(kernel)->entry);
    return *fault;
  }
  template <class... T>
  void expect_finished(const char* kernel, T... arguments) {
    EXPECT_EQ(fault_text(launch(kernel, {}, arguments...)), "") << kernel;
  }

  Machine machine_{FAULTS_O2};
  u64 out_ = machine_.memory().allocate("out", 64 * 4);
};

TEST_F(Faults, AStoreOutsideOfAnAllocationNamesLaneAddressAndNeighbour) {
  expect_finished("store_astray", out_, u64{0});
  const gfx942::Fault f = fault("store_astray", out_, u64{100});
  EXPECT_EQ(std::tuple(f.kind, f.lane, f.address), std::tuple(FaultKind::kMemory, 3u, out_ + 4 * 103));
  EXPECT_THAT(f.instruction, HasSubstr("store_dword"));
  EXPECT_THAT(f.text, HasSubstr("write of 4 bytes"));
  EXPECT_THAT(f.text, HasSubstr("near allocation 'out'"));
}

TEST_F(Faults, AnAllocationThatIsOneElementShortFaultsInTheLastLane) {
  const u64 exact = machine_.memory().allocate("exact", 64 * 4);
  const u64 short_one = machine_.memory().allocate("short", 63 * 4);
  expect_finished("load_astray", out_, exact);
  const gfx942::Fault f = fault("load_astray", out_, short_one);
  EXPECT_EQ(f.lane, 63u);
  EXPECT_EQ(f.address, short_one + 63 * 4);
}

TEST_F(Faults, AStalePointerNamesTheAllocationThatItBelongedTo) {
  const u64 in = machine_.memory().allocate("weights of layer 3", 64 * 4);
  expect_finished("load_astray", out_, in);
  machine_.memory().free(in);
  const gfx942::Fault f = fault("load_astray", out_, in);
  EXPECT_EQ(f.address, in);
  EXPECT_THAT(f.text, HasSubstr("read of 4 bytes"));
  EXPECT_THAT(f.text, HasSubstr("freed allocation 'weights of layer 3'"));
}

TEST_F(Faults, AScalarLoadIsCheckedLikeAnyOther) {
  expect_finished("load_argument", out_, out_);
  const gfx942::Fault f = fault("load_argument", out_, u64{0x1000});
  EXPECT_EQ(f.kind, FaultKind::kMemory);
  EXPECT_EQ(f.address, u64{0x1000});
}

TEST_F(Faults, AStoreToReadOnlyMemoryFaultsAndALoadDoesNot) {
  const u64 constant = machine_.memory().allocate("constant", 64 * 4, false);
  expect_finished("load_astray", out_, constant);
  EXPECT_EQ(fault("store_astray", constant, u64{0}).kind, FaultKind::kMemory);
}

TEST_F(Faults, LdsAndScratchHaveBounds) {
  expect_finished("lds_astray", out_, u32{63});
  EXPECT_THAT(fault("lds_astray", out_, u32{0x10000}).text, HasSubstr("256 bytes of LDS"));
  expect_finished("scratch_astray", out_, u32{63});
  EXPECT_THAT(fault("scratch_astray", out_, u32{0x10000}).text, HasSubstr("bytes of scratch"));
}

TEST_F(Faults, AnAtomicOperationNeedsAnAlignedAddress) {
  expect_finished("atomic_astray", out_, u32{4});
  EXPECT_EQ(fault("atomic_astray", out_, u32{2}).kind, FaultKind::kMisaligned);
}

TEST_F(Faults, AnInstructionThatIsNotKnownFaultsOnlyWhenItIsReached) {
  expect_finished("typed_buffer_when", out_, u32{0});
  const gfx942::Fault f = fault("typed_buffer_when", out_, u32{1});
  EXPECT_EQ(f.kind, FaultKind::kUnknown);
  EXPECT_THAT(f.instruction, HasSubstr("tbuffer_load_format_x"));
}

TEST_F(Faults, BytesThatAreNoInstructionFaultOnlyWhenTheyAreReached) {
  expect_finished("garbage_when", out_, u32{0});
  const gfx942::Fault f = fault("garbage_when", out_, u32{1});
  EXPECT_EQ(f.kind, FaultKind::kUnknown);
  EXPECT_EQ(f.instruction, ".long 0xffffffff");
}

TEST_F(Faults, OnlyTheInstructionsThatAreNotKnownAreListed) {
  EXPECT_THAT(machine_.program().unknown_instructions(),
              testing::ElementsAre(".long 0xffffffff", HasSubstr("tbuffer_load_format_x")));
}

TEST_F(Faults, ARoundingModeThatIsNotModelledEndsTheLaunch) {
  const gfx942::Fault f = fault("rounding_up", out_);
  EXPECT_EQ(f.kind, FaultKind::kUnknown);
  EXPECT_THAT(f.instruction, HasSubstr("s_setreg_imm32_b32"));
}

TEST_F(Faults, GprIndexModeCountsEveryRegisterOfAnOperand) {
  expect_finished("index_pair", out_, u32{214});
  const gfx942::Fault f = fault("index_pair", out_, u32{215});  // v[255:256]
  EXPECT_THAT(f.text, HasSubstr("GPR-index mode reaches past v255"));
}

TEST_F(Faults, ATrapNamesItself) {
  expect_finished("trap_when", out_, u32{0});
  EXPECT_EQ(fault("trap_when", out_, u32{1}).kind, FaultKind::kTrap);
}

TEST_F(Faults, AJumpToWhereNoInstructionStartsNamesTheTarget) {
  const gfx942::Fault f = fault("jump_to", out_, u64{0x123450});
  EXPECT_EQ(f.kind, FaultKind::kControlFlow);
  EXPECT_EQ(f.address, u64{0x123450});
  EXPECT_THAT(f.text, HasSubstr("0x123450"));
}

TEST_F(Faults, ALaunchEndsWhenItsBudgetIsSpentAndSaysWhere) {
  const u64 flag = machine_.memory().upload("flag", std::vector<u32>{0});
  gfx942::Limits limits;
  limits.instructions = 10000;
  EXPECT_EQ(fault_text(launch("loop_while", limits, flag, out_)), "");
  machine_.memory().bytes(flag)[0] = std::byte{1};
  const gfx942::Outcome outcome = launch("loop_while", limits, flag, out_);
  const auto* f = std::get_if<gfx942::Fault>(&outcome);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->kind, FaultKind::kBudget);
  EXPECT_THAT(f->text, HasSubstr("'loop_while'"));
  EXPECT_THAT(f->text, HasSubstr("10000 instructions"));
  EXPECT_GE(f->pc, machine_.program().find_kernel("loop_while")->entry);
}

TEST_F(Faults, ABudgetOfExactlyTheInstructionsOfALaunchIsEnough) {
  const gfx942::Outcome outcome = launch("store_astray", {}, out_, u64{0});
  const auto* finished = std::get_if<gfx942::Finished>(&outcome);
  ASSERT_NE(finished, nullptr);
  gfx942::Limits limits;
  limits.instructions = finished->instructions;
  EXPECT_EQ(fault_text(launch("store_astray", limits, out_, u64{0})), "");
  --limits.instructions;
  EXPECT_NE(fault_text(launch("store_astray", limits, out_, u64{0})), "");
}

TEST_F(Faults, ADispatchThatNoGpuWouldTakeIsRefused) {
  const auto refused = [&](const Shape& shape) {
    const gfx942::Outcome outcome = machine_.launch("store_astray", Arguments(out_, u64{0}).bytes(), shape);
    const auto* f = std::get_if<gfx942::Fault>(&outcome);
    return f != nullptr && f->kind == FaultKind::kDispatch;
  };
  EXPECT_FALSE(refused({{64, 1, 1}, {64, 1, 1}, 64 * 1024}));
  EXPECT_TRUE(refused({{64, 1, 1}, {64, 1, 1}, 64 * 1024 + 1}));
  EXPECT_TRUE(refused({{1, 1, 1}, {1025, 1, 1}, 0}));
  EXPECT_TRUE(refused({{1, 1, 1}, {64, 32, 1}, 0}));
  EXPECT_TRUE(refused({{0, 1, 1}, {64, 1, 1}, 0}));
}

}  // namespace
