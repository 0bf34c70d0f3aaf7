// hip::AddressRanges: what is freed, what is kept, and which call a kept range serves. The table gives ranges 4,096
// bytes apart and counts the calls.
#include "hip/address_ranges.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include "hip/release_quirks.h"

namespace {

constexpr std::size_t kPage = 4096;
constexpr int k64 = 60443484;

struct AddressRanges : testing::Test {
  AddressRanges() {
    reserved = freed = 0;
    api.hipMemAddressReserve = [](void** range, std::size_t, std::size_t, void*, unsigned long long) {
      *range = reinterpret_cast<void*>((kPage + 1) * kPage + kPage * static_cast<std::uintptr_t>(reserved++));
      return hipSuccess;
    };
    api.hipMemAddressFree = [](void*, std::size_t) {
      ++freed;
      return hipSuccess;
    };
  }
  void* reserve(std::size_t bytes, std::size_t alignment = 0) { return keeping.reserve(api, bytes, alignment).value(); }
  void give_back(void* range, std::size_t bytes) { EXPECT_TRUE(keeping.free(api, range, bytes)); }

  static inline int reserved, freed;
  hip::Api api{};
  hip::AddressRanges keeping{hip::ReleaseQuirks::of_version(k64).of_free_addresses()};
};

TEST_F(AddressRanges, OnARightReleaseARangeIsFreed) {
  hip::AddressRanges ranges;
  void* const range = ranges.reserve(api, kPage).value();
  EXPECT_TRUE(ranges.free(api, range, kPage));
  EXPECT_EQ(freed, 1);
  EXPECT_NE(ranges.reserve(api, kPage).value(), range);
  EXPECT_EQ(reserved, 2);
}

TEST_F(AddressRanges, AKeptRangeServesTheNextCallForItsSizeAndNoOther) {
  void* const range = reserve(kPage);
  void* const other = reserve(kPage);
  EXPECT_NE(range, other);
  give_back(range, kPage);
  EXPECT_EQ(freed, 0);
  EXPECT_NE(reserve(2 * kPage), range);
  EXPECT_EQ(reserve(kPage), range);
  EXPECT_EQ(reserved, 3);
  EXPECT_NE(reserve(kPage), range) << "it is in use again";
}

TEST_F(AddressRanges, AKeptRangeThatIsNotAlignedAsAskedForServesNobody) {
  constexpr std::size_t kBytes = 3 * kPage;
  void* const odd = reserve(kBytes);
  void* const even = reserve(kBytes);
  ASSERT_NE(reinterpret_cast<std::uintptr_t>(odd) % (2 * kPage), 0u);
  give_back(even, kBytes);
  give_back(odd, kBytes);
  EXPECT_EQ(reserve(kBytes, 2 * kPage), even);
  EXPECT_NE(reserve(kBytes, 2 * kPage), odd);
  EXPECT_EQ(reserve(kBytes), odd);
}

TEST_F(AddressRanges, ARangeIsKeptOnceAndOnlyIfNothingIsMappedThere) {
  void* const range = reserve(kPage);
  EXPECT_TRUE(keeping.free(api, range, kPage, false));
  EXPECT_EQ(freed, 1) << "the runtime decides";
  EXPECT_NE(reserve(kPage), range);
  void* const other = reserve(kPage);
  give_back(other, kPage);
  EXPECT_EQ(keeping.free(api, other, kPage).error().code, hipErrorInvalidValue);
  EXPECT_EQ(reserve(kPage), other);
  EXPECT_NE(reserve(kPage), other);
}

TEST_F(AddressRanges, AnErrorOfTheRuntimeIsReturned) {
  api.hipMemAddressReserve = [](void**, std::size_t, std::size_t, void*, unsigned long long) {
    return hipErrorOutOfMemory;
  };
  EXPECT_EQ(keeping.reserve(api, kPage).error().code, hipErrorOutOfMemory);
  api.hipMemAddressFree = [](void*, std::size_t) { return hipErrorInvalidValue; };
  EXPECT_EQ(hip::AddressRanges().free(api, nullptr, kPage).error().code, hipErrorInvalidValue);
}

TEST_F(AddressRanges, NoTwoThreadsGetTheSameRange) {
  constexpr std::size_t kBytes = 5 * kPage;
  std::vector<void*> all;
  for (int n = 0; n < 40; ++n) all.push_back(reserve(kBytes));
  for (void* range : all) give_back(range, kBytes);
  const int before = reserved;
  std::vector<std::vector<void*>> got(4);
  {
    std::vector<std::jthread> threads;
    for (std::vector<void*>& mine : got) {
      threads.emplace_back([this, &mine] {
        for (int n = 0; n < 10; ++n) mine.push_back(reserve(kBytes));
      });
    }
  }
  std::set<void*> different;
  for (const std::vector<void*>& mine : got) different.insert(mine.begin(), mine.end());
  EXPECT_EQ(different, std::set<void*>(all.begin(), all.end()));
  EXPECT_EQ(reserved, before);
}

}  // namespace
