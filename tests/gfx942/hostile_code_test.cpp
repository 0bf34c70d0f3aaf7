// Code objects that nobody compiled: whatever the bytes are, loading ends in a program or in an error, and running ends
// in one of the outcomes. Run under the sanitizers, this is the test that nothing is read or written outside.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "gfx942/machine.h"

namespace {

using namespace gfx942_test;

constexpr u64 kBase = 0x7e0000000000;

const std::vector<std::byte>& image() {
  static const std::vector<std::byte> bytes = file_bytes(WORKGROUPS_O1);
  return bytes;
}

struct Ended {
  bool loaded = false;
  bool errors_have_text = true;
};

// Loads, maps and runs every kernel a little.
Ended load_and_run(const std::vector<std::byte>& bytes) {
  auto loaded = gfx942::Program::load(bytes, kBase);
  if (const auto* error = std::get_if<gfx942::LoadError>(&loaded)) {
    return {false, !error->text.empty()};
  }
  Ended ended{true, true};
  const auto& program = std::get<gfx942::Program>(loaded);
  TestMemory memory;
  for (const gfx942::LoadedSegment& s : program.segments()) memory.map(s.address, "segment", s.bytes, s.writable);
  const u64 arguments = memory.allocate("arguments", 1024);
  for (const gfx942::Kernel& kernel : program.kernels()) {
    gfx942::Dispatch d;
    d.kernel = &kernel;
    d.grid = {100, 1, 1};
    d.workgroup = {64, 1, 1};
    d.kernarg_address = arguments;
    d.packet_address = arguments;
    gfx942::Limits limits;
    limits.instructions = 20000;
    const gfx942::Outcome outcome = gfx942::run(program, d, memory, limits);
    const auto* fault = std::get_if<gfx942::Fault>(&outcome);
    if (fault != nullptr && fault->text.empty()) ended.errors_have_text = false;
  }
  return ended;
}

TEST(HostileCode, TheImageItselfLoadsAndRuns) {
  const Ended ended = load_and_run(image());
  EXPECT_TRUE(ended.loaded);
  EXPECT_TRUE(ended.errors_have_text);
}

RC_GTEST_PROP(HostileCode, RandomInstructionsRunToSomeOutcome, ()) {
  std::vector<std::byte> bytes = image();
  const auto loaded = gfx942::Program::load(bytes, kBase);
  const auto& segments = std::get<gfx942::Program>(loaded).segments();
  u64 state = *rc::gen::arbitrary<u64>();
  const u32 kept = *rc::gen::inRange<u32>(0, 8);
  // The code starts where the executable segment's bytes are in the file.
  for (const gfx942::LoadedSegment& s : segments) {
    if (!s.executable) continue;
    const auto at = std::search(bytes.begin(), bytes.end(), s.bytes.begin(), s.bytes.end());
    RC_ASSERT(at != bytes.end());
    for (std::size_t i = 0; i < s.bytes.size(); ++i) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      if ((state >> 40 & 7) >= kept) *(at + static_cast<std::ptrdiff_t>(i)) = static_cast<std::byte>(state >> 56);
    }
  }
  const Ended ended = load_and_run(bytes);
  RC_ASSERT(ended.loaded);
  RC_ASSERT(ended.errors_have_text);
}

RC_GTEST_PROP(HostileCode, ADamagedImageIsAnErrorOrAProgram, ()) {
  std::vector<std::byte> bytes = image();
  const u32 changes = *rc::gen::inRange<u32>(1, 40);
  for (u32 i = 0; i < changes; ++i) {
    // Half of the damage goes to the headers and tables, which are at the front.
    const bool front = *rc::gen::arbitrary<bool>();
    const std::size_t at = *rc::gen::inRange<std::size_t>(0, front ? 1024 : bytes.size());
    bytes[at] = static_cast<std::byte>(*rc::gen::arbitrary<u8>());
  }
  const Ended ended = load_and_run(bytes);
  RC_CLASSIFY(ended.loaded, "loaded");
  RC_ASSERT(ended.errors_have_text);
}

RC_GTEST_PROP(HostileCode, ACutImageIsAnErrorOrAProgram, ()) {
  std::vector<std::byte> bytes = image();
  bytes.resize(*rc::gen::inRange<std::size_t>(0, bytes.size()));
  const Ended ended = load_and_run(bytes);
  RC_CLASSIFY(ended.loaded, "loaded");
  RC_ASSERT(ended.errors_have_text);
}

}  // namespace
