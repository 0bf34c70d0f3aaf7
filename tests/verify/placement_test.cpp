// Where buffers live: the arena against a plain model of memory, and moves that carry contents along.
#include "verify/execute/placement.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "programs.h"
#include "verify/execute/model_platform.h"
#include "verify/generate/generator.h"
#include "verify/program/state_devices.h"

namespace verify {
namespace {

constexpr hip::DeviceAddress kBase = 0x10000;
constexpr std::uint64_t kUnit = 256;
constexpr std::size_t kUnits = 24;

// The arena as a row of units, each with its owner. Finds the best gap by looking at all of them.
class Row {
 public:
  std::optional<std::size_t> best_gap(std::size_t units) const {
    std::optional<std::size_t> best;
    std::size_t best_length = 0;
    for (std::size_t at = 0; at < owner_.size();) {
      std::size_t end = at;
      while (end < owner_.size() && owner_[end] == owner_[at]) ++end;
      if (owner_[at] == 0 && end - at >= units && (!best || end - at < best_length)) {
        best = at;
        best_length = end - at;
      }
      at = end;
    }
    return best;
  }
  void take(std::size_t at, std::size_t units, int owner) {
    std::fill_n(owner_.begin() + static_cast<std::ptrdiff_t>(at), units, owner);
  }
  [[nodiscard]] bool is_free(std::size_t at, std::size_t units) const {
    return std::all_of(owner_.begin() + static_cast<std::ptrdiff_t>(at),
                       owner_.begin() + static_cast<std::ptrdiff_t>(at + units), [](int owner) { return owner == 0; });
  }

 private:
  std::vector<int> owner_ = std::vector<int>(kUnits, 0);
};

struct Held {
  hip::DeviceAddress address;
  std::uint64_t bytes;
};

RC_GTEST_PROP(BestFit, AllocatesTheLowestOfTheSmallestGapsThatFitAndGivesEverythingBack, ()) {
  BestFit arena(kBase, kUnits * kUnit);
  Row row;
  std::vector<Held> held;
  const int steps = *rc::gen::inRange(1, 60);
  for (int step = 0; step < steps; ++step) {
    if (held.empty() || *rc::gen::inRange(0, 100) < 60) {
      const std::uint64_t bytes = *rc::gen::inRange<std::uint64_t>(1, 6 * kUnit);
      const std::size_t units = (bytes + kUnit - 1) / kUnit;
      const std::optional<hip::DeviceAddress> address = arena.allocate(bytes);
      const std::optional<std::size_t> gap = row.best_gap(units);
      RC_ASSERT(address.has_value() == gap.has_value());
      if (!gap) continue;
      RC_ASSERT(*address == kBase + *gap * kUnit);
      RC_ASSERT(row.is_free(*gap, units));
      row.take(*gap, units, step + 1);
      held.push_back({*address, bytes});
    } else {
      const auto at = *rc::gen::inRange<std::size_t>(0, held.size());
      arena.release(held[at].address, held[at].bytes);
      row.take((held[at].address - kBase) / kUnit, (held[at].bytes + kUnit - 1) / kUnit, 0);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  for (const Held& one : held) arena.release(one.address, one.bytes);
  // Coalesced: the whole arena is one gap again.
  RC_ASSERT(arena.allocate(kUnits * kUnit) == std::optional<hip::DeviceAddress>(kBase));
}

TEST(BestFit, AnAddressThatWasFreedComesBack) {
  BestFit arena(kBase, 4 * kUnit);
  const auto first = arena.allocate(100);
  arena.release(*first, 100);
  EXPECT_EQ(arena.allocate(200), first);
}

TEST(BestFit, WithoutReuseNoAddressComesBack) {
  BestFit arena(kBase, 4 * kUnit);
  arena.never_reuse();
  std::set<hip::DeviceAddress> seen;
  for (int i = 0; i < 4; ++i) {
    const auto address = arena.allocate(1);
    ASSERT_TRUE(address);
    EXPECT_TRUE(seen.insert(*address).second);
    arena.release(*address, 1);
  }
  EXPECT_FALSE(arena.allocate(1));
}

TEST(BestFit, SizesAreRoundedUpToWholePlaces) {
  EXPECT_EQ(BestFit::rounded(1), kUnit);
  EXPECT_EQ(BestFit::rounded(kUnit), kUnit);
  EXPECT_EQ(BestFit::rounded(kUnit + 1), 2 * kUnit);
}

// ---- buffers

// A platform between enter() and leave().
template <class Platform = ModelPlatform>
struct Entered {
  explicit Entered(Id devices = 1) {
    static_cast<void>(platform.need_devices(devices));
    platform.enter();
    platform.begin(0);
  }
  ~Entered() { platform.leave(); }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  Platform platform;
};

std::vector<std::byte> pattern(Id buffer, std::uint64_t seed, std::uint64_t bytes) {
  std::vector<std::byte> content(bytes);
  fill_pattern(buffer, seed, content);
  return content;
}

std::vector<std::byte> content_of(BufferMemory& memory, Id buffer) {
  std::vector<std::byte> bytes;
  EXPECT_TRUE(memory.read(buffer, bytes).ok());
  return bytes;
}

struct Buffers : testing::TestWithParam<Placement> {
  void declare_three(MemoryKind kind = MemoryKind::kDevice) {
    for (Id id = 0; id < 3; ++id) ASSERT_TRUE(memory.declare(id, kBytes[id], kind).ok());
  }
  void expect_contents() {
    for (Id id = 0; id < 3; ++id) EXPECT_EQ(content_of(memory, id), pattern(id, 0, kBytes[id])) << id;
  }

  static constexpr std::uint64_t kBytes[3] = {300, 300, 64};
  Entered<> entered;
  Program program = program_of(
      "buffer b0 300\nbuffer b1 300\nbuffer b2 64\nbuffer b3 64 memory=pinned\nbuffer b4 64 memory=pageable");
  BufferMemory memory{entered.platform, program, {GetParam(), false}, {}};
};
INSTANTIATE_TEST_SUITE_P(Placement, Buffers, testing::Values(Placement::kArena, Placement::kNative),
                         [](const auto& at) { return at.param == Placement::kArena ? "Arena" : "Native"; });

TEST_P(Buffers, HoldTheirPatternWhenTheyAreDeclared) {
  declare_three();
  expect_contents();
}

TEST_P(Buffers, AMoveGoesElsewhereAndTakesTheContentsAlong) {
  declare_three();
  const hip::DeviceAddress before = memory.address(0);
  ASSERT_TRUE(memory.move({{0, {}}}).ok());
  EXPECT_NE(memory.address(0), before);
  expect_contents();
}

TEST_P(Buffers, ASwapExchangesAddressesAndKeepsContents) {
  declare_three();
  const hip::DeviceAddress a = memory.address(0), b = memory.address(1);
  ASSERT_TRUE(memory.move({{0, 1}, {1, 0}}).ok());
  EXPECT_EQ(memory.address(0), b);
  EXPECT_EQ(memory.address(1), a);
  expect_contents();
}

TEST_P(Buffers, AChainTakesPlacesOverAndTheLastOneGoesElsewhere) {
  declare_three();
  const hip::DeviceAddress b0 = memory.address(0), b1 = memory.address(1);
  ASSERT_TRUE(memory.move({{2, 0}, {0, 1}, {1, {}}}).ok());
  EXPECT_EQ(memory.address(2), b0);
  EXPECT_EQ(memory.address(0), b1);
  EXPECT_NE(memory.address(1), b0);
  EXPECT_NE(memory.address(1), b1);
  expect_contents();
}

TEST_P(Buffers, ACycleAsOftenAsItHasBuffersEndsWhereItBegan) {
  declare_three();
  // All three fit each other's places only when they are as large as the smallest: move b2 into a large place first.
  ASSERT_TRUE(memory.move({{2, 0}, {0, {}}}).ok());
  const std::vector<hip::DeviceAddress> before(memory.addresses().begin(), memory.addresses().begin() + 3);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(memory.move({{0, 1}, {1, 2}, {2, 0}}).ok());
    expect_contents();
  }
  EXPECT_EQ(std::vector<hip::DeviceAddress>(memory.addresses().begin(), memory.addresses().begin() + 3), before);
}

TEST_P(Buffers, HostMemoryMovesAndKeepsContentsToo) {
  for (const auto& [id, kind] : {std::pair{Id{3}, MemoryKind::kPinned}, std::pair{Id{4}, MemoryKind::kPageable}}) {
    ASSERT_TRUE(memory.declare(id, 64, kind).ok());
    const hip::DeviceAddress before = memory.address(id);
    ASSERT_TRUE(memory.write(id, 5).ok());
    ASSERT_TRUE(memory.move({{id, {}}}).ok());
    EXPECT_NE(memory.address(id), before);
    EXPECT_EQ(content_of(memory, id), pattern(id, 5, 64));
  }
}

TEST_P(Buffers, EverythingThatWasAllocatedIsReleased) {
  declare_three();
  ASSERT_TRUE(memory.move({{0, 1}, {1, 0}}).ok());
  ASSERT_TRUE(memory.move({{2, 0}, {0, {}}}).ok());
  ASSERT_TRUE(memory.release(1).ok());
  EXPECT_FALSE(memory.alive(1));
  ASSERT_TRUE(memory.release_everything().ok());
  EXPECT_EQ(entered.platform.leaks(), "");
}

TEST_P(Buffers, NoTwoLiveBuffersOverlapWhateverMoves) {
  declare_three();
  EXPECT_TRUE(rc::check("no overlap", [&] {
    const auto moves = *rc::gen::elementOf(std::vector<std::vector<BufferMove>>{{{0, {}}},
                                                                                {{1, {}}},
                                                                                {{2, {}}},
                                                                                {{0, 1}, {1, 0}},
                                                                                {{0, {}}, {1, {}}, {2, {}}},
                                                                                {{2, 0}, {0, {}}},
                                                                                {{2, 1}, {1, {}}}});
    RC_ASSERT(memory.move(moves).ok());
    for (Id a = 0; a < 3; ++a) {
      for (Id b = 0; b < a; ++b) {
        RC_ASSERT(memory.address(a) + kBytes[a] <= memory.address(b) ||
                  memory.address(b) + kBytes[b] <= memory.address(a));
      }
    }
    for (Id id = 0; id < 3; ++id) RC_ASSERT(content_of(memory, id) == pattern(id, 0, kBytes[id]));
  }));
}

TEST(Placement, InTheArenaAFreedAddressIsUsedAgain) {
  Entered<> entered;
  const Program program = program_of("buffer b0 64\nbuffer b1 64");
  BufferMemory memory(entered.platform, program, {Placement::kArena, false}, {});
  ASSERT_TRUE(memory.declare(0, 64, MemoryKind::kDevice).ok());
  const hip::DeviceAddress address = memory.address(0);
  ASSERT_TRUE(memory.release(0).ok());
  ASSERT_TRUE(memory.declare(1, 64, MemoryKind::kDevice).ok());
  EXPECT_EQ(memory.address(1), address);
}

TEST(Placement, FreshAddressesNeverRepeatEvenWhereAProgramAsksForIt) {
  for (const Placement placement : {Placement::kArena, Placement::kNative}) {
    Entered<> entered;
    const Program program = program_of("buffer b0 64\nbuffer b1 64\nrepeat 20 move b0=@b1 b1=@b0");
    BufferMemory memory(entered.platform, program, {placement, true}, {});
    std::set<hip::DeviceAddress> seen;
    for (Id id = 0; id < 2; ++id) {
      ASSERT_TRUE(memory.declare(id, 64, MemoryKind::kDevice).ok());
      EXPECT_TRUE(seen.insert(memory.address(id)).second);
    }
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(memory.move({{0, 1}, {1, 0}}).ok());
      EXPECT_TRUE(seen.insert(memory.address(0)).second);
      EXPECT_TRUE(seen.insert(memory.address(1)).second);
    }
    EXPECT_EQ(content_of(memory, 0), pattern(0, 0, 64));
  }
}

// A model that refuses the `refused`-th allocation from now on.
class RefusingPlatform : public ModelPlatform {
 public:
  RefusingPlatform() {
    table_.hipMalloc = [](void** memory, std::size_t bytes) {
      return --refused == 0 ? hipErrorOutOfMemory : model::abi::InProcess::api().hipMalloc(memory, bytes);
    };
  }
  [[nodiscard]] const hip::Api& api() const override { return table_; }
  static inline int refused = 0;

 private:
  hip::Api table_ = model::abi::InProcess::api();
};

TEST(Placement, AMoveOfWhichOnePlaceIsRefusedLeavesNothingBehind) {
  Entered<RefusingPlatform> entered;
  const Program program = program_of("buffer b0 64\nbuffer b1 64");
  BufferMemory memory(entered.platform, program, {Placement::kNative, false}, {});
  for (Id id = 0; id < 2; ++id) ASSERT_TRUE(memory.declare(id, 64, MemoryKind::kDevice).ok());
  AddressScript script = memory.script();
  RefusingPlatform::refused = 2;
  EXPECT_FALSE(memory.move({{0, {}}, {1, {}}}).ok());
  EXPECT_EQ(memory.script(), script);
  ASSERT_TRUE(memory.move({{0, {}}, {1, {}}}).ok());
  script.insert(script.end(), {memory.address(0), memory.address(1)});
  EXPECT_EQ(memory.script(), script);
  ASSERT_TRUE(memory.release_everything().ok());
  EXPECT_EQ(entered.platform.leaks(), "");
}

TEST(Placement, WhatTheScriptNoLongerCoversIsPlacedByThePlatformItself) {
  Entered<> entered;
  const Program program = program_of("buffer b0 64\nbuffer b1 64");
  BufferMemory memory(entered.platform, program, {Placement::kNative, false}, {0x7f0000000000});
  EXPECT_TRUE(memory.declare(0, 64, MemoryKind::kDevice).ok());
  EXPECT_EQ(memory.address(0), 0x7f0000000000u);
  EXPECT_TRUE(memory.declare(1, 64, MemoryKind::kDevice).ok());
  EXPECT_NE(memory.address(1), memory.address(0));
}

// All addresses that a run of the memory commands of `program` gives its buffers, in order.
std::vector<hip::AddressTable> lay_out(const Program& program, const AddressScript& script, AddressScript* out) {
  Entered<> entered(devices_needed(program));
  BufferMemory memory(entered.platform, program, {program.setting.placement, false}, script);
  std::vector<hip::AddressTable> layouts;
  for (const Step& step : program.steps) {
    for (std::uint32_t k = 0; k < step.repeat; ++k) {
      hip::Status status;
      if (const auto* c = std::get_if<DeclareBuffer>(&step.command))
        status = c->symbol ? memory.declare_symbol(c->buffer, c->bytes, *c->symbol)
                           : memory.declare(c->buffer, c->bytes, c->memory, c->device);
      if (const auto* c = std::get_if<MoveBuffers>(&step.command)) status = memory.move(c->moves);
      if (const auto* c = std::get_if<Free>(&step.command)) status = memory.release(c->buffer);
      RC_ASSERT(status.ok());
    }
    layouts.push_back(memory.addresses());
  }
  if (out != nullptr) *out = memory.script();
  RC_ASSERT(memory.release_everything().ok());
  return layouts;
}

RC_GTEST_PROP(Placement, ABaselineThatIsLaidOutByTheSubjectsScriptHasEqualAddressesThroughout, ()) {
  const Program program = *arbitrary_program({});
  AddressScript script;
  const std::vector<hip::AddressTable> subject = lay_out(program, {}, &script);
  // A platform that has allocated something else before: only the script makes it alike.
  RC_ASSERT(lay_out(program, script, nullptr) == subject);
}

TEST(Placement, WithoutTheScriptAnotherHistoryGivesOtherAddresses) {
  // Shows that the property above is not trivial: on the model, one allocation more changes a program's layout.
  Entered<> entered;
  const Program program = program_of("buffer b0 64");
  void* other = nullptr;
  ASSERT_EQ(entered.platform.api().hipMalloc(&other, 1 << 20), hipSuccess);
  BufferMemory chosen(entered.platform, program, {Placement::kNative, false}, {});
  ASSERT_TRUE(chosen.declare(0, 64, MemoryKind::kDevice).ok());
  Entered<> fresh;
  BufferMemory first(fresh.platform, program, {Placement::kNative, false}, {});
  ASSERT_TRUE(first.declare(0, 64, MemoryKind::kDevice).ok());
  EXPECT_NE(chosen.address(0), first.address(0));
}

TEST(Placement, PatternsDifferByBufferAndSeedAndAgreeOnTheirCommonBytes) {
  EXPECT_NE(pattern(0, 0, 64), pattern(1, 0, 64));
  EXPECT_NE(pattern(0, 0, 64), pattern(0, 1, 64));
  const std::vector<std::byte> longer = pattern(2, 3, 64), shorter = pattern(2, 3, 61);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
}

class Keeping : public ModelPlatform {
 public:
  [[nodiscard]] KeptMemory* kept_memory() override { return &kept; }
  KeptMemory kept;
};

TEST(KeptMemory, TheArenasOfAProgramServeTheNextProgramOfThatSize) {
  Entered<Keeping> entered;
  const auto run = [&](const char* text) {
    const Program program = program_of(text);
    BufferMemory memory(entered.platform, program, {}, {});
    EXPECT_TRUE(memory.declare(0, 300, MemoryKind::kDevice).ok());
    EXPECT_EQ(content_of(memory, 0), pattern(0, 0, 300));
    EXPECT_TRUE(memory.write(0, 7).ok());
    const AddressScript script = memory.script();
    EXPECT_EQ(script.size(), 1U);
    EXPECT_TRUE(memory.release_everything().ok());
    return script;
  };
  const AddressScript first = run("buffer b0 300");
  EXPECT_EQ(run("buffer b0 300"), first);
  EXPECT_NE(run("buffer b0 300\nbuffer b1 4000"), first);
  EXPECT_EQ(run("buffer b0 300"), first);
  EXPECT_FALSE(entered.platform.leaks().empty()) << "kept memory is still the runtime's";
}

// A buffer that was freed goes back to the runtime, and from then on the runtime places.
TEST(KeptMemory, ABufferThatAProgramHadAtItsEndServesTheNextProgramThatHasFreedNothing) {
  Entered<Keeping> entered;
  const Program program = program_of("buffer b0 300\nbuffer b1 300\nfree b0");
  const auto run = [&](bool free_first) {
    BufferMemory memory(entered.platform, program, {.placement = Placement::kNative}, {});
    EXPECT_TRUE(memory.declare(0, 300, MemoryKind::kPinned).ok());
    if (free_first) EXPECT_TRUE(memory.release(0).ok());
    EXPECT_TRUE(memory.declare(1, 300, MemoryKind::kPinned).ok());
    EXPECT_EQ(content_of(memory, 1), pattern(1, 0, 300));
    const hip::AddressTable addresses = memory.addresses();
    EXPECT_TRUE(memory.release_everything().ok());
    return std::set(addresses.begin(), addresses.end());
  };
  const std::set both = run(false);
  EXPECT_EQ(both.size(), 2U);
  EXPECT_EQ(run(false), both);
  run(true);
  int kept = 0;
  while (entered.platform.kept.take({MemoryKind::kPinned, 0}, 300)) ++kept;
  EXPECT_EQ(kept, 2) << "one of both was freed, and the runtime allocated another";
}

TEST(KeptMemory, GivesAnAllocationOnceAndOnlyForItsKindAndSize) {
  KeptMemory kept;
  kept.give({MemoryKind::kPinned, 1}, 8192, 0x1000);
  EXPECT_FALSE(kept.take({MemoryKind::kDevice, 1}, 8192));
  EXPECT_FALSE(kept.take({MemoryKind::kPinned, 0}, 8192));
  EXPECT_FALSE(kept.take({MemoryKind::kPinned, 1}, 8193));
  EXPECT_FALSE(kept.take({MemoryKind::kPinned, 1}, 4096));
  EXPECT_EQ(kept.take({MemoryKind::kPinned, 1}, 8192), hip::DeviceAddress{0x1000});
  EXPECT_FALSE(kept.take({MemoryKind::kPinned, 1}, 8192));
}

}  // namespace
}  // namespace verify
