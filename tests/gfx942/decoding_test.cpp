// Code is decoded when it is first executed: what is decoded, by how many, and where runs of decoded code meet.
#include <elf.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <thread>

#include "gfx942/machine.h"
#include "model/gfx942/code.h"

namespace {

using namespace gfx942_test;

constexpr u64 kBase = 0x7e0000000000;
constexpr u32 kNop = 0xbf800000;
constexpr u32 kEnd = 0xbf810000;
constexpr u32 kIndexOn = 0xbf110100;   // s_set_gpr_idx_on s0, gpr_idx(SRC0)
constexpr u32 kIndexTwo = 0xbf110182;  // s_set_gpr_idx_on 2, gpr_idx(SRC0)
constexpr u32 kIndexOff = 0xbf9c0000;  // s_set_gpr_idx_off
constexpr u32 kMove = 0x7e000301;      // v_mov_b32 v0, v1
constexpr u32 kAddOne = 0x80008100;    // s_add_u32 s0, s0, 1
constexpr u32 kSkip = 0xbf820000;      // s_branch: and the distance

std::unique_ptr<gfx942::Code> code_of(const std::vector<u32>& dwords) {
  auto code = std::make_unique<gfx942::Code>();
  std::vector<std::byte> bytes(dwords.size() * sizeof(u32));
  std::memcpy(bytes.data(), dwords.data(), bytes.size());
  code->add_section(0, std::move(bytes));
  EXPECT_TRUE(code->reserve());
  return code;
}

// Runs one wave from an address, at most so many instructions, and keeps its registers.
struct Walk {
  gfx942::Wave wave;
  u64 clock = 0;
  bool ended = false;

  Walk(const gfx942::Code& code, u64 address, u64 most = 100000) {
    wave.vgpr.resize(gfx942::kVectors + gfx942::kSpareVectors);
    for (u32 i = 0; i < 8; ++i) std::fill_n(wave.vgpr[i].lane, gfx942::kLanes, 100 + i);
    wave.set_pair(gfx942::kExec, ~u64{0});
    wave.sgpr[0] = 2;
    wave.code = &code;
    wave.clock = &clock;
    wave.pc = code.index_of(address);
    while (clock < most && wave.state == gfx942::WaveState::kReady) {
      const gfx942::Instruction& in = code.instructions()[wave.pc++];
      ++clock;
      in.handler(wave, in);
    }
    ended = wave.state == gfx942::WaveState::kEnded;
  }
};

// The outcome of a walk from an entry, read dword by dword; of the instructions above, without kIndexOn.
struct Expected {
  u32 sum = 2, moved = 100, steps = 0;  // s0, v0 and the instructions
  bool branch_in_mode = false;          // the walk ends with a fault there

  Expected(const std::vector<u32>& dwords, std::size_t entry) {
    bool mode = false;
    for (std::size_t at = entry; at < dwords.size() && !branch_in_mode; ++at) {
      const u32 dword = dwords[at];
      ++steps;
      if (dword == kAddOne) ++sum;
      if (dword == kMove) moved = mode ? 103 : 101;
      if (dword == kIndexTwo) mode = true;
      if (dword == kIndexOff) mode = false;
      if (dword == kEnd) break;
      if (dword >> 16 != kSkip >> 16) continue;
      branch_in_mode = mode;
      at += dword & 0xffff;
    }
  }
  [[nodiscard]] bool is(const Walk& walk) const {
    const bool faulted = walk.wave.state == gfx942::WaveState::kFaulted;
    return (branch_in_mode ? faulted && walk.wave.fault.kind == gfx942::FaultKind::kUnknown : walk.ended) &&
           walk.wave.sgpr[0] == sum && walk.wave.vgpr[0].lane[0] == moved && walk.clock == steps;
  }
};

// A code object of these segments, each of 8192 bytes of s_nop.
constexpr u64 kSegmentBytes = 8192;
Elf64_Phdr segment_at(u64 address, u32 flags) {
  Elf64_Phdr segment{};
  segment.p_type = PT_LOAD;
  segment.p_flags = flags;
  segment.p_offset = kSegmentBytes;
  segment.p_vaddr = address;
  segment.p_filesz = segment.p_memsz = kSegmentBytes;
  return segment;
}
std::vector<std::byte> object_of(const std::vector<Elf64_Phdr>& segments) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = 224;  // AMDGPU
  header.e_flags = 0x4c;   // gfx942
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<u16>(segments.size());
  std::vector<std::byte> bytes(2 * kSegmentBytes);
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), segments.data(), segments.size() * sizeof(Elf64_Phdr));
  for (u64 at = kSegmentBytes; at < bytes.size(); at += sizeof(u32)) {
    std::memcpy(bytes.data() + at, &kNop, sizeof(u32));
  }
  return bytes;
}
// The text of the error, or empty.
std::string refused(const std::vector<Elf64_Phdr>& segments) {
  const auto loaded = gfx942::Program::load(object_of(segments), kBase);
  const auto* error = std::get_if<gfx942::LoadError>(&loaded);
  return error == nullptr ? "" : error->text;
}

gfx942::Program load(u64 base, const gfx942::Program* twin = nullptr) {
  return std::get<gfx942::Program>(gfx942::Program::load(file_bytes(WORKGROUPS_O1), base, twin));
}

TEST(Decoding, NothingIsDecodedBeforeItIsExecuted) {
  const gfx942::Program program = load(kBase);
  EXPECT_EQ(program.code().decoded(), 0u);
  std::size_t bytes = 0;
  for (const gfx942::LoadedSegment& s : program.segments()) bytes += s.executable ? s.bytes.size() : 0;
  const gfx942::Kernel& kernel = program.kernels()[0];
  EXPECT_NE(program.code().index_of(kernel.entry - program.base()), gfx942::kNoTarget);
  EXPECT_GT(program.code().decoded(), 0u);
  EXPECT_LT(program.code().decoded(), bytes / 8 / 2);  // an instruction takes at most 8 bytes: not even half
}

TEST(Decoding, LoadsOfTheSameBytesShareOneCode) {
  const gfx942::Program twin = load(0);
  const gfx942::Program first = load(kBase, &twin);
  const gfx942::Program second = load(kBase + 0x10000000, &twin);
  EXPECT_EQ(&first.code(), &twin.code());
  EXPECT_EQ(&second.code(), &twin.code());
  EXPECT_NE(&load(kBase).code(), &twin.code());
  const u64 entry = first.kernels()[0].entry - first.base();
  const u32 slot = first.code().index_of(entry);
  const u32 decoded = twin.code().decoded();
  EXPECT_EQ(second.code().index_of(second.kernels()[0].entry - second.base()), slot);
  EXPECT_EQ(twin.code().decoded(), decoded);
}

TEST(Decoding, DroppedBytesLeaveAddressesAndSizes) {
  gfx942::Program program = load(kBase);
  const std::size_t size = program.segments()[0].bytes.size();
  ASSERT_GT(size, 0u);
  program.drop_bytes();
  EXPECT_EQ(program.segments()[0].size, size);
  EXPECT_TRUE(program.segments()[0].bytes.empty());
  EXPECT_NE(program.code().index_of(program.kernels()[0].entry - kBase), gfx942::kNoTarget);
}

TEST(Decoding, AJointIsNoInstruction) {
  std::vector<u32> dwords(3000, kNop);
  dwords.push_back(kEnd);
  const auto code = code_of(dwords);
  const Walk whole(*code, 0);
  EXPECT_TRUE(whole.ended);
  EXPECT_EQ(whole.clock, 3001u);
  EXPECT_GT(code->decoded(), 3001u);  // the joints
}

TEST(Decoding, ARunEndsWhereDecodedCodeBegins) {
  const auto code = code_of({kAddOne, kAddOne, kAddOne, kEnd});
  const Walk middle(*code, 8);
  EXPECT_EQ(middle.wave.sgpr[0], 3u);
  EXPECT_EQ(code->decoded(), 2u);
  const Walk whole(*code, 0);
  EXPECT_EQ(whole.wave.sgpr[0], 5u);
  EXPECT_EQ(whole.clock, 4u);
  EXPECT_EQ(code->decoded(), 5u);  // two more, and the joint
}

TEST(Decoding, AJumpIntoGprIndexModeAndTheModeItselfEachGetTheirInstruction) {
  const std::vector<u32> dwords = {kIndexOn, kMove, kIndexOff, kEnd};
  const auto plain_first = code_of(dwords);
  EXPECT_EQ(Walk(*plain_first, 4).wave.vgpr[0].lane[0], 101u);
  EXPECT_EQ(Walk(*plain_first, 0).wave.vgpr[0].lane[0], 103u);
  EXPECT_EQ(Walk(*plain_first, 4).wave.vgpr[0].lane[0], 101u);
  const auto indexed_first = code_of(dwords);
  EXPECT_EQ(Walk(*indexed_first, 0).wave.vgpr[0].lane[0], 103u);
  EXPECT_EQ(Walk(*indexed_first, 4).wave.vgpr[0].lane[0], 101u);
}

TEST(Decoding, GprIndexModeGoesOnInTheNextRun) {
  std::vector<u32> dwords(700, kNop);
  dwords.front() = kIndexOn;
  dwords.insert(dwords.end(), {kMove, kIndexOff, kEnd});
  const auto code = code_of(dwords);
  EXPECT_EQ(Walk(*code, 700 * 4).wave.vgpr[0].lane[0], 101u);
  EXPECT_EQ(Walk(*code, 0).wave.vgpr[0].lane[0], 103u);
}

// A run ends after 512 instructions: each of these instructions comes to stand before, at and behind the joint.
TEST(Decoding, EveryInstructionOfGprIndexModeMayStandWhereTwoRunsMeet) {
  const std::vector<std::vector<u32>> tails = {
      {kIndexOff, kMove, kEnd},
      {kMove, kIndexOff, kEnd},
      {kIndexTwo, kMove, kIndexOff, kEnd},
      {kIndexOff, kIndexTwo, kMove, kIndexOff, kEnd},
      {kNop, kMove, kIndexOff, kMove, kEnd},
      {kAddOne, kIndexOff, kSkip | 1, kMove, kEnd},
      {kSkip, kIndexOff, kEnd},
      {kEnd},
  };
  for (const bool mode : {true, false}) {
    for (std::size_t distance = 508; distance <= 516; ++distance) {
      for (const std::vector<u32>& tail : tails) {
        std::vector<u32> dwords(distance, kNop);
        dwords.front() = mode ? kIndexTwo : kNop;
        dwords.insert(dwords.end(), tail.begin(), tail.end());
        for (const std::size_t first : {std::size_t{0}, distance - 1, distance, distance + tail.size() - 1}) {
          const auto code = code_of(dwords);
          EXPECT_TRUE(Expected(dwords, first).is(Walk(*code, first * 4))) << distance << " from " << first;
          EXPECT_TRUE(Expected(dwords, 0).is(Walk(*code, 0))) << distance << " after " << first;
          EXPECT_TRUE(Expected(dwords, first).is(Walk(*code, first * 4))) << distance << " again from " << first;
        }
      }
    }
  }
}

TEST(Decoding, ExecutableSegmentsThatOverlapOrStartBetweenDwordsAreRefused) {
  constexpr u32 kCode = PF_R | PF_X;
  EXPECT_EQ(refused({segment_at(0, kCode), segment_at(kSegmentBytes, kCode)}), "");
  EXPECT_EQ(refused({segment_at(0, kCode), segment_at(kSegmentBytes - 4, kCode)}), "two executable segments overlap");
  EXPECT_EQ(refused({segment_at(kSegmentBytes - 4, kCode), segment_at(0, kCode)}), "two executable segments overlap");
  EXPECT_EQ(refused({segment_at(0, kCode), segment_at(kSegmentBytes - 4, PF_R)}), "");
  EXPECT_EQ(refused({segment_at(4, kCode)}), "");
  EXPECT_EQ(refused({segment_at(2, kCode)}), "an executable segment at an address that is no multiple of 4");
  EXPECT_EQ(refused({segment_at(2, PF_R)}), "");
}

// Program::load() refuses such code: the section that is looked at first has no instruction where the run goes on.
TEST(Decoding, AJointThatLeadsToNoInstructionEndsTheLaunch) {
  std::vector<std::byte> bytes(kSegmentBytes);
  for (u64 at = 0; at < bytes.size(); at += sizeof(u32)) std::memcpy(bytes.data() + at, &kNop, sizeof(u32));
  gfx942::Code code;
  code.add_section(2, bytes);
  code.add_section(0, bytes);
  ASSERT_TRUE(code.reserve());
  const Walk walk(code, 0);
  EXPECT_EQ(walk.wave.state, gfx942::WaveState::kFaulted);
  EXPECT_EQ(walk.wave.fault.kind, gfx942::FaultKind::kControlFlow);
  EXPECT_EQ(walk.wave.fault.text, "no instruction starts at 0x800");
  EXPECT_EQ(walk.clock, 512u);
}

TEST(Decoding, OutsideOfTheCodeAndBetweenDwordsNoInstructionStarts) {
  const auto code = code_of({kNop, kEnd});
  EXPECT_EQ(code->index_of(8), gfx942::kNoTarget);
  EXPECT_EQ(code->index_of(2), gfx942::kNoTarget);
  EXPECT_NE(code->index_of(4), gfx942::kNoTarget);
  const auto open = code_of({kNop, kNop});
  EXPECT_EQ(Walk(*open, 0).wave.fault.kind, gfx942::FaultKind::kControlFlow);
  EXPECT_EQ(Walk(*code_of({kSkip | 100}), 0).wave.fault.kind, gfx942::FaultKind::kControlFlow);
}

// Entries in any order: each walk does what lies behind its entry, and no slot is out of bounds. A branch ends a run,
// so half of the code has none: runs meet at joints there.
RC_GTEST_PROP(Decoding, TheOrderOfEntriesDoesNotMatter, ()) {
  const u32 size = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<u32>(2, 3000));
  std::vector<u32> dwords(size, kNop);
  const bool branches = *rc::gen::arbitrary<bool>();
  u64 state = *rc::gen::arbitrary<u64>();
  const auto next = [&state] { return (state = state * 6364136223846793005ull + 1442695040888963407ull) >> 40; };
  for (u32 i = 0; i + 1 < size; ++i) {
    const u32 kind = next() % 16;
    if (kind < 4) dwords[i] = kAddOne;
    if (kind < 2 && branches) dwords[i] = kSkip | static_cast<u32>(next() % std::min<u64>(size - i - 1, 40));
    if (kind >= 4 && kind < 8) dwords[i] = kIndexOff;
    if (kind >= 8 && kind < 11) dwords[i] = kIndexTwo;
    if (kind == 11 || kind == 12) dwords[i] = kMove;
  }
  dwords.back() = kEnd;
  const auto code = code_of(dwords);
  for (u32 walks = 0; walks < 20; ++walks) {
    const u32 entry = static_cast<u32>(next() % size);
    RC_ASSERT(Expected(dwords, entry).is(Walk(*code, entry * 4)));
    RC_ASSERT(code->decoded() <= size * 4);
  }
}

TEST(Decoding, ThreadsThatMeetInNewCodeAgree) {
  std::vector<u32> dwords;
  for (u32 i = 0; i < 2000; ++i) dwords.insert(dwords.end(), {kAddOne, kSkip | 1, kEnd});
  dwords.push_back(kEnd);
  for (u32 round = 0; round < 20; ++round) {
    const auto code = code_of(dwords);
    std::vector<u32> sums(4);
    std::vector<std::thread> threads;
    for (u32 t = 0; t < sums.size(); ++t) {
      threads.emplace_back([&, t] { sums[t] = Walk(*code, t % 2 * 12 * 500).wave.sgpr[0]; });
    }
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(sums, (std::vector<u32>{2002, 1502, 2002, 1502}));
    EXPECT_EQ(Walk(*code, 0).clock, 4001u);
  }
}

}  // namespace
