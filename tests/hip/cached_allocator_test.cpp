// CachedAllocator and RankAgreement, over a host table that counts allocations and can make them fail. Not verified
// here: schedules of several threads (the explorer drives fuzz/faults/threads), only that threads agree.
#include "hip/cached_allocator.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "hip/error_list.h"
#include "hip/host_backend.h"
#include "hip/rank_agreement.h"

namespace {

int live = 0, fail_malloc = 0, fail_free = 0;

hip::Api counting_api() {
  hip::Api api = hip::host_api();
  api.hipMalloc = [](void** out, std::size_t size) {
    if (fail_malloc > 0 && fail_malloc-- == 1) return hipErrorOutOfMemory;
    ++live;
    return hip::host_api().hipMalloc(out, size);
  };
  api.hipFree = [](void* memory) {
    if (fail_free > 0 && fail_free-- == 1) return hipErrorUnknown;
    --live;
    return hip::host_api().hipFree(memory);
  };
  return api;
}

struct CachedAllocator : testing::Test {
  CachedAllocator() { live = fail_malloc = fail_free = 0; }
  const hip::Api api_ = counting_api();
  std::vector<hip::Error> reports_;
  hip::CachedAllocatorOptions options_{.device = 0, .errors = into(reports_)};
  hip::CachedAllocator cache_{api_, options_};
};

TEST_F(CachedAllocator, TheSameNameIsTheSameMemoryAsLongAsItIsLargeEnough) {
  const hip::CachedAllocator::Buffer first = cache_.get(1, 100).value();
  EXPECT_TRUE(first.moved);
  const hip::CachedAllocator::Buffer again = cache_.get(1, 40).value();
  EXPECT_FALSE(again.moved);
  EXPECT_EQ(again.address, first.address);
  EXPECT_NE(cache_.get(2, 100).value().address, first.address);
  EXPECT_EQ(live, 2);
}

TEST_F(CachedAllocator, ABufferThatGrowsIsAnotherOneAndSaysSo) {
  static_cast<void>(cache_.get(1, 100).value());
  const hip::CachedAllocator::Buffer larger = cache_.get(1, 101).value();
  EXPECT_TRUE(larger.moved);
  EXPECT_GE(larger.bytes, 101u);
  EXPECT_EQ(live, 1);
  EXPECT_EQ(cache_.size(), 1u);
}

TEST_F(CachedAllocator, AFailedAllocationChangesNothingAndIsTriedAgain) {
  void* const first = cache_.get(1, 100).value().address;
  fail_malloc = 1;
  EXPECT_EQ(cache_.get(1, 200).error().code, hipErrorOutOfMemory);
  EXPECT_EQ(cache_.get(1, 100).value().address, first);
  EXPECT_TRUE(cache_.get(1, 200).ok());
  EXPECT_EQ(live, 1);
}

TEST_F(CachedAllocator, KnowsWhichAddressesAreItsOwn) {
  auto* const begin = static_cast<std::byte*>(cache_.get(1, 100).value().address);
  EXPECT_TRUE(cache_.holds(begin));
  EXPECT_TRUE(cache_.holds(begin + 99));
  EXPECT_FALSE(cache_.holds(begin + 100));
  EXPECT_FALSE(cache_.holds(&cache_));
}

// In every way in which a range can lie to one of several buffers; and of memory that was freed nothing is known.
TEST_F(CachedAllocator, KnowsOfEveryByteOfARangeWhetherItIsItsOwn) {
  constexpr std::size_t kBytes = 64, kStride = 4 * kBytes;
  static std::array<std::byte, 8 * kStride> arena;
  static std::size_t given;
  given = 0;
  hip::Api api = api_;
  api.hipMalloc = [](void** out, std::size_t) {
    *out = &arena[kStride + kStride * given++];
    return hipSuccess;
  };
  api.hipFree = [](void*) { return hipSuccess; };
  hip::CachedAllocator cache(api, options_);
  for (hip::CachedAllocator::Name name = 3; name-- > 0;) static_cast<void>(cache.get(name, kBytes).value());
  static_cast<void>(cache.get(1, 2 * kBytes).value());  // the fourth; the second is free again
  EXPECT_TRUE(cache.release(0));                        // and the third
  const auto own = [](std::size_t at) {
    return (at >= kStride && at < kStride + kBytes) || (at >= 4 * kStride && at < 4 * kStride + 2 * kBytes);
  };
  for (std::size_t at = 0; at < 6 * kStride; at += kBytes / 2) {
    for (const std::size_t bytes : {std::size_t{1}, kBytes / 2, kBytes, 2 * kStride}) {
      bool expected = false;
      for (std::size_t i = at; i < at + bytes; ++i) expected = expected || own(i);
      EXPECT_EQ(cache.holds(&arena[at], bytes), expected) << bytes << " bytes at " << at;
    }
  }
  EXPECT_TRUE(cache.clear());
  EXPECT_FALSE(cache.holds(arena.data(), arena.size()));
}

TEST_F(CachedAllocator, SaysWhichGetFreesMemory) {
  EXPECT_FALSE(cache_.replaces(1, 100)) << "there is none yet";
  static_cast<void>(cache_.get(1, 100).value());
  EXPECT_FALSE(cache_.replaces(1, 100));
  EXPECT_TRUE(cache_.replaces(1, 101));
  EXPECT_FALSE(cache_.replaces(2, 101)) << "another one's";
}

TEST_F(CachedAllocator, ClearingAnswersItsErrorAndTriesAgain) {
  static_cast<void>(cache_.get(1, 100).value());
  static_cast<void>(cache_.get(2, 100).value());
  fail_free = 1;
  EXPECT_EQ(cache_.clear().error().code, hipErrorUnknown);
  EXPECT_EQ(live, 1);
  EXPECT_TRUE(cache_.clear().ok());
  EXPECT_EQ(live, 0);
}

TEST_F(CachedAllocator, ItsDestructorReportsAnErrorAndFreesEverythingOnce) {
  {
    hip::CachedAllocator cache(api_, options_);
    static_cast<void>(cache.get(1, 100).value());
    static_cast<void>(cache.get(2, 100).value());
    fail_free = 2;
  }
  EXPECT_EQ(live, 0);
  EXPECT_EQ(reports_.size(), 1u);
}

TEST_F(CachedAllocator, ManyThreadsThatNameOneBufferGetOneAllocation) {
  constexpr int kThreads = 8;
  std::vector<void*> seen(kThreads, nullptr);
  std::vector<hip::sync::Thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, &seen, i] { seen[static_cast<std::size_t>(i)] = cache_.get(9, 64).value().address; });
  }
  for (hip::sync::Thread& thread : threads) thread.join();
  for (void* address : seen) EXPECT_EQ(address, seen[0]);
  EXPECT_EQ(live, 1);
}

TEST(RankAgreement, AllTakeTheFastWayExactlyWhenAllCould) {
  constexpr int kRanks = 3;
  constexpr int kRounds = 50;
  hip::ThreadRanks agreement({.ranks = kRanks});
  std::vector<std::vector<bool>> answers(kRanks);
  std::vector<hip::sync::Thread> ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks.emplace_back([&agreement, &answers, rank] {
      for (int round = 0; round < kRounds; ++round) {
        const bool mine = round % (rank + 2) != 0;
        answers[static_cast<std::size_t>(rank)].push_back(agreement.all(mine).value());
      }
    });
  }
  for (hip::sync::Thread& rank : ranks) rank.join();
  for (int round = 0; round < kRounds; ++round) {
    const bool all = round % 2 != 0 && round % 3 != 0 && round % 4 != 0;
    for (const std::vector<bool>& each : answers) EXPECT_EQ(each[static_cast<std::size_t>(round)], all) << round;
  }
}

TEST(RankAgreement, ARankThatDoesNotComeIsAnErrorForAllAndStaysOne) {
  hip::ThreadRanks agreement({.ranks = 2, .patience = std::chrono::milliseconds(1)});
  EXPECT_EQ(agreement.all(true).error().code, hipErrorLaunchTimeOut);
  EXPECT_EQ(agreement.all(true).error().code, hipErrorLaunchTimeOut);
}

}  // namespace
