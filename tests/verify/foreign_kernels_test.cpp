// Kernels of a code object that a program brings along. The project's own code object stands for a foreign one, so that
// the same kernel under its own name gives the expected bytes.
#include "verify/language/foreign_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hip/code_object/code_object.h"
#include "hip/kernels/device_kernels.h"
#include "judging.h"
#include "verify/execute/code_objects.h"
#include "verify/subject/protocol.h"

namespace verify {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kId = "00000000000000aa";

std::string foreign(const std::string& text) {
  const auto elf = hip::code_object::find_code_object(hg::device_code_object());
  EXPECT_TRUE(elf.ok());
  EXPECT_TRUE(read_code_object(kId, elf.value()));
  std::string whole = text;
  for (std::size_t at = 0; (at = whole.find("@ID", at)) != std::string::npos;) whole.replace(at + 1, 2, kId);
  return whole;
}

constexpr const char* kBuffers =
    "hgcheck-program 1\n"
    "placement native\n"
    "buffer b0 128\n"
    "buffer b1 128\n"
    "graph g0\n";
constexpr const char* kRun =
    "instantiate e0 g0\n"
    "launch e0 s0\n"
    "move b0\n"
    "patch e0\n"
    "launch e0 s0\n";

TEST(ForeignKernels, AreWrittenAsTheyAreRead) {
  for (const char* line :
       {"kernel g0.n0 axpy_u64@ID a0=b0+0 a1=b1+8 a2=8 a3=3", "on s0 kernel inplace_u32@ID a0=0 a1=5 a2=7",
        "kernel g0.n0 axpy_u64@ID a0=b0+0 a1=0 a2=8 a3=3 grid=2,3,4 block=16,4,2 style=extra"}) {
    const Program program = parsed(foreign(std::string(kBuffers) + line + "\n"));
    const Program again = parsed(print_program(program));
    EXPECT_EQ(program.steps.back().command, again.steps.back().command) << print_program(program);
  }
}

TEST(ForeignKernels, WhatIsWrongWithOneIsSaid) {
  const auto error_of = [](const std::string& line) {
    const auto result = parse_program(foreign(std::string(kBuffers) + line + "\n"));
    return std::holds_alternative<ParseError>(result) ? std::get<ParseError>(result).message : std::string();
  };
  EXPECT_THAT(error_of("kernel g0.n0 axpy_u64@00000000000000ab a0=b0"), HasSubstr("00000000000000ab.co has to stand"));
  EXPECT_THAT(error_of("kernel g0.n0 no_such@ID a0=b0"), HasSubstr("has to stand beside the program"));
  EXPECT_THAT(error_of("kernel g0.n0 axpy_u64@ID a0=b0 a1=b1 a2=8 a3=3 grid=1,2,3,4"), HasSubstr("three numbers"));
  EXPECT_THAT(error_of("kernel g0.n0 axpy_u64@ID a0=b0 a1=b1 a2=b0 a3=3"), HasSubstr("a2"));
  const Program own = parsed(std::string(kBuffers) + "kernel g0.n0 axpy_u64 out=b0 in=b1 n=8 a=3 grid=1,2,1\n");
  EXPECT_THAT(flaw(own), HasSubstr("one dimension"));
  const Program large =
      parsed(foreign(std::string(kBuffers) + "kernel g0.n0 axpy_u64@ID a0=b0 a1=b1 a2=8 a3=3 block=64,64,1\n"));
  EXPECT_THAT(flaw(large), HasSubstr("block 1 to 1024"));
}

TEST(ForeignKernels, TouchAllOfWhatTheyAreGiven) {
  const Program program =
      parsed(foreign(std::string(kBuffers) + "kernel g0.n0 axpy_u64@ID a0=b0+16 a1=b1+8 a2=8 a3=3\n"));
  std::vector<ByteRange> ranges;
  append_ranges(std::get<AddNode>(program.steps.back().command).params, 1, ranges);
  ASSERT_EQ(ranges.size(), 2U);
  for (const ByteRange& range : ranges) {
    EXPECT_EQ(range.lo, 0);
    EXPECT_EQ(range.hi, kToTheEnd);
    EXPECT_TRUE(range.write);
  }
}

TEST(ForeignKernels, ComputeWhatTheSameKernelOfTheProjectDoes) {
  const Program own =
      parsed(std::string(kBuffers) + "kernel g0.n0 axpy_u64 out=b0 in=b1 n=8 a=3 grid=2\n" + std::string(kRun));
  const Program other = parsed(
      foreign(std::string(kBuffers) + "kernel g0.n0 axpy_u64@ID a0=b0 a1=b1 a2=8 a3=3 grid=2\n" + std::string(kRun)));
  Bench bench;
  const Observation expected = bench.baseline.run(own, {}).observation,
                    observed = bench.baseline.run(other, {}).observation;
  ASSERT_EQ(observed.harness_error, "");
  ASSERT_EQ(expected.reads.size(), observed.reads.size());
  for (std::size_t i = 0; i < expected.reads.size(); ++i) EXPECT_EQ(expected.reads[i].bytes, observed.reads[i].bytes);
  EXPECT_TRUE(observed.violations.empty());
  EXPECT_TRUE(in_agreement(bench.judge.judge(other, {})));
}

TEST(ForeignKernels, AVariableOfTheirCodeHoldsWhatTheCodeSays) {
  const std::string variable = "buffer b2 64 variable=hg_symbol1@ID\n";
  const std::string text =
      foreign(std::string(kBuffers) + variable + "read b2\nkernel g0.n0 axpy_u64@ID a0=b2 a1=b1 a2=8 a3=3\n" +
              std::string(kRun) + "read b2\n");
  const Program program = parsed(text);
  EXPECT_EQ(program, parsed(print_program(program)));
  Bench bench;
  const Observation observed = bench.baseline.run(program, {}).observation;
  ASSERT_EQ(observed.harness_error, "");
  ASSERT_GE(observed.reads.size(), 2U);
  EXPECT_EQ(observed.reads.front().bytes, std::vector<std::byte>(64));
  EXPECT_NE(observed.reads.back().bytes, observed.reads.front().bytes);
  EXPECT_TRUE(in_agreement(bench.judge.judge(program, {})));
  const auto flaw_of = [&variable](const std::string& more) {
    return flaw(parsed(foreign(std::string(kBuffers) + variable + more)));
  };
  EXPECT_THAT(flaw_of("move b2\n"), HasSubstr("b2 is a variable, which stays"));
  EXPECT_THAT(flaw_of("free b2\n"), HasSubstr("b2 is a variable, which stays"));
  EXPECT_THAT(flaw_of("buffer b3 32 variable=hg_symbol1@ID\n"), HasSubstr("b2 is that variable already"));
  EXPECT_THAT(flaw_of("on s0 memcpy dst=b2 src=b1 bytes=8 symbol=dst\n"), HasSubstr("no variable of the device code"));
  EXPECT_THAT(std::get<ParseError>(parse_program("hgcheck-program 1\nbuffer b0 64 variable=w@00ff\n")).message,
              HasSubstr("'w@00ff' is no variable of a known code object"));
}

TEST(ForeignKernels, GoToASubjectWithTheirCode) {
  const std::string text = foreign(std::string(kBuffers) + "kernel g0.n0 axpy_u64@ID a0=b0 a1=b1 a2=8 a3=3\n");
  EXPECT_THAT(code_objects_named_in(text + "# kernel@00000000000000ab\nread b0\n"), ElementsAre(kId));
  Request sent;
  sent.program = text;
  for (const CodeObject* object : code_objects_of(parsed(text))) sent.code_objects[object->id] = object->elf;
  ASSERT_EQ(sent.code_objects.size(), 1U);
  const auto request = decode_request(encode_request(sent));
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request.value().code_objects, sent.code_objects);
}

}  // namespace
}  // namespace verify
