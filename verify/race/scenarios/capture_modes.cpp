// Threads that capture streams in the three modes while other threads make calls that HIP forbids during a capture, on
// the host model.
//
// A lock guards the model's runtime, as in the model's drop-in library. CaptureRules states the rules of HIP's
// documentation of hipStreamBeginCapture and hipThreadExchangeStreamCaptureMode once more, and checks the answers.
#include <array>

#include "hip/sync/sync.h"
#include "model/runtime.h"
#include "verify/race/scenarios/scenarios.h"

namespace verify::race {
namespace {

using model::CaptureMode;
using model::Status;

enum CaptureVerb : std::uint8_t { kBegin, kUnsafe, kEnd, kEndOther, kRelax };

class CaptureWorld final : public World {
 public:
  explicit CaptureWorld(Referee&) {
    for (model::Stream*& stream : streams_) stream = &runtime_.create_stream(model::kStreamNonBlocking, 0, 0);
  }

  std::int64_t call(unsigned thread, const Call& call) override {
    const hip::sync::LockGuard lock(mutex_);
    return static_cast<std::int64_t>(answer(thread, call));
  }

 private:
  Status answer(unsigned thread, const Call& call) {
    model::Graph* graph = nullptr;
    switch (call.verb) {
      case kBegin:
        return runtime_.begin_capture(*streams_.at(thread), static_cast<CaptureMode>(call.argument % 3), thread);
      case kUnsafe:
        return runtime_.refuse_unsafe_call(callers_.at(thread), thread);
      case kEnd:
        return runtime_.end_capture(*streams_.at(thread), thread, &graph);
      case kEndOther:
        return runtime_.end_capture(*streams_.at((thread + 1) % 2), thread, &graph);
      default:
        callers_.at(thread) = CaptureMode::kRelaxed;
        return Status::kSuccess;
    }
  }

  hip::sync::Mutex mutex_;
  model::Runtime runtime_;  // guarded by mutex_
  std::array<model::Stream*, kMaxClientThreads> streams_{};
  std::array<CaptureMode, kMaxClientThreads> callers_{};  // each used by its thread only
};

class CaptureRules final : public SequentialModel {
 public:
  [[nodiscard]] std::unique_ptr<SequentialModel> clone() const override {
    return std::make_unique<CaptureRules>(*this);
  }

  bool accepts(unsigned thread, const Call& call, std::int64_t answer) override {
    return static_cast<std::int64_t>(right_answer(thread, call)) == answer;
  }

 private:
  struct OfStream {
    bool active = false, valid = true;
    CaptureMode mode{};
  };

  Status right_answer(unsigned thread, const Call& call) {
    switch (call.verb) {
      case kBegin:
        if (streams_.at(thread).active) return Status::kIllegalState;
        streams_.at(thread) = {true, true, static_cast<CaptureMode>(call.argument % 3)};
        return Status::kSuccess;
      case kUnsafe:
        return unsafe(thread);
      case kEnd:
        return end(streams_.at(thread), true);
      case kEndOther:
        return end(streams_.at((thread + 1) % 2), false);
      default:
        relaxed_.at(thread) = true;
        return Status::kSuccess;
    }
  }

  // A call is forbidden by the thread's own capture unless that is relaxed, and by the global captures of all threads.
  Status unsafe(unsigned thread) {
    if (relaxed_.at(thread)) return Status::kSuccess;
    Status status = Status::kSuccess;
    for (unsigned i = 0; i < kMaxClientThreads; ++i) {
      OfStream& stream = streams_.at(i);
      const bool forbids =
          stream.mode == CaptureMode::kGlobal || (stream.mode == CaptureMode::kThreadLocal && i == thread);
      if (!stream.active || !forbids) continue;
      stream.valid = false;
      status = Status::kStreamCaptureUnsupported;
    }
    return status;
  }

  static Status end(OfStream& stream, bool own) {
    if (!stream.active) return Status::kIllegalState;
    if (!own && stream.mode != CaptureMode::kRelaxed) return Status::kStreamCaptureWrongThread;
    stream.active = false;
    return stream.valid ? Status::kSuccess : Status::kStreamCaptureInvalidated;
  }

  std::array<OfStream, kMaxClientThreads> streams_{};  // each thread's own; only its thread begins captures on it
  std::array<bool, kMaxClientThreads> relaxed_{};
};

}  // namespace

Scenario capture_modes_scenario() {
  const Call global{kBegin, 0}, local{kBegin, 1}, relaxed{kBegin, 2}, unsafe{kUnsafe}, end{kEnd}, end_other{kEndOther},
      relax{kRelax};
  return {
      .name = "capture-modes",
      .system = "model",
      .summary = "captures in the three modes, and calls that they forbid, on the host model",
      .verbs = {{"begin", true}, {"unsafe"}, {"end"}, {"end-other"}, {"relax"}},
      .plans = {{"global and local", {{}, {{global, unsafe, end}, {local, unsafe, end}}, {}}},
                {"relaxed", {{}, {{relaxed, unsafe, end}, {unsafe, end_other, end}}, {}}},
                {"three threads", {{}, {{global, end}, {local, end}, {unsafe, relax, unsafe}}, {}}}},
      .make = [](Referee& referee, std::string_view) { return std::make_unique<CaptureWorld>(referee); },
      .model = [] { return std::make_unique<CaptureRules>(); },
      .property = "P7",
  };
}

}  // namespace verify::race
