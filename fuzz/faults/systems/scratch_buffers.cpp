// F40 to F42: scratch buffers, right in all but one point each.
//
//   F40  grows by freeing and then allocating: its author thought that memory is too short for two buffers at once.
//        When the new buffer cannot be allocated, the old one is lost.
//   F41  hands out pieces one by one: the first piece is taken before the second one makes the buffer grow.
//   F42  its author thought that nobody uses a moved-from buffer: the stream moves away with the memory.
#include <utility>

#include "fuzz/faults/lists.h"
#include "hip/device_scope.h"

namespace fuzz {
namespace {

constexpr std::size_t kAlignment = verify::kScenarioGranularity;

std::size_t rounded(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

struct Habits {
  bool frees_first = false;        // F40
  bool cuts_one_by_one = false;    // F41
  bool stream_goes_along = false;  // F42
};

class PatchedScratch final : public verify::ScratchPart {
 public:
  PatchedScratch(hip::StreamRef stream, hip::ErrorSink errors, const Habits& habits)
      : stream_(stream), errors_(errors), habits_(habits) {}
  ~PatchedScratch() override {
    for (int attempt = 0; data_ != nullptr && attempt < 2; ++attempt) errors_(release());
  }

  hip::Result<void*> reserve(std::size_t bytes) override {
    if (bytes <= capacity_) return data_;
    const hip::Result<hip::DeviceScope> scope = enter();
    if (!scope) return scope.error();
    const std::size_t size = rounded(bytes);
    if (habits_.frees_first && data_ != nullptr) {
      if (const hip::Status freed = free(data_); !freed) return freed.error();
    }
    void* bigger = nullptr;
    const hip::Status taken = hip::call<&hip::Api::hipMallocAsync>(stream_.api(), &bigger, size, stream_.handle());
    if (!taken) return taken.error();
    if (!habits_.frees_first && data_ != nullptr) {
      if (hip::Status freed = free(data_); !freed) return hip::both(std::move(freed), free(bigger)).error();
    }
    data_ = bigger;
    capacity_ = size;
    return data_;
  }

  hip::Result<std::array<void*, 2>> pieces(std::size_t first, std::size_t second) override {
    if (!habits_.cuts_one_by_one) {
      const hip::Result<void*> base = reserve(rounded(first) + rounded(second));
      if (!base) return base.error();
      return std::array<void*, 2>{base.value(), static_cast<std::byte*>(base.value()) + rounded(first)};
    }
    const hip::Result<void*> one = reserve(first);
    if (!one) return one.error();
    const hip::Result<void*> whole = reserve(rounded(first) + second);
    if (!whole) return whole.error();
    return std::array<void*, 2>{one.value(), static_cast<std::byte*>(whole.value()) + rounded(first)};
  }

  [[nodiscard]] void* data() const override { return data_; }
  [[nodiscard]] std::size_t capacity() const override { return capacity_; }
  [[nodiscard]] hip::StreamRef stream() const override { return stream_; }

  hip::Status release() override {
    if (data_ == nullptr) return {};
    const hip::Result<hip::DeviceScope> scope = enter();
    if (!scope) return scope.error();
    hip::Status status = free(data_);
    if (status) data_ = nullptr, capacity_ = 0;
    return status;
  }

  std::unique_ptr<verify::ScratchPart> move_out() override {
    auto moved = std::make_unique<PatchedScratch>(stream_, errors_, habits_);
    moved->data_ = std::exchange(data_, nullptr);
    moved->capacity_ = std::exchange(capacity_, 0);
    if (habits_.stream_goes_along) stream_ = hip::StreamRef::of_default(stream_.api(), stream_.device());
    return moved;
  }

 private:
  [[nodiscard]] hip::Result<hip::DeviceScope> enter() const {
    return hip::DeviceScope::enter(stream_.api(), stream_.device(), errors_);
  }
  [[nodiscard]] hip::Status free(void* memory) const {
    return hip::call<&hip::Api::hipFreeAsync>(stream_.api(), memory, stream_.handle());
  }

  hip::StreamRef stream_;
  hip::ErrorSink errors_;
  const Habits habits_;
  void* data_ = nullptr;
  std::size_t capacity_ = 0;
};

verify::Parts with(const Habits& habits) {
  verify::Parts parts = verify::real_parts();
  parts.scratch = [habits](const hip::StreamRef& stream, hip::ErrorSink errors) {
    return std::make_unique<PatchedScratch>(stream, errors, habits);
  };
  return parts;
}

}  // namespace

std::vector<Fault> scratch_buffer_faults() {
  using enum verify::PropertyId;
  using enum verify::System;
  return {system_fault("F40", "scratch buffer", "frees the old buffer before the new one is allocated", kS3, kScratch,
                       with({.frees_first = true})),
          system_fault("F41", "scratch buffer", "keeps a pointer across a growing call", kS1, kScratch,
                       with({.cuts_one_by_one = true})),
          system_fault("F42", "scratch buffer", "a moved-from buffer loses its stream", kS3, kScratch,
                       with({.stream_goes_along = true}))};
}

}  // namespace fuzz
