// The generator: valid programs only, every feature, the same program from the same choices on every machine.
// Not verified here: that generated programs are free of data races; the model says so in executor_test.cpp.
#include "verify/generate/generator.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "programs.h"
#include "verify/program/blocks.h"
#include "verify/program/coverage.h"
#include "verify/program/features.h"

namespace verify {
namespace {

// FNV-1a of the printed text.
std::uint64_t hash_of(const Program& program) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : print_program(program)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

RC_GTEST_PROP(Generator, EveryGeneratedProgramIsValid, ()) {
  const Program program = *arbitrary_program({.size = *rc::gen::inRange<std::uint32_t>(6, 120)});
  RC_ASSERT(flaw(program) == "");
}

TEST(Generator, EveryProgramOfACampaignIsValid) {
  for (std::uint64_t index = 0; index < 3000; ++index) {
    const Program program = campaign_program(11, index, {.size = index % 5 == 0 ? 100U : 30U});
    ASSERT_EQ(flaw(program), "") << print_program(program);
  }
}

TEST(Generator, EveryCommandNodeTypeArgumentKindAndOtherFeatureIsGenerated) {
  std::vector<std::uint64_t> counts(feature_names().size(), 0);
  for (std::uint64_t index = 0; index < 6000; ++index) count_features(campaign_program(1, index, {}), counts);
  for (std::size_t i = 0; i < counts.size(); ++i) EXPECT_GT(counts[i], 0u) << feature_names()[i];
}

// Blocks of many rounds, for example, are in one of 800 programs, because they take long.
TEST(Generator, AThousandProgramsMissFewFeatures) {
  constexpr std::uint64_t kSeeds = 4;
  std::vector<std::string_view> missed;
  for (std::uint64_t seed = 2; seed < 2 + kSeeds; ++seed) {
    std::vector<std::uint64_t> counts(feature_names().size(), 0);
    for (std::uint64_t index = 0; index < 1000; ++index) count_features(campaign_program(seed, index, {}), counts);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == 0) missed.push_back(feature_names()[i]);
    }
  }
  EXPECT_LE(missed.size(), 6 * kSeeds) << testing::PrintToString(missed);
}

// A contract: a campaign's seed means the same programs on every machine and with every compiler. Changing the
// generator changes these numbers, and then every seed that anybody wrote down means something else.
TEST(Generator, TheSameSeedGivesTheSameProgramOnEveryMachine) {
  struct Pin {
    std::uint64_t seed, index;
    std::uint32_t size;
    std::uint64_t hash;
  };
  constexpr Pin kPins[] = {
      {1, 0, 30, 0x4197feb15ee5e8f5ULL},  {1, 1, 30, 0x4d1ba393e4d4aca7ULL},
      {1, 2, 30, 0x2240b5e8910b2ff6ULL},  {42, 1000, 30, 0xc9a930f51449c1d9ULL},
      {7, 3, 100, 0xaa95b2361e5669dbULL}, {0xffffffffffffffffULL, 5, 10, 0xd2cc29267e06bb84ULL},
  };
  for (const Pin& pin : kPins) {
    EXPECT_EQ(hash_of(campaign_program(pin.seed, pin.index, {.size = pin.size})), pin.hash)
        << "seed " << pin.seed << " index " << pin.index;
  }
}

RC_GTEST_PROP(Generator, AProgramIsAFunctionOfSeedIndexAndOptions, (std::uint64_t seed, std::uint64_t index)) {
  RC_ASSERT(campaign_program(seed, index, {}) == campaign_program(seed, index, {}));
}

TEST(Generator, NeighbouringSeedsAndIndicesGiveDifferentPrograms) {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::uint64_t index = 0; index < 20; ++index) hashes.insert(hash_of(campaign_program(seed, index, {})));
  }
  EXPECT_GE(hashes.size(), 398u);
}

RC_GTEST_PROP(Generator, AnyBytesGiveAValidProgram, (const std::vector<std::uint8_t>& bytes)) {
  ByteChoices choices(bytes);
  RC_ASSERT(flaw(generate_program(choices, {})) == "");
}

TEST(Generator, NoBytesGiveAShortValidProgram) {
  ByteChoices choices({});
  const Program program = generate_program(choices, {.size = 1000});
  EXPECT_EQ(flaw(program), "");
  EXPECT_LE(program.steps.size(), 20u);
}

TEST(Generator, ConstantBytesGiveAValidProgramThatEnds) {
  for (unsigned value = 0; value < 256; ++value) {
    const std::vector<std::uint8_t> bytes(4096, static_cast<std::uint8_t>(value));
    ByteChoices choices(bytes);
    EXPECT_EQ(flaw(generate_program(choices, {.size = 200})), "") << value;
  }
}

RC_GTEST_PROP(Generator, MoreBytesThanAProgramNeedsChangeNothing, (std::vector<std::uint8_t> bytes)) {
  // Long enough that the size bounds the program, not the bytes.
  for (std::uint32_t state = 1; bytes.size() < 20000; state = state * 1664525 + 1013904223)
    bytes.push_back(static_cast<std::uint8_t>(state >> 24));
  ByteChoices choices(bytes);
  const Program program = generate_program(choices, {.size = 10});
  RC_ASSERT(!choices.exhausted());
  bytes.push_back(1);
  ByteChoices more(bytes);
  RC_ASSERT(generate_program(more, {.size = 10}) == program);
}

TEST(Generator, SizeBoundsTheNumberOfCommands) {
  for (const std::uint32_t size : {6U, 30U, 100U, 300U}) {
    for (std::uint64_t index = 0; index < 200; ++index) {
      const Program program = campaign_program(3, index, {.size = size});
      EXPECT_LE(written_form(program).steps.size(), size + size / 5 + 80) << print_program(program);
    }
  }
}

// Forks and joins between streams of one capture, its origin apart, make a circle of three.
bool has_ring(const Program& program) {
  State state;
  std::map<Id, Id> recorded;  // event -> stream
  std::set<std::pair<Id, Id>> waits;
  for (const Step& step : program.steps) {
    if (const auto* record = std::get_if<RecordEvent>(&step.command)) recorded[record->event] = record->stream;
    if (const auto* wait = std::get_if<WaitEvent>(&step.command); wait != nullptr && recorded.contains(wait->event)) {
      waits.emplace(recorded[wait->event], wait->stream);
    }
    if (std::holds_alternative<BeginCapture>(step.command)) waits.clear();
    state.apply(step.command);
    const auto forked = [&](Id stream) {
      const CaptureState* capture = state.capture_of(stream);
      return capture != nullptr && capture->valid && capture->origin != stream;
    };
    for (const auto& [a, b] : waits) {
      for (const auto& [from, c] : waits) {
        if (from != b || a == b || b == c || c == a || !waits.contains({c, a})) continue;
        if (forked(a) && forked(b) && forked(c)) return true;
      }
    }
  }
  return false;
}

// A stream that was captured is captured in another mode, in which an unsafe call is made.
bool has_unsafe_call_in_another_mode(const Program& program) {
  State state;
  std::map<Id, CaptureMode> last;
  std::set<Id> another;  // streams whose open capture has another mode than the one before
  for (const Step& step : program.steps) {
    if (std::holds_alternative<UnsafeCall>(step.command) &&
        std::ranges::any_of(another, [&](Id stream) { return state.capture_of(stream) != nullptr; })) {
      return true;
    }
    const auto* begin = std::get_if<BeginCapture>(&step.command);
    const bool begins = begin != nullptr && state.answer(step.command).status == 0;
    state.apply(step.command);
    if (!begins) continue;
    const auto before = last.find(begin->stream);
    another.erase(begin->stream);
    if (before != last.end() && before->second != begin->mode) another.insert(begin->stream);
    last[begin->stream] = begin->mode;
  }
  return false;
}

TEST(Generator, ForkedStreamsMakeRingsAndCapturesInOtherModesMeetUnsafeCalls) {
  constexpr std::uint64_t kPrograms = 3000;
  std::uint64_t rings = 0, unsafe = 0;
  std::size_t most_streams = 0;
  for (std::uint64_t index = 0; index < kPrograms; ++index) {
    const Program program = campaign_program(12, index, {});
    rings += has_ring(program) ? 1 : 0;
    unsafe += has_unsafe_call_in_another_mode(program) ? 1 : 0;
    most_streams = std::max(most_streams, state_after(program).live_streams().size());
  }
  EXPECT_GE(rings, kPrograms / 1000);
  EXPECT_GE(unsafe, kPrograms / 1000);
  EXPECT_EQ(most_streams, 9u);
  RecordProperty("rings", std::to_string(rings));
  RecordProperty("unsafe", std::to_string(unsafe));
}

// About one program in twelve has mapped memory, and some of these launch a graph over memory that was mapped anew.
TEST(Generator, ProgramsMapMemoryAnewUnderTheirGraphs) {
  constexpr std::uint64_t kPrograms = 3000;
  std::uint64_t maps = 0, anew = 0;
  for (std::uint64_t index = 0; index < kPrograms; ++index) {
    const Program program = campaign_program(13, index, {});
    if (std::ranges::none_of(program.steps, [](const Step& s) { return std::holds_alternative<MapMemory>(s.command); }))
      continue;
    ++maps;
    std::vector<std::uint64_t> pairs(coverage_pairs().size(), 0);
    count_pairs(program, pairs);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const CoveragePair& pair = coverage_pairs()[i];
      if (pair.operation == "launch" && pair.state == "exec: over another mapping") anew += pairs[i] != 0 ? 1 : 0;
    }
  }
  EXPECT_GE(maps, kPrograms / 15);
  EXPECT_LE(maps, kPrograms / 9);
  EXPECT_GE(anew, maps / 12);
}

TEST(Generator, WithoutFailuresNoProgramFailsACall) {
  const GeneratorOptions options{.failures = false};
  for (std::uint64_t index = 0; index < 500; ++index) {
    for (const Step& step : campaign_program(4, index, options).steps) {
      EXPECT_FALSE(arms_failure(step.command));
    }
  }
}

TEST(Generator, AGraphThatMayNotBeRecordedAnewIsNotSet) {
  GeneratorOptions options;
  options.avoid = [](const State& state, const Command& command, Id) {
    const bool makes_a_graph =
        std::holds_alternative<DeclareGraph>(command) || std::holds_alternative<EndCapture>(command);
    return makes_a_graph && !state.execs().empty();
  };
  for (std::uint64_t index = 0; index < 500; ++index) {
    const Program program = campaign_program(11, index, options);
    ASSERT_EQ(flaw(program), "") << print_program(program);
  }
}

TEST(Generator, NoBufferIsLargerThanItWasToldTo) {
  const GeneratorOptions options{.max_buffer_bytes = 256};
  for (std::uint64_t index = 0; index < 500; ++index) {
    for (const Step& step : campaign_program(5, index, options).steps) {
      if (const auto* buffer = std::get_if<DeclareBuffer>(&step.command)) {
        EXPECT_LE(buffer->bytes, 256u);
      }
    }
  }
}

// ---- choices

RC_GTEST_PROP(Choices, AChoiceIsBelowItsBound, (const std::vector<std::uint8_t>& bytes, std::uint64_t bound)) {
  ByteChoices from_bytes(bytes);
  RandomChoices from_random{rc::Random(bound)};
  for (int i = 0; i < 10; ++i) {
    RC_ASSERT(from_bytes.below(bound) < std::max<std::uint64_t>(bound, 1));
    RC_ASSERT(from_random.below(bound) < std::max<std::uint64_t>(bound, 1));
  }
}

TEST(Choices, BytesAreReadLittleEndianAndOnlyAsManyAsTheBoundNeeds) {
  constexpr std::array<std::uint8_t, 4> kBytes = {0x02, 0x34, 0x12, 0x07};
  ByteChoices choices(kBytes);
  EXPECT_EQ(choices.below(256), 0x02u);
  EXPECT_EQ(choices.below(1), 0u);  // no choice, no byte
  EXPECT_EQ(choices.below(0x10000), 0x1234u);
  EXPECT_FALSE(choices.exhausted());
  EXPECT_EQ(choices.below(4), 3u);
  EXPECT_TRUE(choices.exhausted());
  EXPECT_EQ(choices.below(1000), 0u);
}

TEST(Choices, PercentIsAboutThatManyInAHundredAndFalseForAZeroByte) {
  RandomChoices choices{rc::Random(9)};
  for (const unsigned percent : {0U, 5U, 50U, 95U, 100U}) {
    unsigned hits = 0;
    for (int i = 0; i < 10000; ++i) hits += choices.percent(percent) ? 1 : 0;
    EXPECT_NEAR(hits, percent * 100, 200) << percent;
  }
  ByteChoices zero({});
  EXPECT_FALSE(zero.percent(99));
}

TEST(Environments, StatedVariablesStayAndAFewSetsOfOthersAreDrawnAtATime) {
  const Environments none{{{"A", "1"}}, DrawnFrom::kNothing};
  EXPECT_EQ(campaign_environment(none, 7, 123), none.stated);
  const Environments amd{{{"GPU_MAX_HW_QUEUES", "stated"}}, DrawnFrom::kAmd};
  std::set<Environment> all;
  for (std::uint64_t first = 0; first < 50 * kProgramsWithSameSets; first += kProgramsWithSameSets) {
    std::set<Environment> seen;
    for (std::uint64_t index = first; index < first + kProgramsWithSameSets; ++index) {
      seen.insert(campaign_environment(amd, 7, index));
    }
    EXPECT_LE(seen.size(), kSetsAtATime);
    all.insert(seen.begin(), seen.end());
  }
  EXPECT_GT(all.size(), 100u);
  for (const Environment& drawn : all) {
    EXPECT_EQ(drawn.at("GPU_MAX_HW_QUEUES"), "stated");
    for (const auto& [name, value] : drawn) {
      EXPECT_TRUE(is_runtime_setting(name)) << name;
      EXPECT_TRUE(parse_variable(name + "=" + value)) << value;
    }
  }
  EXPECT_NE(campaign_environment({{}, DrawnFrom::kNvidia}, 7, 0).begin()->first.find("CUDA"), std::string::npos);
}

}  // namespace
}  // namespace verify
