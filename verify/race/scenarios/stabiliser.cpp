// Threads that do steps through one hip::AddressStabilizer: the same command from several threads, buffers that outgrow
// the command's own, and meanwhile commands that are released and everything that is freed.
#include <array>
#include <map>
#include <optional>
#include <set>

#include "hip/address_stabilizer.h"
#include "hip/sync/sync.h"
#include "verify/race/scenarios/scenarios.h"

namespace verify::race {
namespace {

using hip::sync::Cell;

enum StabiliserVerb : std::uint8_t { kStep, kRelease, kClear };

// A step's argument: command and size of its buffer, a digit each. A larger argument is taken modulo 100.
constexpr std::size_t kDigits = 10, kGrain = 256;
std::size_t command_of(std::int32_t argument) {
  return static_cast<std::size_t>(argument) / kDigits % kDigits;
}
std::size_t bytes_of(std::int32_t argument) {
  return kGrain * (1 + static_cast<std::size_t>(argument) % kDigits);
}

// Follows the stabiliser's calls of HIP as they happen: the live persistent buffers, and the stream of the step that is
// between its copy in and its copy back. A correct stabiliser makes these calls under its lock, so Watch needs no lock.
class Watch {
 public:
  explicit Watch(Referee& referee) : referee_(referee) {
    current_ = this;
    api_ = FakeHip::api();
    api_.hipMalloc = [](void** out, std::size_t bytes) {
      const hipError_t status = FakeHip::api().hipMalloc(out, bytes);
      if (status == hipSuccess) current_->live_.write().insert(*out);
      return status;
    };
    api_.hipFree = [](void* memory) {
      current_->live_.write().erase(memory);
      return FakeHip::api().hipFree(memory);
    };
    api_.hipMemcpyAsync = [](void* to, const void* from, std::size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
      current_->copies(stream);
      return FakeHip::api().hipMemcpyAsync(to, from, bytes, kind, stream);
    };
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() { current_ = nullptr; }

  [[nodiscard]] const hip::Api& api() const { return api_; }
  void launches(const void* own, hipStream_t stream) {
    if (!live_.read().contains(const_cast<void*>(own))) {
      referee_.broken(FailureKind::kUseAfterFree, "C2", "a command is launched on a buffer that was freed");
    }
    if (step_of_.read() != stream) referee_.broken(FailureKind::kInvariant, "S4", "a launch stands in another's step");
  }

 private:
  // Each step has one buffer, which is copied in and back.
  void copies(hipStream_t stream) {
    hipStream_t& now = step_of_.write();
    if (now != nullptr && now != stream) {
      referee_.broken(FailureKind::kInvariant, "S4", "two steps copy through the persistent buffers at once");
    }
    now = now == nullptr ? stream : nullptr;
  }

  static inline Watch* current_ = nullptr;
  Referee& referee_;
  hip::Api api_;
  Cell<std::set<void*>> live_;
  Cell<hipStream_t> step_of_;
};

class WatchedWork final : public hip::StableWork {
 public:
  Watch* watch = nullptr;

  hip::Status record(std::span<void* const> addresses) override {
    own_.write() = addresses[0];
    return {};
  }
  hip::Status launch(const hip::StreamRef& stream) override {
    void* const own = own_.read();
    watch->launches(own, stream.handle());
    return hip::called(FakeHip::api().hipMemsetAsync(own, 0, kGrain, stream.handle()), "hipMemsetAsync");
  }

 private:
  Cell<void*> own_;
};

class StabiliserWorld final : public World {
 public:
  explicit StabiliserWorld(Referee& referee) : referee_(referee), hip_(referee), watch_(referee) {
    for (WatchedWork& work : works_) work.watch = &watch_;
    for (hipStream_t& stream : streams_) (void)FakeHip::api().hipStreamCreateWithFlags(&stream, hipStreamNonBlocking);
    for (void*& buffer : buffers_) (void)FakeHip::api().hipMalloc(&buffer, kGrain * kDigits);
    stabilizer_.emplace(watch_.api(), hip::AddressStabilizerOptions{.device = 0, .errors = no_sink()});
  }

  std::int64_t call(unsigned thread, const Call& call) override {
    if (call.verb == kStep) return step(thread, call.argument);
    const auto command = static_cast<hip::AddressStabilizer::Command>(command_of(call.argument));
    const hip::Status status = call.verb == kRelease ? stabilizer_->release(command) : stabilizer_->clear();
    if (!status) referee_.broken(FailureKind::kInvariant, "C4", "freeing fails: " + status.error().message);
    return 0;
  }

  void finish() override {
    stabilizer_.reset();
    for (void* buffer : buffers_) (void)FakeHip::api().hipFree(buffer);
    for (hipStream_t stream : streams_) (void)FakeHip::api().hipStreamDestroy(stream);
    hip_.expect_nothing_left();
  }

 private:
  std::int64_t step(unsigned thread, std::int32_t argument) {
    const std::size_t command = command_of(argument);
    const hip::StepBuffer buffer{buffers_.at(thread), bytes_of(argument), hip::BufferUse::kInOut};
    const hip::StreamRef stream(watch_.api(), streams_.at(thread), 0);
    const hip::Result<hip::StableStep> outcome = stabilizer_->step(
        static_cast<hip::AddressStabilizer::Command>(command), {&buffer, 1}, stream, works_.at(command));
    if (outcome) return outcome.value().recorded ? 1 : 0;
    referee_.broken(FailureKind::kInvariant, "S4", "a step fails: " + outcome.error().message);
    return -1;
  }

  Referee& referee_;
  FakeHip hip_;
  Watch watch_;
  std::array<WatchedWork, kDigits> works_;
  std::array<hipStream_t, kMaxClientThreads> streams_{};
  std::array<void*, kMaxClientThreads> buffers_{};  // each used by its thread only
  std::optional<hip::AddressStabilizer> stabilizer_;
};

// A step records when its command has no buffer, or one that is too small.
class StabiliserModel final : public SequentialModel {
 public:
  [[nodiscard]] std::unique_ptr<SequentialModel> clone() const override {
    return std::make_unique<StabiliserModel>(*this);
  }

  bool accepts(unsigned, const Call& call, std::int64_t answer) override {
    if (call.verb == kClear) sizes_.clear();
    if (call.verb == kRelease) sizes_.erase(command_of(call.argument));
    if (call.verb != kStep) return true;
    std::size_t& size = sizes_[command_of(call.argument)];
    const bool records = size < bytes_of(call.argument);
    if (records) size = bytes_of(call.argument);
    return answer == (records ? 1 : 0);
  }

 private:
  std::map<std::size_t, std::size_t> sizes_;
};

}  // namespace

Scenario stabiliser_scenario() {
  const auto step = [](std::int32_t argument) { return Call{kStep, argument}; };
  const Call release{kRelease, 0}, clear{kClear};
  return {
      .name = "stabiliser",
      .system = "stabiliser",
      .summary =
          "steps of commands: the same one from several threads, growing, released while another inserts, teardown",
      .verbs = {{"step", true}, {"release", true}, {"clear"}},
      .plans = {{"same command", {{}, {{step(0), step(1), step(0)}, {step(0), step(10), step(1)}}, {step(0)}}},
                {"release", {{step(0)}, {{release, step(0), release}, {step(0), step(11), step(0)}}, {step(0)}}},
                {"three threads", {{}, {{step(0), step(10)}, {step(1), release}, {step(0), clear}}, {step(0)}}}},
      .make = [](Referee& referee, std::string_view) { return std::make_unique<StabiliserWorld>(referee); },
      .model = [] { return std::make_unique<StabiliserModel>(); },
      .property = "C5",
  };
}

}  // namespace verify::race
