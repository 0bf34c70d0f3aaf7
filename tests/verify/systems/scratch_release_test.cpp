// hip::ScratchBuffer where a release hands memory to a stream too early (docs/findings.md, early-event-hands-memory):
// on the model, and on AMD's runtime 7.2.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "hip/release_quirks.h"
#include "hip/scratch_buffer.h"
#include "test_runtime.h"

namespace {

constexpr int k72 = 70200000;  // as hipRuntimeGetVersion says them
constexpr std::size_t kBytes = 4096, kLongBytes = std::size_t{16} << 20;

// A table that counts calls of hipFreeAsync. One at a time.
class CountedFrees {
 public:
  explicit CountedFrees(const hip::Api& api) : table_(api) {
    under_ = &api;
    count_ = 0;
    table_.hipFreeAsync = [](void* memory, hipStream_t stream) {
      ++count_;
      return under_->hipFreeAsync(memory, stream);
    };
  }
  [[nodiscard]] const hip::Api& table() const { return table_; }
  static int count() { return count_; }

 private:
  hip::Api table_;
  static inline const hip::Api* under_ = nullptr;
  static inline int count_ = 0;
};

// Two streams, of which the second has waited for an event that was recorded on the first before that was given work.
struct ScratchOfARelease : testing::Test {
  ScratchOfARelease() {
    must(api().hipStreamCreateWithFlags(&first_, hipStreamNonBlocking));
    must(api().hipStreamCreateWithFlags(&second_, hipStreamNonBlocking));
    must(api().hipEventCreateWithFlags(&early_, hipEventDisableTiming));
    must(api().hipMalloc(&long_, kLongBytes));
  }
  ~ScratchOfARelease() override {
    must(api().hipFree(long_));
    must(api().hipEventDestroy(early_));
    must(api().hipStreamDestroy(second_));
    must(api().hipStreamDestroy(first_));
  }

  static void must(hipError_t status) { ASSERT_EQ(status, hipSuccess); }
  const hip::Api& api() { return runtime_.platform().api(); }

  // The bytes of a scratch buffer of the second stream, written while the first one still fills memory that a scratch
  // buffer of its own has given up by growing.
  std::vector<unsigned char> written_beside(const hip::ReleaseQuirks& quirks) {
    const CountedFrees counted(api());
    const hip::ScratchOptions options{.free_async = quirks.of_free_async()};
    hip::ScratchBuffer grows({counted.table(), first_, 0}, options);
    hip::ScratchBuffer beside({counted.table(), second_, 0}, options);
    const hip::Result<void*> old = grows.reserve(kBytes);
    EXPECT_TRUE(old);
    must(api().hipEventRecord(early_, first_));
    for (int i = 0; i < 4; ++i) must(api().hipMemsetAsync(long_, i, kLongBytes, first_));
    must(api().hipMemsetAsync(old.value(), 7, kBytes, first_));
    EXPECT_TRUE(grows.reserve(2 * kBytes));
    must(api().hipStreamWaitEvent(second_, early_, 0));
    const hip::Result<void*> memory = beside.reserve(kBytes);
    EXPECT_TRUE(memory);
    handed_over_ = memory.value() == old.value();
    in_stream_order_ = counted.count() != 0;
    must(api().hipMemsetAsync(memory.value(), 9, kBytes, second_));
    must(api().hipStreamSynchronize(second_));
    must(api().hipDeviceSynchronize());
    std::vector<unsigned char> bytes(kBytes);
    must(api().hipMemcpy(bytes.data(), memory.value(), kBytes, hipMemcpyDeviceToHost));
    return bytes;
  }

  TestRuntime runtime_;
  hipStream_t first_ = nullptr, second_ = nullptr;
  hipEvent_t early_ = nullptr;
  void* long_ = nullptr;
  bool handed_over_ = false, in_stream_order_ = false;
};

TEST_F(ScratchOfARelease, WaitsForTheDeviceWhereTheReleaseHandsMemoryOverEarly) {
  EXPECT_EQ(written_beside(hip::ReleaseQuirks::of_version(k72)), std::vector<unsigned char>(kBytes, 9));
  EXPECT_FALSE(in_stream_order_);
}

TEST_F(ScratchOfARelease, GivesBackInTheStreamsOrderElsewhere) {
  const std::vector<unsigned char> bytes = written_beside(hip::ReleaseQuirks());
  EXPECT_TRUE(in_stream_order_);
  if (TestRuntime::kIsModel) {
    EXPECT_EQ(bytes, std::vector<unsigned char>(kBytes, 9));
  } else {
    EXPECT_TRUE(handed_over_) << "7.2 is taken for a release that does this; docs/findings.md";
  }
}

}  // namespace
