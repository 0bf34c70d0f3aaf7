// hip::RemappedBuffers on a runtime: AMD's over the software gfx942, or a GPU's own.
//
// usage: remapped-on-runtime LIBRARY [GoogleTest's options]. Exit status 2: the library cannot be loaded.
#include <gtest/gtest.h>

#include <cstdio>
#include <optional>
#include <utility>

#include "hip/error_list.h"
#include "hip/release_quirks.h"
#include "hip/remapped_bed.h"

namespace {

hip::Api& api() {
  static hip::Api table;
  return table;
}

const hip::ReleaseQuirk* free_addresses() {
  const hip::Result<int> version = hip::version_of_release(api());
  return hip::ReleaseQuirks::of_version(version ? version.value() : 0).of_free_addresses();
}

struct RemappedOnRuntime : testing::Test {
  RemappedOnRuntime() {
    static_cast<void>(api().hipGetLastError());
    const hipMemAllocationProp prop = hip::memory_of_device(0);
    EXPECT_EQ(api().hipMemGetAllocationGranularity(&page, &prop, hipMemAllocationGranularityMinimum), hipSuccess);
    memories.emplace(api(), page, free_addresses());
    buffers.emplace(api(), std::vector<hip::RemappedBuffer>{{8}, {8}},
                    hip::RemappedBuffersOptions{.errors = into(told), .ranges = &memories->ranges()});
    work.emplace(api(), [](hipGraph_t graph, void* out, void* in) {
      hipGraphNode_t node = nullptr;
      EXPECT_EQ(api().hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, out, in, 8, hipMemcpyDeviceToDevice),
                hipSuccess);
    });
    for (hipStream_t& stream : streams) {
      EXPECT_EQ(api().hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), hipSuccess);
    }
  }
  ~RemappedOnRuntime() override {
    buffers.reset();
    work.reset();
    memories.reset();
    for (hipStream_t stream : streams) EXPECT_EQ(api().hipStreamDestroy(stream), hipSuccess);
    EXPECT_TRUE(told.empty()) << told.front().message;
  }
  void add_memories(std::size_t count) {
    while (memories->size() < count) {
      memories->add();
      set(memories->size() - 1, static_cast<unsigned char>(memories->size()));
    }
  }
  // Every byte of memory n has that value.
  void set(std::size_t n, unsigned char value) {
    EXPECT_EQ(api().hipMemset(memories->view(n), value, 8), hipSuccess);
    EXPECT_EQ(api().hipDeviceSynchronize(), hipSuccess);
  }
  unsigned value(std::size_t n) {
    EXPECT_EQ(api().hipDeviceSynchronize(), hipSuccess);
    return memories->number_in(n) & 0xff;
  }
  hip::Result<hip::RemappedStep> step(std::size_t from, std::size_t to, std::size_t stream = 0) {
    return buffers->step(std::array{(*memories)[from], (*memories)[to]}, {api(), streams[stream], 0}, *work);
  }

  std::size_t page = 0;
  std::vector<hip::Error> told;
  std::array<hipStream_t, 2> streams{};
  std::optional<remapped::Memories> memories;
  std::optional<remapped::OneNode> work;
  std::optional<hip::RemappedBuffers> buffers;
};

// Every number moves through the memories as the steps say, on two streams in turn.
TEST_F(RemappedOnRuntime, ManyStepsCopyFromTheMemoryOfTheStepToTheMemoryOfTheStep) {
  constexpr std::size_t kMemories = 5;
  add_memories(kMemories);
  std::array<unsigned, kMemories> expected{1, 2, 3, 4, 5};
  for (std::size_t n = 0; n < 60; ++n) {
    const std::size_t from = n * 7 / 3 % kMemories, to = (n * n + 1) % kMemories;
    if (from == to) continue;
    const hip::Result<hip::RemappedStep> done = step(from, to, n / 3 % 2);
    ASSERT_TRUE(done) << n << ": " << done.error().message;
    expected[to] = expected[from];
    if (n % 20 != 19) continue;
    for (std::size_t i = 0; i < kMemories; ++i) ASSERT_EQ(value(i), expected[i]) << "memory " << i << ", step " << n;
    set(n % kMemories, static_cast<unsigned char>(100 + n));
    expected[n % kMemories] = static_cast<unsigned>(100 + n);
  }
  for (std::size_t i = 0; i < kMemories; ++i) EXPECT_EQ(value(i), expected[i]) << "memory " << i;
  EXPECT_EQ(buffers->counts().recorded, 2u);
  EXPECT_EQ(buffers->counts().replaced, 0u);
}

TEST_F(RemappedOnRuntime, AMemoryThatIsWithdrawnCanBeReleasedAndTheNextOneIsUsed) {
  add_memories(3);
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(0, 2));
  EXPECT_EQ(value(2), 1u);
  for (unsigned char round = 0; round < 5; ++round) {
    const std::uint64_t number = (*memories)[2].number;
    const hip::Status gone = buffers->withdraw(number);
    ASSERT_TRUE(gone) << gone.error().message;
    memories->drop_last();
    add_memories(3);
    set(0, 20 + round);
    ASSERT_TRUE(step(0, 2));
    ASSERT_TRUE(step(0, 2, 1));
    EXPECT_EQ(value(2), 20u + round);
  }
  EXPECT_EQ(buffers->counts().recorded, 2u);
}

// AMD's 7.2 and 6.4 answer success for a map whose size is not the memory's.
TEST_F(RemappedOnRuntime, MemoryThatIsSmallerThanStatedIsSeenAndTheNextStepsAreRight) {
  buffers.emplace(api(), std::vector<hip::RemappedBuffer>{{8, 2 * page}, {8, 2 * page}},
                  hip::RemappedBuffersOptions{.errors = into(told), .ranges = &memories->ranges()});
  add_memories(3);
  hip::PhysicalMemory wrong = (*memories)[2];
  wrong.bytes = 2 * page;
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(0, 1));
  EXPECT_FALSE(buffers->step(std::array{(*memories)[0], wrong}, {api(), streams[0], 0}, *work));
  for (int n = 0; n < 2; ++n) {
    set(0, static_cast<unsigned char>(50 + n));
    const hip::Result<hip::RemappedStep> done = step(0, 2);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(value(2), 50u + static_cast<unsigned>(n));
  }
  EXPECT_LE(buffers->counts().replaced, 1u);
}

TEST_F(RemappedOnRuntime, AfterClearTheNextStepsReserveAndRecordAgain) {
  add_memories(2);
  for (std::size_t n = 0; n < 3; ++n) ASSERT_TRUE(step(0, 1, n % 2));
  const hip::Status cleared = buffers->clear();
  ASSERT_TRUE(cleared) << cleared.error().message;
  set(0, 9);
  EXPECT_TRUE(step(0, 1).value().recorded);
  EXPECT_EQ(value(1), 9u);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s LIBRARY [GoogleTest's options]\n", argv[0]);
    return 2;
  }
  hip::Result<hip::LoadedApi> loaded = hip::load_api(argv[1]);
  if (!loaded) {
    std::fprintf(stderr, "%s\n", loaded.error().message.c_str());
    return 2;
  }
  api() = loaded.value().api;
  return RUN_ALL_TESTS();
}
