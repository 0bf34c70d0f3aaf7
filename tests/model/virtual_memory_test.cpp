// Reserved ranges, physical memory and mappings: the bytes belong to the memory, accesses without a right fault, and a
// change of a mapping races with work that is in flight.
#include "model/virtual_memory.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "model/fixture.h"

namespace model {
namespace {

constexpr std::size_t kPage = kGranularity;

Options two_devices() {
  Options options;
  options.devices = 2;
  options.memory.capacity = 64 * kPage;
  return options;
}

struct VirtualMachine : Machine {
  VirtualMachine() : Machine(two_devices()) {}
  Address reserve(std::size_t pages) {
    Address base = 0;
    EXPECT_EQ(memory.reserve(pages * kPage, 0, 0, &base), Status::kSuccess);
    return base;
  }
  ObjectId create(std::size_t pages, int device = 0) {
    ObjectId id = 0;
    EXPECT_EQ(memory.create(pages * kPage, {.device = device}, &id), Status::kSuccess);
    return id;
  }
  Status map(Address at, std::size_t pages, ObjectId id) { return runtime.map(at, pages * kPage, id); }
  Status unmap(Address at, std::size_t pages) { return runtime.unmap(at, pages * kPage); }
  Status access(Address at, std::size_t pages, AccessRight right = AccessRight::kReadWrite, int device = 0) {
    const DeviceRight one[] = {{device, right}};
    return runtime.set_access(at, pages * kPage, one);
  }
  void map_with_access(Address at, std::size_t pages, ObjectId id) {
    EXPECT_EQ(map(at, pages, id), Status::kSuccess);
    EXPECT_EQ(access(at, pages), Status::kSuccess);
  }
  Status run_now(NodeParams params, int device = 0) {
    EXPECT_EQ(runtime.enqueue(runtime.null_stream(device), std::move(params)), Status::kSuccess);
    return runtime.synchronize_device();
  }
  // Expects that running it faults, and that the report has these words.
  void expect_fault(NodeParams params, const std::string& words, int device = 0) {
    EXPECT_EQ(run_now(std::move(params), device), Status::kIllegalAddress);
    ASSERT_TRUE(runtime.fault().has_value());
    EXPECT_NE(runtime.fault()->text.find(words), std::string::npos) << runtime.fault()->text;
  }
  KernelParams add_on(int device, Address out, Address in) {
    Module& made = runtime.load_module({add_kernel()}, device);
    KernelParams params{made.find("add")->kernel(), {}, std::vector<std::byte>(20)};
    std::memcpy(params.arguments.data(), &out, 8);
    std::memcpy(params.arguments.data() + 8, &in, 8);
    return params;
  }
  VirtualMemory& memory = runtime.virtual_memory();
};

struct VirtualMemoryTest : testing::Test {
  VirtualMachine m;
  const Address at = m.reserve(4);
};

// ---- bytes

TEST_F(VirtualMemoryTest, BytesBelongToTheMemoryAndNotToTheAddress) {
  const ObjectId first = m.create(1), second = m.create(1);
  m.map_with_access(at, 1, first);
  m.map_with_access(at + kPage, 1, first);
  EXPECT_EQ(m.run_now(Machine::set(at, 7)), Status::kSuccess);
  EXPECT_EQ(m.word(at + kPage), 7u);  // the same memory under another address
  EXPECT_EQ(m.unmap(at, 1), Status::kSuccess);
  m.map_with_access(at, 1, second);
  EXPECT_EQ(m.word(at), 0u);
  EXPECT_EQ(m.unmap(at, 1), Status::kSuccess);
  m.map_with_access(at, 1, first);
  EXPECT_EQ(m.word(at), 7u);
}

TEST_F(VirtualMemoryTest, AnAccessMayGoOnIntoTheNextMapping) {
  const Address source = m.allocate(2 * kPage);
  EXPECT_EQ(m.run_now(Machine::set(source, 9, 2 * kPage / 4)), Status::kSuccess);
  m.map_with_access(at, 1, m.create(1));
  m.map_with_access(at + kPage, 2, m.create(2));
  EXPECT_EQ(m.run_now(Machine::copy(at + 4, source, 2 * kPage)), Status::kSuccess);
  EXPECT_EQ(m.word(at), 0u);
  EXPECT_EQ(m.word(at + kPage - 4), 9u);
  EXPECT_EQ(m.word(at + 2 * kPage), 9u);
  EXPECT_EQ(m.word(at + 2 * kPage + 4), 0u);
  const std::byte* both = m.runtime.memory().peek(at + kPage - 2, 4);
  ASSERT_NE(both, nullptr);
  EXPECT_EQ(m.runtime.memory().peek(at + 3 * kPage - 2, 4), nullptr);  // nothing is mapped behind
}

TEST_F(VirtualMemoryTest, WithIdentityAddressesAreThePages) {
  Options options = two_devices();
  options.memory.identity = options.memory.unknown_is_host = true;
  m.runtime.reset(options);
  Address base = 0;
  ASSERT_EQ(m.memory.reserve(2 * kPage, 64 * kPage, 0, &base), Status::kSuccess);
  EXPECT_EQ(base % (64 * kPage), 0u);
  EXPECT_FALSE(m.runtime.memory().is_foreign_host(base));
  const ObjectId id = m.create(1);
  m.map_with_access(base, 1, id);
  m.map_with_access(base + kPage, 1, id);
  *reinterpret_cast<std::uint32_t*>(base) = 5;
  EXPECT_EQ(*reinterpret_cast<std::uint32_t*>(base + kPage), 5u);
}

TEST_F(VirtualMemoryTest, NewMemoryHasFreshBytes) {
  Options options = two_devices();
  options.memory.fresh = std::byte{0x5a};
  m.runtime.reset(options);
  const Address base = m.reserve(1);
  m.map_with_access(base, 1, m.create(1));
  EXPECT_EQ(m.word(base + kPage - 4), 0x5a5a5a5au);
}

// ---- faults

TEST_F(VirtualMemoryTest, NothingMappedIsAFault) {
  m.map_with_access(at, 1, m.create(1));
  m.expect_fault(m.add(at, at + kPage + 8, 1), "4104 bytes into a reserved range (16384 bytes at 0x");
  EXPECT_NE(m.runtime.fault()->text.find("nothing is mapped"), std::string::npos);
}

TEST_F(VirtualMemoryTest, AFaultInAGraphNamesTheNode) {
  Graph& graph = m.runtime.create_graph();
  m.map_with_access(at, 1, m.create(1));
  Node* node = m.node(graph, Machine::set(at, 1));
  GraphExec& exec = m.exec(graph);
  ASSERT_EQ(m.unmap(at, 1), Status::kSuccess);
  ASSERT_EQ(m.runtime.launch(exec, m.runtime.null_stream()), Status::kSuccess);
  EXPECT_EQ(m.runtime.synchronize_device(), Status::kIllegalAddress);
  ASSERT_TRUE(m.runtime.fault().has_value());
  EXPECT_EQ(m.runtime.fault()->node, node->id());
  EXPECT_EQ(m.runtime.fault()->access->address, at);
  EXPECT_EQ(m.runtime.fault()->access->denial, Denial::kUnmapped);
}

TEST_F(VirtualMemoryTest, AMappingHasNoAccessWhenItIsMade) {
  const ObjectId id = m.create(1);
  m.map_with_access(at, 1, id);
  EXPECT_EQ(m.run_now(Machine::set(at, 1)), Status::kSuccess);
  EXPECT_EQ(m.unmap(at, 1), Status::kSuccess);
  EXPECT_EQ(m.map(at, 1, id), Status::kSuccess);
  m.expect_fault(Machine::set(at, 1), "no access for device 0");
}

TEST_F(VirtualMemoryTest, ReadOnlyMemoryIsReadAndNotWritten) {
  const Address word = m.allocate();
  ASSERT_EQ(m.map(at, 1, m.create(1)), Status::kSuccess);
  ASSERT_EQ(m.access(at, 1, AccessRight::kRead), Status::kSuccess);
  EXPECT_EQ(m.run_now(m.add(word, at, 3)), Status::kSuccess);
  EXPECT_EQ(m.word(word), 3u);
  m.expect_fault(m.add(at, word, 1), "read-only for device 0");
}

TEST_F(VirtualMemoryTest, AccessThatWasTakenAwayIsGone) {
  m.map_with_access(at, 1, m.create(1));
  ASSERT_EQ(m.access(at, 1, AccessRight::kNone), Status::kSuccess);
  m.expect_fault(Machine::set(at, 1), "no access for device 0");
}

TEST_F(VirtualMemoryTest, AKernelNeedsAccessForItsOwnDevice) {
  m.map_with_access(at, 1, m.create(1, 1));
  EXPECT_EQ(m.run_now(m.add_on(0, at, at)), Status::kSuccess);
  m.expect_fault(m.add_on(1, at, at), "no access for device 1", 1);
}

TEST_F(VirtualMemoryTest, ACopyNeedsAccessForTheStreamsOrTheMemorysDevice) {
  const Address word = m.allocate();
  ASSERT_EQ(m.map(at, 1, m.create(1, 1)), Status::kSuccess);
  ASSERT_EQ(m.access(at, 1, AccessRight::kReadWrite, 1), Status::kSuccess);
  EXPECT_EQ(m.run_now(Machine::copy(word, at), 0), Status::kSuccess);  // the memory is device 1's
  ASSERT_EQ(m.access(at, 1, AccessRight::kNone, 1), Status::kSuccess);
  ASSERT_EQ(m.access(at, 1, AccessRight::kReadWrite, 0), Status::kSuccess);
  EXPECT_EQ(m.run_now(Machine::copy(word, at), 0), Status::kSuccess);
  m.expect_fault(Machine::copy(word, at), "no access for device 1", 1);
}

TEST_F(VirtualMemoryTest, AnAccessThatGoesOnIntoAPartWithoutAccessIsAFault) {
  m.map_with_access(at, 1, m.create(1));
  ASSERT_EQ(m.map(at + kPage, 1, m.create(1)), Status::kSuccess);
  m.expect_fault(Machine::set(at, 1, kPage / 4 + 1), "overrun, behind it: no access for device 0");
}

TEST_F(VirtualMemoryTest, TwoRangesAreTwoAllocations) {
  Address behind = 0;
  ASSERT_EQ(m.memory.reserve(kPage, 0, at + 4 * kPage, &behind), Status::kSuccess);
  ASSERT_EQ(behind, at + 4 * kPage);
  m.map_with_access(at + 3 * kPage, 1, m.create(1));
  m.map_with_access(behind, 1, m.create(1));
  EXPECT_EQ(m.runtime.enqueue(m.runtime.null_stream(), Machine::set(behind - 4, 1, 2)), Status::kInvalidValue);
  const KernelParams kernel = m.add(at, behind - 2, 1);
  m.expect_fault(kernel, "overrun");
}

// ---- rules

TEST_F(VirtualMemoryTest, RangesAreAlignedAndAtTheWishedAddressWhereThatIsFree) {
  Address base = 0, other = 0;
  EXPECT_EQ(m.memory.reserve(0, 0, 0, &base), Status::kInvalidValue);
  EXPECT_EQ(m.memory.reserve(kPage - 1, 0, 0, &base), Status::kInvalidValue);
  EXPECT_EQ(m.memory.reserve(kPage, 3, 0, &base), Status::kInvalidValue);
  ASSERT_EQ(m.memory.reserve(kPage, 1 << 20, 0, &base), Status::kSuccess);
  EXPECT_EQ(base % (1 << 20), 0u);
  const Address wish = base + (1 << 20);
  ASSERT_EQ(m.memory.reserve(kPage, 0, wish, &base), Status::kSuccess);
  EXPECT_EQ(base, wish);
  ASSERT_EQ(m.memory.reserve(kPage, 0, wish, &other), Status::kSuccess);
  EXPECT_NE(other, wish);
}

TEST_F(VirtualMemoryTest, AQueuedPlacementHasToHaveTheAlignment) {
  Address base = 0;
  const Address placed = at + 5 * kPage;
  ASSERT_NE(placed % (1 << 20), 0u);
  m.runtime.memory().place_next(placed);
  EXPECT_EQ(m.memory.reserve(kPage, 1 << 20, 0, &base), Status::kOutOfMemory);
  m.runtime.memory().place_next(placed);
  ASSERT_EQ(m.memory.reserve(kPage, 0, 0, &base), Status::kSuccess);
  EXPECT_EQ(base, placed);
}

TEST_F(VirtualMemoryTest, ARangeIsFreedWholeAndWhenNothingIsMapped) {
  EXPECT_EQ(m.memory.unreserve(at + kPage, 3 * kPage), Status::kInvalidValue);
  EXPECT_EQ(m.memory.unreserve(at, 3 * kPage), Status::kInvalidValue);
  m.map_with_access(at + kPage, 1, m.create(1));
  EXPECT_EQ(m.memory.unreserve(at, 4 * kPage), Status::kInvalidValue);
  EXPECT_EQ(m.unmap(at + kPage, 1), Status::kSuccess);
  EXPECT_EQ(m.memory.unreserve(at, 4 * kPage), Status::kSuccess);
  EXPECT_EQ(m.memory.unreserve(at, 4 * kPage), Status::kInvalidValue);
}

TEST_F(VirtualMemoryTest, NoAllocationIsPutIntoAReservedRange) {
  m.runtime.memory().place_next(at + kPage);
  Address inside = 0;
  EXPECT_EQ(m.runtime.memory().allocate(64, MemoryKind::kDevice, 0, &inside), Status::kOutOfMemory);
}

TEST_F(VirtualMemoryTest, AMappingLiesInOneRangeWhereNothingIsMappedAndIsNoLargerThanTheMemory) {
  const ObjectId id = m.create(2);
  EXPECT_EQ(m.map(at + 3 * kPage, 2, id), Status::kInvalidValue);
  EXPECT_EQ(m.map(at, 3, id), Status::kInvalidValue);
  EXPECT_EQ(m.map(at, 0, id), Status::kInvalidValue);
  EXPECT_EQ(m.map(at + 8, 1, id), Status::kInvalidValue);
  EXPECT_EQ(m.runtime.map(at, kPage + 8, id), Status::kInvalidValue);
  EXPECT_EQ(m.map(m.allocate(kPage), 1, id), Status::kInvalidValue);
  EXPECT_EQ(m.map(at, 1, id + 1), Status::kInvalidValue);
  EXPECT_EQ(m.map(at + kPage, 1, id), Status::kSuccess);
  EXPECT_EQ(m.map(at + kPage, 1, id), Status::kInvalidValue);
  EXPECT_EQ(m.map(at, 2, id), Status::kInvalidValue);
  EXPECT_EQ(m.map(at + 2 * kPage, 2, id), Status::kSuccess);
}

TEST_F(VirtualMemoryTest, UnmappingAndAccessAreOfWholeMappings) {
  const ObjectId id = m.create(2);
  ASSERT_EQ(m.map(at, 2, id), Status::kSuccess);
  EXPECT_EQ(m.unmap(at, 1), Status::kInvalidValue);
  EXPECT_EQ(m.unmap(at + kPage, 1), Status::kInvalidValue);
  EXPECT_EQ(m.unmap(at, 3), Status::kInvalidValue);
  EXPECT_EQ(m.access(at, 1), Status::kInvalidValue);
  EXPECT_EQ(m.access(at, 4), Status::kInvalidValue);
  ASSERT_EQ(m.map(at + 2 * kPage, 2, id), Status::kSuccess);
  EXPECT_EQ(m.access(at, 4), Status::kSuccess);
  EXPECT_EQ(m.unmap(at, 4), Status::kSuccess);  // two mappings at once
  EXPECT_EQ(m.unmap(at, 4), Status::kInvalidValue);
  EXPECT_EQ(m.map(at, 2, id), Status::kSuccess);
}

TEST_F(VirtualMemoryTest, MemoryLivesUntilItIsReleasedAndUnmappedEverywhere) {
  ObjectId again = 0;
  const ObjectId id = m.create(1);
  m.map_with_access(at, 1, id);
  m.map_with_access(at + kPage, 1, id);
  EXPECT_EQ(m.run_now(Machine::set(at, 7)), Status::kSuccess);
  EXPECT_EQ(m.memory.release(id), Status::kSuccess);
  EXPECT_EQ(m.memory.release(id), Status::kInvalidValue);
  EXPECT_EQ(m.memory.find_memory(id), nullptr);
  EXPECT_EQ(m.map(at + 2 * kPage, 1, id), Status::kInvalidValue);
  EXPECT_EQ(m.unmap(at, 1), Status::kSuccess);
  EXPECT_EQ(m.word(at + kPage), 7u);
  EXPECT_EQ(m.memory.retain(at, &again), Status::kInvalidValue);
  EXPECT_EQ(m.memory.retain(at + kPage + 8, &again), Status::kSuccess);
  EXPECT_EQ(again, id);
  EXPECT_EQ(m.unmap(at + kPage, 1), Status::kSuccess);
  EXPECT_EQ(m.memory.memories(), 1u);
  EXPECT_EQ(m.memory.release(id), Status::kSuccess);
  EXPECT_EQ(m.memory.memories(), 0u);
}

TEST_F(VirtualMemoryTest, MemoryCountsAgainstTheCapacityOnceHoweverOftenItIsMapped) {
  ObjectId id = 0;
  EXPECT_EQ(m.memory.create(65 * kPage, {}, &id), Status::kOutOfMemory);
  ASSERT_EQ(m.memory.create(63 * kPage, {}, &id), Status::kSuccess);
  const Address range = m.reserve(126);
  ASSERT_EQ(m.map(range, 63, id), Status::kSuccess);
  ASSERT_EQ(m.map(range + 63 * kPage, 63, id), Status::kSuccess);
  EXPECT_EQ(m.runtime.memory().live_bytes(), 63 * kPage);
  EXPECT_EQ(m.runtime.make_room(2 * kPage), Status::kOutOfMemory);
  EXPECT_EQ(m.runtime.make_room(kPage), Status::kSuccess);
  ObjectId more = 0;
  EXPECT_EQ(m.memory.create(2 * kPage, {}, &more), Status::kOutOfMemory);
  EXPECT_EQ(m.memory.release(id), Status::kSuccess);
  EXPECT_EQ(m.runtime.memory().live_bytes(), 63 * kPage);
  EXPECT_EQ(m.unmap(range, 126), Status::kSuccess);
  EXPECT_EQ(m.runtime.memory().live_bytes(), 0u);
}

TEST_F(VirtualMemoryTest, AMappingIsNotFreedAsAnAllocationIs) {
  m.map_with_access(at, 1, m.create(1));
  EXPECT_EQ(m.runtime.free(at), Status::kInvalidValue);
  EXPECT_EQ(m.runtime.free_async(at, m.runtime.null_stream()), Status::kInvalidValue);
  EXPECT_EQ(m.runtime.memory().release(at), Status::kInvalidValue);
  EXPECT_EQ(m.run_now(Machine::set(at, 7)), Status::kSuccess);
}

// ---- races

struct VirtualRaceTest : VirtualMemoryTest {
  VirtualRaceTest() { m.map_with_access(at, 1, id); }
  void enqueue(Stream& on, NodeParams params) { EXPECT_EQ(m.runtime.enqueue(on, std::move(params)), Status::kSuccess); }
  const ObjectId id = m.create(1), other_id = m.create(1);
  Stream& one = m.nonblocking();
  Stream& other = m.nonblocking();
};

TEST_F(VirtualRaceTest, TwoAddressesOfTheSameBytesRace) {
  m.map_with_access(at + kPage, 1, id);
  enqueue(one, Machine::set(at + 8, 1));
  enqueue(other, Machine::set(at + kPage + 4, 2));
  EXPECT_EQ(m.runtime.synchronize(one), Status::kSuccess);
  EXPECT_EQ(m.runtime.synchronize(other), Status::kSuccess);
  EXPECT_EQ(m.runtime.races_seen(), 0u);  // neighbours
  enqueue(one, Machine::set(at + 8, 1));
  enqueue(other, Machine::set(at + kPage + 8, 2));
  EXPECT_EQ(m.runtime.synchronize_device(), Status::kSuccess);
  ASSERT_EQ(m.runtime.races_seen(), 1u);
  const Interval bytes = m.runtime.races().front().bytes;
  EXPECT_EQ(bytes.begin, at + 8);  // an address, for people
  EXPECT_EQ(bytes.end, at + 12);
}

TEST_F(VirtualRaceTest, UnorderedNodesOfAGraphThatUseTwoAddressesOfTheSameBytesRace) {
  m.map_with_access(at + kPage, 1, id);
  Graph& graph = m.runtime.create_graph();
  Node* first = m.node(graph, Machine::set(at, 1));
  Node* second = m.node(graph, Machine::set(at + kPage, 2));
  m.run(m.exec(graph));
  ASSERT_EQ(m.runtime.races_seen(), 1u);
  EXPECT_EQ(m.runtime.races().front().a.node, first->id());
  EXPECT_EQ(m.runtime.races().front().b.node, second->id());
}

TEST_F(VirtualRaceTest, ARemapUnderAPendingOperationIsARaceWithTheHost) {
  enqueue(one, Machine::set(at + 8, 7));
  EXPECT_EQ(m.unmap(at, 1), Status::kSuccess);
  m.map_with_access(at, 1, other_id);
  EXPECT_EQ(m.runtime.synchronize_device(), Status::kSuccess);
  ASSERT_EQ(m.runtime.races_seen(), 1u);  // one for the range, not one for each change
  const DataRace& race = m.runtime.races().front();
  EXPECT_EQ(race.b.operation, 0u);
  EXPECT_TRUE(race.a.wrote);
  EXPECT_EQ(race.bytes.begin, at + 8);
}

TEST_F(VirtualRaceTest, ARemapUnderAnOperationThatRanAndWasNotWaitedForIsARaceWithTheHost) {
  enqueue(one, Machine::set(at, 7));
  EXPECT_EQ(m.runtime.query(one), Status::kNotReady);  // it runs; the host does not know yet
  EXPECT_EQ(m.unmap(at, 1), Status::kSuccess);
  EXPECT_EQ(m.runtime.races_seen(), 1u);
  m.map_with_access(at, 1, other_id);
  EXPECT_EQ(m.runtime.races_seen(), 1u);  // one operation on one range, however often the range is changed
}

TEST_F(VirtualRaceTest, AnotherDevicesAccessIsNoRaceWithTheWorkOfADevice) {
  enqueue(one, m.add(at, at, 1));
  enqueue(one, Machine::set(at, 7));
  EXPECT_EQ(m.access(at, 1, AccessRight::kReadWrite, 1), Status::kSuccess);
  EXPECT_EQ(m.runtime.query(one), Status::kNotReady);
  EXPECT_EQ(m.access(at, 1, AccessRight::kNone, 1), Status::kSuccess);
  EXPECT_EQ(m.runtime.synchronize_device(), Status::kSuccess);
  EXPECT_EQ(m.runtime.races_seen(), 0u);
}

TEST_F(VirtualRaceTest, ARightOfTheMemorysDeviceConcernsCopiesOfOtherDevices) {
  ASSERT_EQ(m.access(at, 1, AccessRight::kReadWrite, 1), Status::kSuccess);
  enqueue(m.runtime.null_stream(1), m.add_on(1, at, at));
  EXPECT_EQ(m.access(at, 1, AccessRight::kRead, 0), Status::kSuccess);
  EXPECT_EQ(m.runtime.synchronize(m.runtime.null_stream(1)), Status::kSuccess);
  EXPECT_EQ(m.runtime.races_seen(), 0u);  // a kernel goes by the right of its own device
  enqueue(m.runtime.null_stream(1), Machine::set(at, 7));
  EXPECT_EQ(m.access(at, 1, AccessRight::kReadWrite, 0), Status::kSuccess);
  EXPECT_EQ(m.runtime.synchronize(m.runtime.null_stream(1)), Status::kSuccess);
  EXPECT_EQ(m.runtime.races_seen(), 1u);
}

TEST_F(VirtualRaceTest, ARemapBehindAWaitIsNoRace) {
  enqueue(one, Machine::set(at, 7));
  EXPECT_EQ(m.runtime.synchronize(one), Status::kSuccess);
  EXPECT_EQ(m.unmap(at, 1), Status::kSuccess);
  m.map_with_access(at, 1, other_id);
  enqueue(one, Machine::set(at, 8));
  EXPECT_EQ(m.runtime.synchronize_device(), Status::kSuccess);
  EXPECT_EQ(m.runtime.races_seen(), 0u);
}

TEST_F(VirtualRaceTest, ARemapOfTheOtherAddressesOfAMemoryThatIsInUseIsNoRace) {
  m.map_with_access(at + kPage, 1, id);
  enqueue(one, Machine::set(at, 7));
  EXPECT_EQ(m.unmap(at + kPage, 1), Status::kSuccess);
  EXPECT_EQ(m.runtime.synchronize_device(), Status::kSuccess);
  EXPECT_EQ(m.runtime.races_seen(), 0u);
}

TEST_F(VirtualRaceTest, ARightThatStaysAsItWasIsNoChange) {
  enqueue(one, Machine::set(at, 7));
  EXPECT_EQ(m.access(at, 1), Status::kSuccess);
  EXPECT_EQ(m.runtime.synchronize_device(), Status::kSuccess);
  EXPECT_EQ(m.runtime.races_seen(), 0u);
  enqueue(one, m.add(m.allocate(), at, 1));
  EXPECT_EQ(m.access(at, 1, AccessRight::kRead), Status::kSuccess);
  EXPECT_EQ(m.runtime.synchronize_device(), Status::kSuccess);
  ASSERT_EQ(m.runtime.races_seen(), 1u);
  EXPECT_FALSE(m.runtime.races().front().a.wrote);  // it wrote elsewhere, and only read here
}

TEST_F(VirtualRaceTest, MemoryThatWasMappedHereBeforeIsOtherBytes) {
  enqueue(one, Machine::set(at, 7));
  EXPECT_EQ(m.runtime.synchronize(one), Status::kSuccess);
  enqueue(one, Machine::set(m.allocate(), 7));
  EXPECT_EQ(m.unmap(at, 1), Status::kSuccess);
  m.map_with_access(at, 1, other_id);
  enqueue(other, Machine::set(at, 8));
  EXPECT_EQ(m.runtime.synchronize_device(), Status::kSuccess);
  EXPECT_EQ(m.runtime.races_seen(), 0u);
}

// ---- against a table of pages

RC_GTEST_PROP(VirtualMemoryProperty, EveryPageShowsTheMemoryThatATableSays, ()) {
  constexpr std::size_t kPages = 6, kMemories = 3, kSize = 3;
  VirtualMachine m;
  const Address base = m.reserve(kPages);
  std::array<ObjectId, kMemories> ids{};
  std::array<std::array<std::uint8_t, kSize>, kMemories> bytes{};  // the value of every byte of a page
  for (ObjectId& id : ids) id = m.create(kSize);
  struct Shown {
    std::size_t memory = kMemories, page = 0, mapping = 0;  // no memory; a number for each mapping
  };
  std::array<Shown, kPages> table{};
  for (std::size_t step = 1; step <= 40; ++step) {
    const auto first = *rc::gen::inRange<std::size_t>(0, kPages), count = *rc::gen::inRange<std::size_t>(1, 4);
    const std::size_t end = first + count;
    const Address at = base + first * kPage;
    if (*rc::gen::arbitrary<bool>()) {
      const auto memory = *rc::gen::inRange<std::size_t>(0, kMemories);
      bool free = end <= kPages;
      for (std::size_t page = first; free && page < end; ++page) free = table[page].memory == kMemories;
      RC_ASSERT(m.map(at, count, ids[memory]) == (free ? Status::kSuccess : Status::kInvalidValue));
      if (!free) continue;
      for (std::size_t i = 0; i < count; ++i) table[first + i] = {memory, i, step};
      RC_ASSERT(m.access(at, count) == Status::kSuccess);
      const auto value = *rc::gen::arbitrary<std::uint8_t>();
      const MemsetParams set{at, 0, value, 1, count * kPage, 1};
      RC_ASSERT(m.run_now(set) == Status::kSuccess);
      for (std::size_t i = 0; i < count; ++i) bytes[memory][i] = value;
    } else {
      bool whole = end <= kPages && (first == 0 || table[first - 1].mapping != table[first].mapping) &&
                   (end == kPages || table[end - 1].mapping != table[end].mapping);
      for (std::size_t page = first; whole && page < end; ++page) whole = table[page].memory != kMemories;
      RC_ASSERT(m.unmap(at, count) == (whole ? Status::kSuccess : Status::kInvalidValue));
      for (std::size_t page = first; whole && page < end; ++page) table[page] = {};
    }
    for (std::size_t page = 0; page < kPages; ++page) {
      const std::byte* shown = m.runtime.memory().peek(base + page * kPage, kPage);
      RC_ASSERT((shown != nullptr) == (table[page].memory != kMemories));
      if (shown == nullptr) continue;
      const auto value = static_cast<std::byte>(bytes[table[page].memory][table[page].page]);
      RC_ASSERT(shown[0] == value && shown[kPage - 1] == value);
    }
  }
  RC_ASSERT(m.runtime.races_seen() == 0u);
}

}  // namespace
}  // namespace model
