// hip::TraceCache with traces that log their calls and can be made to fail. The explorer checks several threads at once
// (verify/race/scenarios/trace_cache.cpp), with the cache's sequential model.
#include "hip/trace_cache.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "hip/host_backend.h"

namespace {

using hip::TraceBuffer;
using hip::TraceOutcome;
using Recorded = hip::Result<std::unique_ptr<hip::Trace>>;

// The failures that the traces of a test are told to make, and the log of their calls.
struct Script {
  bool refuse_patch = false, fail_record = false, fail_launch = false;
  int live = 0;
  std::string log;
};

class ScriptedTrace final : public hip::Trace {
 public:
  explicit ScriptedTrace(Script& script) : script_(script) { ++script.live; }
  ~ScriptedTrace() override { --script_.live; }
  hip::Status patch(std::span<const TraceBuffer> buffers) override {
    script_.log += "patch@" + std::to_string(buffers[0].address) + " ";
    if (script_.refuse_patch) return hip::Error{hipErrorNotSupported, "refused"};
    return {};
  }
  hip::Status launch(const hip::StreamRef&) override {
    script_.log += "launch ";
    if (script_.fail_launch) return hip::Error{hipErrorLaunchFailure, "failed"};
    return {};
  }

 private:
  Script& script_;
};

struct TraceCache : testing::Test {
  static hip::TraceCache::Recorder recorder(Script& script) {
    return [&script](std::span<const TraceBuffer>) -> Recorded {
      script.log += "record ";
      if (script.fail_record) return hip::Error{hipErrorOutOfMemory, "failed"};
      return std::unique_ptr<hip::Trace>(new ScriptedTrace(script));
    };
  }
  hip::Result<TraceOutcome> step(hip::TraceCache& cache, std::uint64_t command, std::vector<TraceBuffer> buffers) {
    return step(cache, command, buffers, recorder(script_));
  }
  hip::Result<TraceOutcome> step(hip::TraceCache& cache, std::uint64_t command, std::vector<TraceBuffer> buffers,
                                 const hip::TraceCache::Recorder& recorder) {
    return cache.execute(command, buffers, hip::StreamRef::of_default(api_), recorder);
  }
  std::string taken_log() { return std::exchange(script_.log, {}); }

  const hip::Api api_ = hip::host_api();
  Script script_;
};

TEST_F(TraceCache, BuffersWhereTheyWereAreAHitMovedOnesArePatchedAndOthersAreRecorded) {
  hip::TraceCache cache;
  EXPECT_EQ(step(cache, 1, {{7, 100}, {8, 200}}).value(), TraceOutcome::kRecorded);
  EXPECT_EQ(taken_log(), "record launch ");
  EXPECT_EQ(step(cache, 1, {{7, 100}, {8, 200}}).value(), TraceOutcome::kHit);
  EXPECT_EQ(taken_log(), "launch ");
  EXPECT_EQ(step(cache, 1, {{7, 300}, {8, 200}}).value(), TraceOutcome::kPatched);
  EXPECT_EQ(taken_log(), "patch@300 launch ");
  EXPECT_EQ(step(cache, 1, {{7, 300}, {8, 200}}).value(), TraceOutcome::kHit);
  EXPECT_EQ(step(cache, 2, {{7, 300}, {8, 200}}).value(), TraceOutcome::kRecorded);
  EXPECT_EQ(step(cache, 1, {{7, 300}}).value(), TraceOutcome::kRecorded);
  EXPECT_EQ(std::tuple(cache.counts().hits, cache.counts().patched, cache.counts().recorded), std::tuple(2u, 1u, 3u));
}

// A3: two buffers that exchange their addresses, and an address that next belongs to another buffer.
TEST_F(TraceCache, AnAddressThatBelongsToAnotherBufferNowIsAMiss) {
  hip::TraceCache cache;
  EXPECT_EQ(step(cache, 1, {{7, 100}}).value(), TraceOutcome::kRecorded);
  EXPECT_EQ(step(cache, 1, {{9, 100}}).value(), TraceOutcome::kRecorded);
  EXPECT_EQ(step(cache, 1, {{7, 100}, {8, 200}}).value(), TraceOutcome::kRecorded);
  EXPECT_EQ(step(cache, 1, {{7, 200}, {8, 100}}).value(), TraceOutcome::kPatched);
  cache.forget(7);
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(script_.live, 1);
  EXPECT_EQ(step(cache, 1, {{9, 100}}).value(), TraceOutcome::kHit);
}

TEST_F(TraceCache, TheOneThatWasNotExecutedForLongestGoesPastTheBound) {
  hip::TraceCache cache({.max_traces = 2});
  for (const std::uint64_t command : {1, 2, 1, 3}) ASSERT_TRUE(step(cache, command, {{7, 100}}).ok());
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_EQ(script_.live, 2);
  EXPECT_EQ(cache.counts().evicted, 1u);
  EXPECT_EQ(step(cache, 1, {{7, 100}}).value(), TraceOutcome::kHit);
  EXPECT_EQ(step(cache, 2, {{7, 100}}).value(), TraceOutcome::kRecorded);
}

TEST_F(TraceCache, WhatCannotBePatchedIsRecordedAgain) {
  hip::TraceCache cache;
  ASSERT_TRUE(step(cache, 1, {{7, 100}}).ok());
  script_.refuse_patch = true;
  taken_log();
  EXPECT_EQ(step(cache, 1, {{7, 300}}).value(), TraceOutcome::kRecorded);
  EXPECT_EQ(taken_log(), "patch@300 record launch ");
  EXPECT_EQ(cache.counts().refused, 1u);
  EXPECT_EQ(script_.live, 1);
  EXPECT_EQ(step(cache, 1, {{7, 300}}).value(), TraceOutcome::kHit);
}

TEST_F(TraceCache, AStepThatFailsIsAnsweredAndLeavesNothingThatIsTakenForATrace) {
  hip::TraceCache cache;
  script_.fail_record = true;
  EXPECT_EQ(step(cache, 1, {{7, 100}}).error().code, hipErrorOutOfMemory);
  EXPECT_EQ(cache.size(), 0u);
  script_.fail_record = false;
  EXPECT_EQ(step(cache, 1, {{7, 100}}).value(), TraceOutcome::kRecorded);
  script_.fail_launch = true;
  EXPECT_EQ(step(cache, 1, {{7, 100}}).error().code, hipErrorLaunchFailure);
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(script_.live, 0);
  script_.fail_launch = false;
  EXPECT_EQ(step(cache, 1, {{7, 100}}).value(), TraceOutcome::kRecorded);
  EXPECT_EQ(cache.counts().failed, 2u);
}

// "If the two are not one: copy." Whoever looks only at where its buffers were would never see the copy.
TEST_F(TraceCache, ACommandThatEnqueuesNothingIsRememberedForThosePlacesAlone) {
  hip::TraceCache cache;
  const hip::TraceCache::Recorder nothing = [](std::span<const TraceBuffer>) { return std::unique_ptr<hip::Trace>(); };
  EXPECT_EQ(step(cache, 1, {{7, 100}}, nothing).value(), TraceOutcome::kRecorded);
  EXPECT_EQ(step(cache, 1, {{7, 100}}, nothing).value(), TraceOutcome::kHit);
  EXPECT_EQ(step(cache, 1, {{7, 200}}, nothing).value(), TraceOutcome::kRecorded);
  EXPECT_EQ(cache.counts().refused, 0u) << "nobody was asked to patch it";
  EXPECT_EQ(step(cache, 1, {{7, 300}}).value(), TraceOutcome::kRecorded);
  EXPECT_EQ(step(cache, 1, {{7, 200}}, nothing).value(), TraceOutcome::kPatched);
}

TEST_F(TraceCache, ARecorderMayExecuteOtherTracesAlsoWhereTheyTakeItsPlace) {
  hip::TraceCache cache({.max_traces = 1});
  const hip::TraceCache::Recorder outer = [&](std::span<const TraceBuffer>) -> Recorded {
    EXPECT_EQ(step(cache, 2, {{7, 100}}).value(), TraceOutcome::kRecorded);
    return std::unique_ptr<hip::Trace>(new ScriptedTrace(script_));
  };
  EXPECT_EQ(step(cache, 1, {{7, 100}}, outer).value(), TraceOutcome::kRecorded);
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(script_.live, 1);  // the outer one was evicted while it was recorded
  EXPECT_EQ(step(cache, 2, {{7, 100}}).value(), TraceOutcome::kHit);
}

// C6, with one thread a rank. The first has the trace, the second has not: both record; then both hit.
TEST_F(TraceCache, RanksTakeTheFastWayTogetherOrRecordTogether) {
  hip::ThreadRanks ranks({.ranks = 2});
  Script peers_script;  // outlives the traces that write to it
  hip::TraceCache mine({.ranks = &ranks}), peers({.ranks = &ranks});
  const auto rank = [&](hip::TraceCache& cache, Script& script, std::vector<TraceOutcome>* seen, int steps) {
    for (int i = 0; i < steps; ++i) seen->push_back(step(cache, 1, {{7, 100}}, recorder(script)).value());
  };
  std::vector<TraceOutcome> first, second;
  hip::sync::Thread other([&] {
    rank(peers, peers_script, &second, 1);
    peers.clear();
    rank(peers, peers_script, &second, 2);
  });
  rank(mine, script_, &first, 3);
  other.join();
  const std::vector<TraceOutcome> expected = {TraceOutcome::kRecorded, TraceOutcome::kRecorded, TraceOutcome::kHit};
  EXPECT_EQ(first, expected);
  EXPECT_EQ(second, expected);
  EXPECT_EQ(mine.counts().overruled, 1u);
  EXPECT_EQ(script_.live, 1);
}

// Its collective would wait for a peer that enqueues nothing.
TEST_F(TraceCache, NoRankLaunchesWhatAPeerCouldNotRecord) {
  for (const bool throws : {false, true}) {
    hip::ThreadRanks ranks({.ranks = 2});
    Script peers_script;
    hip::TraceCache mine({.ranks = &ranks}), peers({.ranks = &ranks});
    int code = 0;
    hip::sync::Thread other([&] {
      const hip::TraceCache::Recorder fails = [&](std::span<const TraceBuffer>) -> Recorded {
        if (throws) throw std::runtime_error("no");
        return hip::Error{hipErrorOutOfMemory, "no"};
      };
      try {
        code = step(peers, 1, {{7, 100}}, fails).error().code;
      } catch (const std::runtime_error&) {
        code = hipErrorOutOfMemory;
      }
      EXPECT_TRUE(step(peers, 1, {{7, 100}}, recorder(peers_script)));
    });
    EXPECT_EQ(step(mine, 1, {{7, 100}}).error().code, hipErrorNotReady);
    EXPECT_EQ(taken_log().find("launch"), std::string::npos);
    EXPECT_EQ(step(mine, 1, {{7, 100}}).value(), TraceOutcome::kRecorded) << "the next one is right";
    other.join();
    EXPECT_EQ(code, hipErrorOutOfMemory);
    taken_log();
  }
}

TEST_F(TraceCache, ARecorderThatThrowsHasFailedAndKeepsNobodyWaiting) {
  hip::TraceCache cache;
  const hip::TraceCache::Recorder throws = [](std::span<const TraceBuffer>) -> Recorded {
    throw std::runtime_error("no");
  };
  EXPECT_THROW((void)step(cache, 1, {{7, 100}}, throws), std::runtime_error);
  EXPECT_EQ(cache.counts().failed, 1u);
  EXPECT_EQ(step(cache, 1, {{7, 100}}).value(), TraceOutcome::kRecorded);
}

TEST_F(TraceCache, ARankWhosePeerDoesNotComeIsToldAndLaunchesNothing) {
  hip::ThreadRanks ranks({.ranks = 2, .patience = std::chrono::milliseconds(1)});
  hip::TraceCache cache({.ranks = &ranks});
  EXPECT_EQ(step(cache, 1, {{7, 100}}).error().code, hipErrorLaunchTimeOut);
  EXPECT_EQ(taken_log(), "");
  EXPECT_EQ(cache.size(), 0u);
}

}  // namespace
