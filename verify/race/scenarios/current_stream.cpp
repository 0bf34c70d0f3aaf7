// Threads that make streams current, each for itself, and give work to the current stream.
#include <array>
#include <optional>

#include "hip/stream.h"
#include "hip/sync/sync.h"
#include "verify/race/scenarios/scenarios.h"

namespace verify::race {
namespace {

enum CurrentVerb : std::uint8_t { kEnter, kLeave, kUse };

class Current {
 public:
  virtual ~Current() = default;
  virtual void enter(unsigned thread, const hip::StreamRef& stream) = 0;
  virtual void leave(unsigned thread) = 0;
  [[nodiscard]] virtual std::optional<hip::StreamRef> get() = 0;
};

class OfTheThread final : public Current {
 public:
  void enter(unsigned thread, const hip::StreamRef& stream) override { scopes_.at(thread).emplace(stream); }
  void leave(unsigned thread) override { scopes_.at(thread).reset(); }
  [[nodiscard]] std::optional<hip::StreamRef> get() override { return hip::CurrentStream::get(); }

 private:
  std::array<std::optional<hip::CurrentStream>, kMaxClientThreads> scopes_;  // each used by its thread only
};

// F36: the whole process has one current stream. A lock guards it, so there is no data race.
class OfTheProcess final : public Current {
 public:
  void enter(unsigned, const hip::StreamRef& stream) override { set(stream); }
  void leave(unsigned) override { set(std::nullopt); }
  [[nodiscard]] std::optional<hip::StreamRef> get() override {
    const hip::sync::LockGuard lock(mutex_);
    return current_.read();
  }

 private:
  void set(const std::optional<hip::StreamRef>& stream) {
    const hip::sync::LockGuard lock(mutex_);
    current_.write() = stream;
  }
  hip::sync::Mutex mutex_;
  hip::sync::Cell<std::optional<hip::StreamRef>> current_;  // guarded by mutex_
};

class CurrentStreamWorld final : public World {
 public:
  CurrentStreamWorld(Referee& referee, std::unique_ptr<Current> current)
      : referee_(referee), hip_(referee), current_(std::move(current)) {
    for (hipStream_t& stream : streams_) (void)FakeHip::api().hipStreamCreateWithFlags(&stream, hipStreamNonBlocking);
  }

  std::int64_t call(unsigned thread, const Call& call) override {
    const hip::StreamRef mine(FakeHip::api(), streams_.at(thread), 0);
    bool& entered = entered_.at(thread);
    if (call.verb == kEnter && !entered) {
      current_->enter(thread, mine);
      entered = true;
    } else if (call.verb == kLeave && entered) {
      current_->leave(thread);
      entered = false;
    } else if (call.verb == kUse) {
      const std::optional<hip::StreamRef> stream = current_->get();
      const bool right = entered ? stream == mine : !stream.has_value();
      if (!right)
        referee_.broken(FailureKind::kInvariant, "S2", "a thread's current stream is not the one that it entered");
      if (stream) (void)stream->api().hipMemsetAsync(nullptr, 0, 0, stream->handle());
    }
    return 0;
  }

  void finish() override {
    for (hipStream_t& stream : streams_) (void)FakeHip::api().hipStreamDestroy(stream);
    hip_.expect_nothing_left();
  }

 private:
  Referee& referee_;
  FakeHip hip_;
  std::unique_ptr<Current> current_;
  std::array<hipStream_t, kMaxClientThreads> streams_{};
  std::array<bool, kMaxClientThreads> entered_{};  // each used by its thread only
};

}  // namespace

Scenario current_stream_scenario() {
  const Call enter{kEnter}, leave{kLeave}, use{kUse};
  return {
      .name = "current-stream",
      .system = "streams",
      .summary = "threads make their stream current and work on it",
      .verbs = {{"enter"}, {"leave"}, {"use"}},
      .plans = {{"two threads", {{}, {{enter, use, leave}, {enter, use, leave}}, {}}},
                {"three threads", {{}, {{enter, use, leave}, {enter, use, leave}, {use, enter, use}}, {}}}},
      .make = [](Referee& referee, std::string_view fault) -> std::unique_ptr<World> {
        std::unique_ptr<Current> current = std::make_unique<OfTheThread>();
        if (fault == "F36") current = std::make_unique<OfTheProcess>();
        return std::make_unique<CurrentStreamWorld>(referee, std::move(current));
      },
      .faults = {"F36"},
  };
}

}  // namespace verify::race
