// hip::CachedAllocator against verify/systems/allocator_model.h, on the host model: with and without calls that fail,
// whichever device is current. Between threads the explorer has it (verify/race/scenarios/stable_buffers.cpp).
#include "hip/cached_allocator.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <ostream>
#include <vector>

#include "test_runtime.h"
#include "verify/execute/interposer.h"
#include "verify/systems/allocator_model.h"

namespace {

using verify::AllocatorModel;
using Name = AllocatorModel::Name;

constexpr std::array<verify::Function, 5> kCalls = {verify::Function::k_hipMalloc, verify::Function::k_hipFree,
                                                    verify::Function::k_hipGetDevice, verify::Function::k_hipSetDevice,
                                                    verify::Function::k_hipThreadExchangeStreamCaptureMode};
constexpr Name kNames = 4;

class Bed {
 public:
  explicit Bed(int device) : device_(device) {
    interposer_.begin(runtime_.platform().api(), false);
    scope_.emplace(interposer_);
    allocator_.emplace(interposer_.table(), hip::CachedAllocatorOptions{device, sink()});
  }
  Bed(const Bed&) = delete;
  Bed& operator=(const Bed&) = delete;
  // Whatever failed before: the destructor frees everything, once.
  ~Bed() {
    disarm();
    allocator_.reset();
    EXPECT_EQ(allocations(), 0u);
    EXPECT_EQ(interposer_.refused_returns(), 0u);
    EXPECT_EQ(inner().hipSetDevice(0), hipSuccess);
  }

  hip::CachedAllocator& allocator() { return *allocator_; }
  verify::Interposer& interposer() { return interposer_; }
  const hip::Api& inner() { return interposer_.inner(); }
  std::uint64_t allocations() {
    for (const verify::Held& held : runtime_.platform().held()) {
      if (held.what == "allocations") return held.count;
    }
    return 0;
  }
  // Fills `bytes` of device memory with the value.
  void fill(void* memory, int value, std::size_t bytes) {
    EXPECT_EQ(inner().hipMemset(memory, value, bytes), hipSuccess);
    EXPECT_EQ(inner().hipDeviceSynchronize(), hipSuccess);
  }
  std::vector<unsigned char> bytes_at(const void* memory, std::size_t bytes) {
    std::vector<unsigned char> seen(bytes);
    EXPECT_EQ(inner().hipMemcpy(seen.data(), memory, bytes, hipMemcpyDeviceToHost), hipSuccess);
    return seen;
  }
  int device_of(const void* memory) {
    hipPointerAttribute_t attributes{};
    EXPECT_EQ(inner().hipPointerGetAttributes(&attributes, memory), hipSuccess);
    return attributes.device;
  }
  int current() {
    int device = -1;
    EXPECT_EQ(inner().hipGetDevice(&device), hipSuccess);
    return device;
  }
  void disarm() {
    for (const verify::Function function : kCalls) interposer_.fail(function, 0);
  }

  struct Kept {
    void* address = nullptr;
    unsigned char value = 0;
  };
  std::map<Name, Kept> kept_;  // the address from the last get() of each name, and the value written there
  const int device_;           // the allocator's
  std::size_t told_ = 0;
  unsigned char values_ = 0;

 private:
  hip::ErrorSink sink() {
    return {[](void* self, const hip::Error&) { ++static_cast<Bed*>(self)->told_; }, this};
  }

  TestRuntime runtime_;
  verify::Interposer interposer_;
  std::optional<verify::Interposer::Scope> scope_;
  std::optional<hip::CachedAllocator> allocator_;
};

// The failure that is drawn with an action: the nth call of a function from there on, or none.
struct Failure {
  std::size_t function = 0;
  std::uint32_t nth = 0;
  friend std::ostream& operator<<(std::ostream& out, const Failure& failure) {
    return failure.nth == 0 ? out : out << ", " << verify::function_name(kCalls.at(failure.function)) << " fails";
  }
};
Failure draw_failure(bool wanted) {
  if (!wanted || *rc::gen::inRange(0, 3) != 0) return {};
  return {*rc::gen::inRange<std::size_t>(0, kCalls.size()), *rc::gen::inRange<std::uint32_t>(1, 3)};
}

// How an action's call of HIP failed, if it did.
class Armed {
 public:
  Armed(Bed& bed, const Failure& failure) : bed_(bed), fired_(bed.interposer().fired()), device_(bed.current()) {
    bed.told_ = 0;
    if (failure.nth != 0) bed.interposer().fail(kCalls.at(failure.function), failure.nth);
  }
  Armed(const Armed&) = delete;
  Armed& operator=(const Armed&) = delete;
  ~Armed() { bed_.disarm(); }
  [[nodiscard]] bool fired() const { return bed_.interposer().fired() != fired_; }
  [[nodiscard]] bool fired_of(verify::Function function) const {
    return fired() && bed_.interposer().last_fired() == function;
  }
  // A failed call is the answer, or told; the caller's device is current again unless putting it back failed.
  void check(bool ok) {
    RC_ASSERT(!fired() || !ok || bed_.told_ != 0);
    RC_ASSERT(ok || fired());
    if (!fired_of(verify::Function::k_hipSetDevice)) RC_ASSERT(bed_.current() == device_);
    RC_ASSERT(bed_.inner().hipSetDevice(device_) == hipSuccess);
  }

 private:
  Bed& bed_;
  std::uint64_t fired_;
  int device_;
};

// The model cannot know which call fails before it has: an action tells it. The state that RapidCheck keeps is nothing.
struct Nothing {};
struct System {
  Bed bed;
  AllocatorModel model;
};
using Act = rc::state::Command<Nothing, System>;
bool g_failures = false;  // of the actions that are drawn

bool begins_there(System& system, const void* address) {
  return std::any_of(system.model.buffers().begin(), system.model.buffers().end(),
                     [&](const auto& buffer) { return system.bed.kept_.at(buffer.first).address == address; });
}

void expect_as_modelled(System& system) {
  RC_ASSERT(system.bed.allocations() == system.model.held());
  RC_ASSERT(system.bed.allocator().size() == system.model.buffers().size());
  for (const auto& [name, bytes] : system.model.buffers()) {
    const Bed::Kept& kept = system.bed.kept_.at(name);
    RC_ASSERT(system.bed.device_of(kept.address) == system.bed.device_);
    const auto* begin = static_cast<const std::byte*>(kept.address);
    RC_ASSERT(system.bed.allocator().holds(begin));
    RC_ASSERT(system.bed.allocator().holds(begin + bytes - 1));
    RC_ASSERT(system.bed.allocator().holds(begin - 1, 2));
    RC_ASSERT(system.bed.allocator().holds(begin + bytes) == begins_there(system, begin + bytes));
    RC_ASSERT(system.bed.bytes_at(kept.address, bytes) == std::vector<unsigned char>(bytes, kept.value));
  }
}

struct Get : Act {
  Name name = *rc::gen::inRange<Name>(0, kNames);
  std::size_t bytes = *rc::gen::element<std::size_t>(1, 64, 256, 257, 4096);
  Failure failure = draw_failure(g_failures);

  void run(const Nothing&, System& system) const override {
    Bed& bed = system.bed;
    const bool moves = system.model.moves(name, bytes), replaces = system.model.replaces(name, bytes);
    RC_ASSERT(bed.allocator().replaces(name, bytes) == replaces);
    Armed armed(bed, failure);
    const hip::Result<hip::CachedAllocator::Buffer> got = bed.allocator().get(name, bytes);
    armed.check(got.ok());
    if (got) {
      system.model.got(name, bytes, !armed.fired_of(verify::Function::k_hipFree));
      RC_ASSERT(got.value().moved == moves);
      RC_ASSERT(got.value().bytes == system.model.bytes_of(name));
      Bed::Kept& kept = bed.kept_[name];
      // The larger one was there before the smaller one went: it is not in its place.
      if (replaces || !moves) RC_ASSERT((got.value().address == kept.address) == !moves);
      if (moves) {
        kept = {got.value().address, ++bed.values_};
        bed.fill(kept.address, kept.value, bytes);
      }
    }
    expect_as_modelled(system);
  }
  void show(std::ostream& out) const override { out << "get " << name << ", " << bytes << " bytes" << failure; }
};

struct Release : Act {
  Name name = *rc::gen::inRange<Name>(0, kNames);
  Failure failure = draw_failure(g_failures);

  void run(const Nothing&, System& system) const override {
    Armed armed(system.bed, failure);
    const bool there = system.model.has(name);
    const void* const address = there ? system.bed.kept_.at(name).address : nullptr;
    const bool ok = system.bed.allocator().release(name).ok();
    armed.check(ok);
    system.model.released(name, ok);
    if (there) RC_ASSERT(!system.bed.allocator().holds(address));
    expect_as_modelled(system);
  }
  void show(std::ostream& out) const override { out << "release " << name << failure; }
};

struct Clear : Act {
  Failure failure = draw_failure(g_failures);

  void run(const Nothing&, System& system) const override {
    Armed armed(system.bed, failure);
    const bool ok = system.bed.allocator().clear().ok();
    armed.check(ok);
    system.model.cleared(ok ? 0 : 1);
    expect_as_modelled(system);
  }
  void show(std::ostream& out) const override { out << "clear" << failure; }
};

struct MakeCurrent : Act {
  int device = *rc::gen::inRange(0, TestRuntime::kDevices);
  void run(const Nothing&, System& system) const override {
    RC_ASSERT(system.bed.inner().hipSetDevice(device) == hipSuccess);
  }
  void show(std::ostream& out) const override { out << "make device " << device << " current"; }
};

void holds_against_its_model(bool failures) {
  g_failures = failures;
  EXPECT_TRUE(rc::check([] {
    System system{Bed(*rc::gen::inRange(0, TestRuntime::kDevices)), {}};
    rc::state::check(Nothing(), system,
                     rc::state::gen::execOneOfWithArgs<Get, Get, Get, Release, Clear, MakeCurrent>());
    RC_ASSERT(!testing::Test::HasFailure());
  }));
}

TEST(CachedAllocators, DoWhatTheirModelSays) {
  holds_against_its_model(false);
}

TEST(CachedAllocators, DoWhatTheirModelSaysWhenCallsFail) {
  holds_against_its_model(true);
}

}  // namespace
