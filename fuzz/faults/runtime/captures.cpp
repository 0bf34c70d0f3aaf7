// U09, U10, U13, U14 and U26: runtimes that are wrong while a stream is captured.
//
// U09 (ROCm/rocm-systems#11517). The author believed: a stream that waits for an event of a captured stream joins all
// streams that the event's stream has joined. The mistake: the event's stream may be the waiting stream itself, and the
// search for unjoined streams does not consider this. P7.
//
// U10 (CHIP-SPV/chipStar#1490). The author believed: a capturing stream still runs its work, and also records it. The
// mistake: work that is given to a capturing stream must not run. P6.
//
// U13 (ROCm/hip#3876). The author believed: querying an event while any stream is captured is unsafe. The mistake: the
// event may have been recorded elsewhere, and then the capture has nothing to do with it. P7.
//
// U14 (ROCm/rocm-systems#738). The author believed: ending a capture hands its graph over. The mistake: when the end
// fails, nothing owns the graph or destroys it. P8.
//
// U26 (ROCm, legacy build 4614). The author stored a capture's mode, and wrote the call that reads it before the call
// that stores it. The result: a capture goes by the mode of the capture before it. P7.
#include <optional>
#include <set>

#include "fuzz/faults/runtime/faults.h"
#include "fuzz/faults/runtime/queries.h"

namespace fuzz {

namespace {

class JoinsItselfForEver final : public hip::ApiLayer {
  using Self = JoinsItselfForEver;

  void start() override {
    recorded_.clear();
    joined_.clear();
    replace().hipEventRecord = record;
    replace().hipStreamWaitEvent = wait;
  }

  static hipError_t record(hipEvent_t event, hipStream_t stream) {
    Self& self = current<Self>();
    self.recorded_[event] = stream;
    return self.inner().hipEventRecord(event, stream);
  }
  static hipError_t wait(hipStream_t stream, hipEvent_t event, unsigned flags) {
    Self& self = current<Self>();
    const auto recorded = self.recorded_.find(event);
    if (recorded != self.recorded_.end() && captures(self.inner(), recorded->second)) {
      self.joined_[stream].insert(recorded->second);
      static_cast<void>(self.join(stream));
    }
    return self.inner().hipStreamWaitEvent(stream, event, flags);
  }
  // How many streams a join reaches. The call is no tail call, so it really recurses.
  std::size_t join(hipStream_t stream) {  // NOLINT(misc-no-recursion)
    std::size_t reached = 1;
    for (const hipStream_t other : joined_[stream]) reached += join(other);
    return reached;
  }

  std::map<hipEvent_t, hipStream_t> recorded_;
  std::map<hipStream_t, std::set<hipStream_t>> joined_;
};

class RunsWhatItCaptures final : public hip::ApiLayer {
  using Self = RunsWhatItCaptures;

  void start() override { replace().hipLaunchHostFunc = host; }

  static hipError_t host(hipStream_t stream, hipHostFn_t function, void* data) {
    const hip::Api& hip = current<Self>().inner();
    if (captures(hip, stream)) function(data);
    return hip.hipLaunchHostFunc(stream, function, data);
  }
};

class RejectsQueriesElsewhere final : public hip::ApiLayer {
  using Self = RejectsQueriesElsewhere;

  void start() override {
    capturing_.clear();
    replace().hipStreamBeginCapture = begin;
    replace().hipStreamEndCapture = end;
    replace().hipEventQuery = query;
  }

  static hipError_t begin(hipStream_t stream, hipStreamCaptureMode mode) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipStreamBeginCapture(stream, mode);
    if (status == hipSuccess) self.capturing_.insert(stream);
    return status;
  }
  static hipError_t end(hipStream_t stream, hipGraph_t* graph) {
    Self& self = current<Self>();
    self.capturing_.erase(stream);
    return self.inner().hipStreamEndCapture(stream, graph);
  }
  static hipError_t query(hipEvent_t event) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipEventQuery(event);
    const bool answered = status == hipSuccess || status == hipErrorNotReady;
    return answered && !self.capturing_.empty() ? hipErrorStreamCaptureUnsupported : status;
  }

  std::set<hipStream_t> capturing_;
};

class LosesTheGraphOfAFailedEnd final : public hip::ApiLayer {
  using Self = LosesTheGraphOfAFailedEnd;

  void start() override { replace().hipStreamEndCapture = end; }

  static hipError_t end(hipStream_t stream, hipGraph_t* graph) {
    const hip::Api& hip = current<Self>().inner();
    const hipError_t status = hip.hipStreamEndCapture(stream, graph);
    hipGraph_t captured = nullptr;  // replaces the captured graph, which the inner runtime has cleaned up
    if (status != hipSuccess && status != hipErrorIllegalState) static_cast<void>(hip.hipGraphCreate(&captured, 0));
    return status;
  }
};

class KeepsAnEarlierMode final : public hip::ApiLayer {
  using Self = KeepsAnEarlierMode;

  void start() override {
    stored_.reset();
    replace().hipStreamBeginCapture = begin;
  }

  static hipError_t begin(hipStream_t stream, hipStreamCaptureMode mode) {
    Self& self = current<Self>();
    const bool known = mode >= hipStreamCaptureModeGlobal && mode <= hipStreamCaptureModeRelaxed;
    const hipError_t status = self.inner().hipStreamBeginCapture(stream, known ? self.stored_.value_or(mode) : mode);
    if (status == hipSuccess) self.stored_ = mode;
    return status;
  }

  std::optional<hipStreamCaptureMode> stored_;  // by the latest capture
};

}  // namespace

std::vector<RuntimeFault> captures_faults() {
  return {{"U09", layer_factory<JoinsItselfForEver>()},
          {"U10", layer_factory<RunsWhatItCaptures>()},
          {"U13", layer_factory<RejectsQueriesElsewhere>()},
          {"U14", layer_factory<LosesTheGraphOfAFailedEnd>()},
          {"U26", layer_factory<KeepsAnEarlierMode>()}};
}

}  // namespace fuzz
