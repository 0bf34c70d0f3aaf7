// Threads that execute commands through one hip::TraceCache: hits, moves, evictions, and buffers that are freed and
// whose addresses are used again, at the same time.
#include "hip/trace_cache.h"

#include <algorithm>
#include <array>
#include <vector>

#include "hip/sync/sync.h"
#include "verify/race/scenarios/scenarios.h"

namespace verify::race {
namespace {

enum TraceVerb : std::uint8_t { kStep, kForget, kClear };
constexpr std::size_t kMaxTraces = 2;

// A step's argument: command, identity of its buffer and address, a digit each. No trace can be patched to kRefused.
constexpr std::uint64_t kRefused = 9;
struct TraceStep {
  std::uint64_t command, identity, address;
  explicit TraceStep(std::int32_t argument)
      : command(static_cast<std::uint64_t>(argument) / 100),
        identity(static_cast<std::uint64_t>(argument) / 10 % 10),
        address(static_cast<std::uint64_t>(argument) % 10) {}
  [[nodiscard]] hip::TraceBuffer buffer() const { return {identity, address}; }
};

// A trace on one buffer, with memory of its own. `wanted` has the buffer that each thread's step is about.
class OneBufferTrace final : public hip::Trace {
 public:
  OneBufferTrace(Referee& referee, const hip::TraceBuffer& buffer, const std::array<hip::TraceBuffer, 8>& wanted)
      : referee_(referee), wanted_(wanted), buffer_(buffer) {
    (void)FakeHip::api().hipMalloc(&memory_, 64);
  }
  ~OneBufferTrace() override { (void)FakeHip::api().hipFree(memory_); }

  hip::Status patch(std::span<const hip::TraceBuffer> buffers) override {
    if (buffers[0].address == kRefused) return hip::Error{hipErrorNotSupported, "no trace can be brought there"};
    buffer_.write() = buffers[0];
    return {};
  }
  // The stream's device is the number of the thread that launches.
  hip::Status launch(const hip::StreamRef& stream) override {
    if (buffer_.read() != wanted_.at(static_cast<std::size_t>(stream.device()))) {
      referee_.broken(FailureKind::kInvariant, "A3", "a trace is launched with the buffers of another step");
    }
    return hip::called(FakeHip::api().hipMemsetAsync(memory_, 0, 64, stream.handle()), "hipMemsetAsync");
  }

 private:
  Referee& referee_;
  const std::array<hip::TraceBuffer, 8>& wanted_;
  hip::sync::Cell<hip::TraceBuffer> buffer_;
  void* memory_ = nullptr;
};

class TraceCacheWorld final : public World {
 public:
  explicit TraceCacheWorld(Referee& referee) : referee_(referee), hip_(referee), cache_({.max_traces = kMaxTraces}) {
    for (hipStream_t& stream : streams_) (void)FakeHip::api().hipStreamCreateWithFlags(&stream, hipStreamNonBlocking);
  }

  std::int64_t call(unsigned thread, const Call& call) override {
    if (call.verb == kForget) {
      cache_.forget(static_cast<std::uint64_t>(call.argument));
      return 0;
    }
    if (call.verb == kClear) {
      cache_.clear();
      return 0;
    }
    const TraceStep step(call.argument);
    const hip::TraceBuffer buffer = step.buffer();
    wanted_.at(thread) = buffer;
    const hip::StreamRef stream(FakeHip::api(), streams_.at(thread), static_cast<int>(thread));
    const hip::Result<hip::TraceOutcome> outcome =
        cache_.execute(step.command, {&buffer, 1}, stream, [&](std::span<const hip::TraceBuffer> buffers) {
          return std::unique_ptr<hip::Trace>(new OneBufferTrace(referee_, buffers[0], wanted_));
        });
    if (outcome) return static_cast<std::int64_t>(outcome.value());
    referee_.broken(FailureKind::kInvariant, "C5", "a step fails: " + outcome.error().message);
    return -1;
  }

  void finish() override {
    if (cache_.size() > kMaxTraces) referee_.broken(FailureKind::kInvariant, "P8", "a cache outgrows its bound");
    cache_.clear();
    for (hipStream_t& stream : streams_) (void)FakeHip::api().hipStreamDestroy(stream);
    hip_.expect_nothing_left();
  }

 private:
  Referee& referee_;
  FakeHip hip_;
  hip::TraceCache cache_;
  std::array<hipStream_t, kMaxClientThreads> streams_{};
  std::array<hip::TraceBuffer, 8> wanted_{};  // each used by its thread only
};

// The traces that are kept, each with the address of its buffer; the trace that was executed last is at the end.
class TraceCacheModel final : public SequentialModel {
 public:
  [[nodiscard]] std::unique_ptr<SequentialModel> clone() const override {
    return std::make_unique<TraceCacheModel>(*this);
  }

  bool accepts(unsigned, const Call& call, std::int64_t answer) override {
    if (call.verb == kClear) {
      traces_.clear();
      return true;
    }
    if (call.verb == kForget) {
      std::erase_if(traces_, [&](const TraceStep& trace) { return trace.identity == step_of(call.argument); });
      return true;
    }
    const TraceStep step(call.argument);
    const auto found = std::ranges::find_if(traces_, [&](const TraceStep& trace) {
      return trace.command == step.command && trace.identity == step.identity;
    });
    auto outcome = hip::TraceOutcome::kRecorded;
    if (found != traces_.end()) {
      if (found->address == step.address)
        outcome = hip::TraceOutcome::kHit;
      else if (step.address != kRefused)
        outcome = hip::TraceOutcome::kPatched;
      traces_.erase(found);
    }
    traces_.push_back(step);
    if (traces_.size() > kMaxTraces) traces_.erase(traces_.begin());
    return answer == static_cast<std::int64_t>(outcome);
  }

 private:
  static std::uint64_t step_of(std::int32_t argument) { return static_cast<std::uint64_t>(argument); }

  std::vector<TraceStep> traces_;
};

}  // namespace

Scenario trace_cache_scenario() {
  const auto step = [](std::int32_t argument) { return Call{kStep, argument}; };
  const Call forget{kForget, 1}, clear{kClear};
  return {
      .name = "trace-cache",
      .system = "trace cache",
      .summary = "execute commands: hits, moved buffers, evictions, buffers that go and addresses that come again",
      .verbs = {{"step", true}, {"forget", true}, {"clear"}},
      .plans =
          {{"hit and patch", {{step(111)}, {{step(111), step(112), step(111)}, {step(112), step(111), step(119)}}, {}}},
           {"evict", {{step(111), step(211)}, {{step(311), step(111), step(211)}, {step(111), clear, step(112)}}, {}}},
           {"addresses come again", {{}, {{step(111), forget, step(121)}, {step(111), step(121), step(122)}}, {}}},
           {"three threads", {{step(111)}, {{step(112), step(211)}, {step(111), step(311)}, {forget, step(112)}}, {}}}},
      .make = [](Referee& referee, std::string_view) { return std::make_unique<TraceCacheWorld>(referee); },
      .model = [] { return std::make_unique<TraceCacheModel>(); },
      .property = "C5",
  };
}

}  // namespace verify::race
