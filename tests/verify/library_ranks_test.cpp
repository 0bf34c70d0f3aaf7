// Ranks that share a client's library: the examples that are right are right in every schedule of two preemptions, and
// the example whose objects share a block is found. Each condition that is looked at is broken by a library on purpose,
// which is the mended one but for one function.
#include "verify/execute/library_ranks.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "hip/sync/sync.h"
#include "library_bed.h"
#include "programs.h"
#include "verify/execute/patcher_library.h"
#include "verify/generate/generator.h"
#include "verify/program/text.h"

namespace verify {
namespace {

CommandLibrary example(const std::string& name) {
  const hip::Result<LoadedLibrary> loaded = load_library(EXAMPLES "/" + name + ".so");
  EXPECT_TRUE(loaded);
  return *loaded.value().commands;
}

class RightLibrary : public testing::TestWithParam<const char*> {};

TEST_P(RightLibrary, IsRightInEveryScheduleOfTwoPreemptions) {
  const LibraryRaceResult result = race_library(example(GetParam()));
  EXPECT_FALSE(result.failure) << result.failure->message << "\n" << result.failure->picture;
  EXPECT_EQ(result.unsupported, "");
  EXPECT_TRUE(result.complete);
  EXPECT_GT(result.schedules, 1000U);
}

INSTANTIATE_TEST_SUITE_P(Examples, RightLibrary,
                         testing::Values("mended_commands", "updating_commands", "setting_commands"),
                         [](const auto& test) { return std::string(test.param); });

TEST(SharingCommands, AreFoundWithOnePreemption) {
  const LibraryRaceResult result = race_library(example("sharing_commands"));
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->property, "C6") << result.failure->message;
  EXPECT_EQ(result.failure->schedule.size(), 1U);
  EXPECT_LT(result.schedules, 200U);
  EXPECT_NE(result.failure->picture.find("hipGraphExecKernelNodeSetParams (preempted)"), std::string::npos)
      << result.failure->picture;
  const LibraryRaceResult alone = race_library(example("sharing_commands"), {.bound = 0});
  EXPECT_FALSE(alone.failure) << "without a preemption nothing shows";
}

TEST(SharingCommands, AgreeInProgramsOfOneThread) {
  LibraryBed sharing(EXAMPLES "/sharing_commands.so");
  for (std::uint64_t index = 0; index < 100; ++index) {
    const Program program = campaign_program(42, index, {});
    EXPECT_EQ(sharing.judge(program).verdict, VerdictKind::kAgree) << print_program(program);
  }
}

// ---- the mended library but for one function

class MendedBut : public testing::Test {
 protected:
  MendedBut() { mended = library = example("mended_commands"); }
  ~MendedBut() override { mended = {}; }

  [[nodiscard]] std::string broken(std::size_t bound = 0) const {
    const LibraryRaceResult result = race_library(library, {.bound = bound});
    return result.failure ? result.failure->property : "nothing";
  }

  static inline CommandLibrary mended;  // functions of a library have no context
  CommandLibrary library;
};

TEST_F(MendedBut, NothingIsClean) {
  EXPECT_EQ(broken(), "nothing");
}

TEST_F(MendedBut, AnErrorThatNoCallOfHipAnsweredIsFound) {
  library.launch = [](hgcommands*, hipStream_t, hgcommands_did*) { return hipErrorUnknown; };
  EXPECT_EQ(broken(), "P4");
}

TEST_F(MendedBut, GraphsThatAreLeftAreFound) {
  library.destroy = [](hgcommands*) {};
  EXPECT_EQ(broken(), "P8");
}

TEST_F(MendedBut, ALaunchThatDoesNotHappenIsFound) {
  library.launch = [](hgcommands*, hipStream_t, hgcommands_did*) { return hipSuccess; };
  EXPECT_EQ(broken(), "C6");
}

TEST_F(MendedBut, AStepThatLaunchesTwiceIsFound) {
  library.launch = [](hgcommands* self, hipStream_t stream, hgcommands_did* did) {
    const hipError_t first = mended.launch(self, stream, did);
    return first == hipSuccess ? mended.launch(self, stream, did) : first;
  };
  EXPECT_EQ(broken(), "C6");
}

TEST_F(MendedBut, ACommandThatIsLeftOutIsFound) {
  library.update = [](hgcommands* self, std::size_t index, const hgcommands_command* command) {
    static const hgcommands_command nothing = [] {
      hgcommands_command empty{};
      empty.node.kind = HGPATCHER_EMPTY;
      return empty;
    }();
    return mended.update(self, index, command->node.kind == HGPATCHER_COPY ? &nothing : command);
  };
  EXPECT_EQ(broken(), "P3");
}

TEST_F(MendedBut, ARankThatRefusesAStepOfOthersIsFound) {
  static int launches = 0;
  launches = 0;
  library.launch = [](hgcommands* self, hipStream_t stream, hgcommands_did* did) {
    if (++launches % 2 == 1) return mended.launch(self, stream, did);
    *did = {HGCOMMANDS_REFUSED, 0, "every second one"};
    return hipSuccess;
  };
  EXPECT_EQ(broken(), "C6");
}

TEST_F(MendedBut, ALibraryThatRefusesEveryStepCannotBeJudged) {
  library.launch = [](hgcommands*, hipStream_t, hgcommands_did* did) {
    *did = {HGCOMMANDS_REFUSED, 0, "no graphs today"};
    return hipSuccess;
  };
  const LibraryRaceResult result = race_library(library);
  EXPECT_FALSE(result.failure);
  EXPECT_NE(result.unsupported.find("no graphs today"), std::string::npos) << result.unsupported;
}

TEST_F(MendedBut, AWayThatIsNoneIsFound) {
  library.launch = [](hgcommands* self, hipStream_t stream, hgcommands_did* did) {
    const hipError_t launched = mended.launch(self, stream, did);
    did->way = 99;
    return launched;
  };
  EXPECT_EQ(broken(), "P4");
}

// At the second step the library takes the first one again, with a second object.
TEST_F(MendedBut, AStaleStepBesideTheRightOneIsFound) {
  struct Kept {
    hgcommands* second = nullptr;
    std::deque<std::vector<std::byte>> arguments;
    std::vector<hgcommands_command> commands;  // of the first step
    std::size_t steps = 0;
  };
  static std::map<hgcommands*, Kept> kept;
  kept.clear();
  library.create = [](const hgpatcher_hip* hip, int device, hgcommands** out) {
    const hipError_t made = mended.create(hip, device, out);
    return made == hipSuccess ? mended.create(hip, device, &kept[*out].second) : made;
  };
  library.begin = [](hgcommands* self, std::size_t count, int others) {
    ++kept[self].steps;
    return mended.begin(self, count, others);
  };
  library.update = [](hgcommands* self, std::size_t index, const hgcommands_command* command) {
    if (Kept& of = kept[self]; of.steps == 1) {
      of.commands.push_back(*command);
      if (hgpatcher_node& node = of.commands.back().node; node.kind == HGPATCHER_KERNEL) {
        const auto* bytes = static_cast<const std::byte*>(node.kernel.arguments);
        node.kernel.arguments = of.arguments.emplace_back(bytes, bytes + node.kernel.bytes).data();
      }
      of.commands.back().node.dependencies = nullptr;
      of.commands.back().node.dependency_count = 0;
    }
    return mended.update(self, index, command);
  };
  library.launch = [](hgcommands* self, hipStream_t stream, hgcommands_did* did) {
    if (const Kept& of = kept[self]; of.steps == 2) {
      EXPECT_EQ(mended.begin(of.second, of.commands.size(), 1), hipSuccess);
      for (std::size_t i = 0; i < of.commands.size(); ++i)
        EXPECT_EQ(mended.update(of.second, i, &of.commands[i]), hipSuccess);
      EXPECT_EQ(mended.launch(of.second, stream, did), hipSuccess);
    }
    return mended.launch(self, stream, did);
  };
  library.destroy = [](hgcommands* self) {
    mended.destroy(kept[self].second);
    mended.destroy(self);
  };
  const LibraryRaceResult result = race_library(library, {.bound = 0});
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->property, "C6");
  EXPECT_NE(result.failure->message.find("another step again"), std::string::npos) << result.failure->message;
}

TEST_F(MendedBut, AFunctionThatTheModelLacksIsNamed) {
  library.create = [](const hgpatcher_hip* hip, int, hgcommands**) {
    return hip->find(hip, "hipNoSuchFunction") == nullptr ? hipErrorNotSupported : hipSuccess;
  };
  const LibraryRaceResult result = race_library(library);
  EXPECT_NE(result.unsupported.find("hipNoSuchFunction"), std::string::npos) << result.unsupported;
}

TEST_F(MendedBut, AThreadOfTheLibrarysOwnMayNotCallHip) {
  library.create = [](const hgpatcher_hip* hip, int device, hgcommands** out) {
    hip::sync::Thread own([hip] {
      int now = 0;
      const auto get = reinterpret_cast<hipError_t (*)(int*)>(hip->find(hip, "hipGetDevice"));
      static_cast<void>(get(&now));
    });
    own.join();
    return mended.create(hip, device, out);
  };
  const LibraryRaceResult result = race_library(library);
  EXPECT_NE(result.unsupported.find("thread of its own"), std::string::npos) << result.unsupported;
}

TEST_F(MendedBut, ALaunchThatNeverReturnsIsAHang) {
  library.launch = [](hgcommands*, hipStream_t, hgcommands_did*) {
    for (;;) hip::sync::sleep_for(std::chrono::seconds(1));
    return hipSuccess;
  };
  const LibraryRaceResult result = race_library(library, {.hang_patience = std::chrono::milliseconds(500)});
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->property, "P11");
  EXPECT_TRUE(result.hangs);
}

TEST_F(MendedBut, ALockAroundEveryLaunchIsRightAndIsCounted) {
  static hip::sync::Mutex mutex;
  library.launch = [](hgcommands* self, hipStream_t stream, hgcommands_did* did) {
    const hip::sync::LockGuard lock(mutex);
    return mended.launch(self, stream, did);
  };
  const LibraryRaceResult result = race_library(library, {.bound = 1});
  EXPECT_FALSE(result.failure);
  EXPECT_TRUE(result.complete);
  EXPECT_GT(result.waited, 0U);
}

TEST(RaceLibrary, FourRanksAndABoundOnSchedules) {
  const LibraryRaceResult result = race_library(example("mended_commands"), {.ranks = 4, .schedules = 20});
  EXPECT_FALSE(result.failure);
  EXPECT_EQ(result.schedules, 20U);
  EXPECT_FALSE(result.complete);
}

}  // namespace
}  // namespace verify
