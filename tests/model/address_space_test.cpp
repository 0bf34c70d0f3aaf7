// model::AddressSpace against a plain list of ranges, and its rules one by one.
//
// Verified: placement, reuse, identity of allocations, which accesses are legal, the record of freed ranges. Not
// verified: that the lowest address is chosen for millions of allocations (cost).
#include "model/address_space.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace model {
namespace {

Address allocated(AddressSpace& space, std::size_t size, MemoryKind kind = MemoryKind::kDevice) {
  Address address = 0;
  EXPECT_EQ(space.allocate(size, kind, 0, &address), Status::kSuccess);
  return address;
}

struct AddressSpaceTest : testing::Test {
  AddressSpace space;
};

TEST_F(AddressSpaceTest, FreedAddressesComeBackPromptlyAsAnotherAllocation) {
  const Address first = allocated(space, 100);
  const Address second = allocated(space, 100);
  const AllocationId before = space.find(first)->id;
  ASSERT_EQ(space.release(first), Status::kSuccess);
  EXPECT_EQ(allocated(space, 256), first);
  EXPECT_NE(space.find(first)->id, before);
  EXPECT_EQ(second, first + kAlignment);
}

TEST_F(AddressSpaceTest, AFreedRangeThatIsTooSmallIsNotReused) {
  const Address first = allocated(space, 256);
  const Address second = allocated(space, 16);
  ASSERT_EQ(space.release(first), Status::kSuccess);
  EXPECT_EQ(allocated(space, 257), second + kAlignment);
}

TEST_F(AddressSpaceTest, AStaleAccessNamesTheAllocationThatItUsedToBelongTo) {
  const Address address = allocated(space, 64);
  const AllocationId id = space.find(address)->id;
  ASSERT_EQ(space.release(address), Status::kSuccess);
  BadAccess why;
  EXPECT_EQ(space.access(address + 8, 4, true, Accessor::kKernel, &why), nullptr);
  EXPECT_TRUE(why.freed);
  EXPECT_TRUE(why.write);
  ASSERT_TRUE(why.allocation.has_value());
  EXPECT_EQ(why.allocation->id, id);
  EXPECT_NE(describe(why).find("allocation " + std::to_string(id)), std::string::npos);
  EXPECT_NE(describe(why).find("freed"), std::string::npos);
}

TEST_F(AddressSpaceTest, OnlyTheLastFreedRangesAreRemembered) {
  Address first = 0;
  for (std::size_t i = 0; i <= kMaxFreed; ++i) {
    space.place_next(0x10000 + i * 0x1000);
    const Address address = allocated(space, 16);
    if (i == 0) first = address;
    ASSERT_EQ(space.release(address), Status::kSuccess);
  }
  EXPECT_EQ(space.find_freed(first), nullptr);
  EXPECT_NE(space.find_freed(first + 0x1000), nullptr);
}

TEST_F(AddressSpaceTest, AnAccessMayNotRunFromOneAllocationIntoItsNeighbour) {
  const Address first = allocated(space, kAlignment);
  ASSERT_EQ(allocated(space, kAlignment), first + kAlignment);
  EXPECT_NE(space.access(first, kAlignment, false, Accessor::kKernel), nullptr);
  BadAccess why;
  EXPECT_EQ(space.access(first, kAlignment + 1, false, Accessor::kKernel, &why), nullptr);
  EXPECT_TRUE(why.overrun);
}

TEST_F(AddressSpaceTest, EveryAccessorReachesItsKindsOfMemoryOnly) {
  const Address device = allocated(space, 8);
  const Address pinned = allocated(space, 8, MemoryKind::kPinned);
  const Address managed = allocated(space, 8, MemoryKind::kManaged);
  const Address pageable = allocated(space, 8, MemoryKind::kPageable);
  for (const Address address : {device, pinned, managed, pageable}) {
    EXPECT_EQ(space.access(address, 8, true, Accessor::kKernel) != nullptr, address != pageable);
    EXPECT_NE(space.access(address, 8, true, Accessor::kCopy), nullptr);
    EXPECT_EQ(space.view(address, 8) != nullptr, address != device);
    EXPECT_NE(space.peek(address, 8), nullptr);
  }
}

TEST_F(AddressSpaceTest, QueuedPlacementsAreTakenInOrder) {
  space.place_next(0x7f0000001003);
  space.place_next(0x12345);
  EXPECT_EQ(allocated(space, 32), 0x7f0000001003u);
  EXPECT_EQ(allocated(space, 32), 0x12345u);
  EXPECT_EQ(allocated(space, 32), AddressSpaceOptions{}.device_base);
}

TEST_F(AddressSpaceTest, APlacementThatIsTakenFailsAndChangesNothing) {
  const Address taken = allocated(space, 100);
  for (const Address wanted : {taken, taken + 99, taken - 1}) {
    space.place_next(wanted);
    Address out = 7;
    EXPECT_EQ(space.allocate(2, MemoryKind::kDevice, 0, &out), Status::kOutOfMemory);
    EXPECT_EQ(out, 7u);
  }
  EXPECT_EQ(space.live().size(), 1u);
  space.place_next(taken + 100);
  EXPECT_EQ(allocated(space, 2), taken + 100);
}

TEST(AddressSpace, NothingIsAllocatedBeyondTheCapacity) {
  AddressSpace space({.capacity = 1000});
  const Address address = allocated(space, 600);
  Address out = 0;
  EXPECT_EQ(space.allocate(401, MemoryKind::kDevice, 0, &out), Status::kOutOfMemory);
  EXPECT_EQ(space.allocate(~std::size_t{0}, MemoryKind::kDevice, 0, &out), Status::kOutOfMemory);
  ASSERT_EQ(space.release(address), Status::kSuccess);
  EXPECT_EQ(space.allocate(1000, MemoryKind::kDevice, 0, &out), Status::kSuccess);
}

TEST(AddressSpace, AWindowThatIsFullIsOutOfMemory) {
  AddressSpace space({.device_bytes = 2 * kAlignment});
  allocated(space, 1);
  allocated(space, kAlignment);
  Address out = 0;
  EXPECT_EQ(space.allocate(1, MemoryKind::kDevice, 0, &out), Status::kOutOfMemory);
}

TEST(AddressSpace, WithIdentityTheAddressIsTheMemory) {
  AddressSpace space({.identity = true, .fresh = std::byte{0x5a}});
  const Address address = allocated(space, 1000, MemoryKind::kPinned);
  EXPECT_EQ(address % kAlignment, 0u);
  auto* bytes = reinterpret_cast<unsigned char*>(address);
  EXPECT_EQ(bytes[999], 0x5a);
  bytes[3] = 9;
  EXPECT_EQ(*space.view(address + 3, 1), std::byte{9});
  ASSERT_EQ(space.release(address), Status::kSuccess);
  EXPECT_EQ(allocated(space, 1000, MemoryKind::kPinned), address);  // the same address, promptly, and fresh
  EXPECT_EQ(bytes[3], 0x5a);
}

// Large memory comes from elsewhere than small memory.
TEST(AddressSpace, LargeMemoryIsFreshWheneverItIsGivenOut) {
  constexpr std::size_t kBytes = (std::size_t{3} << 20) + 1;
  for (const std::byte fresh : {std::byte{0}, std::byte{0x5a}}) {
    for (const bool identity : {false, true}) {
      AddressSpace space({.identity = identity, .fresh = fresh});
      const auto expect_fresh = [&](Address address) {
        std::byte* const bytes = space.peek(address, kBytes);
        ASSERT_NE(bytes, nullptr);
        EXPECT_EQ(std::count(bytes, bytes + kBytes, fresh), static_cast<std::ptrdiff_t>(kBytes));
        std::fill_n(bytes, kBytes, std::byte{9});
      };
      const Address address = allocated(space, kBytes);
      expect_fresh(address);
      ASSERT_EQ(space.release(address), Status::kSuccess);
      EXPECT_EQ(allocated(space, kBytes), address);
      expect_fresh(address);

      std::shared_ptr<Reservation> kept;
      ASSERT_EQ(space.reserve(kBytes, 0, &kept), Status::kSuccess);
      for (int round = 0; round < 2; ++round) {
        ASSERT_EQ(space.map(*kept), Status::kSuccess);
        expect_fresh(kept->base());
        ASSERT_EQ(space.release(kept->base()), Status::kSuccess);
      }
    }
  }
}

TEST(AddressSpace, UnknownAddressesAreTheHostsOwnWhenAskedFor) {
  AddressSpace space({.unknown_is_host = true});
  int variable = 5;
  const auto address = reinterpret_cast<Address>(&variable);
  EXPECT_EQ(space.access(address, 4, true, Accessor::kCopy), reinterpret_cast<std::byte*>(&variable));
  EXPECT_EQ(space.access(address, 4, true, Accessor::kKernel), nullptr);
  EXPECT_EQ(space.access(kFirstHostAddress - 1, 1, false, Accessor::kCopy), nullptr);
  const Address freed = allocated(space, 8);
  ASSERT_EQ(space.release(freed), Status::kSuccess);
  EXPECT_EQ(space.access(freed, 1, false, Accessor::kCopy), nullptr);
  EXPECT_EQ(AddressSpace().access(address, 4, true, Accessor::kCopy), nullptr);
}

TEST_F(AddressSpaceTest, AResetForgetsEverything) {
  const Address address = allocated(space, 8);
  ASSERT_EQ(space.release(address), Status::kSuccess);
  allocated(space, 8);
  space.place_next(0x99999);
  space.reset({});
  EXPECT_TRUE(space.live().empty());
  EXPECT_EQ(space.find_freed(address), nullptr);
  EXPECT_EQ(space.live_bytes(), 0u);
  EXPECT_EQ(allocated(space, 8), address);
  EXPECT_EQ(space.find(address)->id, 1u);
}

// A list of ranges that is searched from front to back.
struct Ranges {
  std::map<Address, std::size_t> live;

  [[nodiscard]] bool free(Address base, std::size_t size) const {
    for (const auto& [other, length] : live) {
      if (base < other + length && other < base + size) return false;
    }
    return true;
  }
  [[nodiscard]] Address lowest(Address from, std::size_t size) const {
    Address candidate = from;
    while (!free(candidate, size)) candidate += kAlignment;
    return candidate;
  }
  [[nodiscard]] bool legal(Address address, std::size_t size) const {
    for (const auto& [base, length] : live) {
      if (address >= base && address + size <= base + length) return true;
    }
    return false;
  }
};

RC_GTEST_PROP(AddressSpaceProperty, ItAgreesWithAListOfRanges, ()) {
  AddressSpace space;
  Ranges ranges;
  const auto steps = *rc::gen::inRange(1, 60);
  for (int step = 0; step < steps; ++step) {
    if (ranges.live.empty() || *rc::gen::inRange(0, 3) != 0) {
      const auto size = *rc::gen::inRange<std::size_t>(1, 1200);
      Address expected = 0;
      if (*rc::gen::arbitrary<bool>()) {
        const Address wanted = AddressSpaceOptions{}.device_base + *rc::gen::inRange<Address>(0, 8000);
        space.place_next(wanted);
        expected = ranges.free(wanted, size) ? wanted : 0;
      } else {
        expected = ranges.lowest(AddressSpaceOptions{}.device_base, size);
      }
      Address got = 0;
      const Status status = space.allocate(size, MemoryKind::kDevice, 0, &got);
      RC_ASSERT(status == (expected == 0 ? Status::kOutOfMemory : Status::kSuccess));
      RC_ASSERT(got == expected);
      if (expected != 0) ranges.live[expected] = size;
    } else {
      auto victim = ranges.live.begin();
      std::advance(victim, *rc::gen::inRange<std::size_t>(0, ranges.live.size()));
      RC_ASSERT(space.release(victim->first + 1) == Status::kInvalidValue);
      RC_ASSERT(space.release(victim->first) == Status::kSuccess);
      ranges.live.erase(victim);
    }
    const Address probe = AddressSpaceOptions{}.device_base + *rc::gen::inRange<Address>(0, 10000);
    const auto size = *rc::gen::inRange<std::size_t>(1, 600);
    RC_ASSERT((space.access(probe, size, false, Accessor::kKernel) != nullptr) == ranges.legal(probe, size));
  }
  RC_ASSERT(space.live().size() == ranges.live.size());
}

}  // namespace
}  // namespace model
