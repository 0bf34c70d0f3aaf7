// Answers that families of commands share; the contract is in the header.
#include "verify/commands/captures/answers.h"

#include <fmt/format.h>

#include <algorithm>

namespace verify {

namespace {

// Whether a blocking stream of device 0 takes part in the capture.
bool waits_for_null_stream(const State& state, const CaptureState& capture) {
  return std::ranges::any_of(capture.behind, [&state](const auto& entry) {
    const StreamState* stream = state.parts().streams.find(entry.first);
    return stream != nullptr && stream->alive && !stream->non_blocking && stream->device == 0;
  });
}

CaptureAnswer never_captured(const State& state, Id stream) {
  const CaptureState* capture = state.capture_of(stream);
  return capture == nullptr ? answer_to_null_stream(state, stream) : invalidate(kAnswerUnsupported, *capture);
}

}  // namespace

CaptureAnswer refuse(int status) {
  return {status, {}};
}

CaptureAnswer invalidate(int status, const CaptureState& capture) {
  return {status, {capture.serial}};
}

CaptureAnswer answer_to_null_stream(const State& state, Id stream) {
  CaptureAnswer answer;
  if (stream != kNullStream) return answer;
  for (const CaptureState& capture : state.captures()) {
    if (!waits_for_null_stream(state, capture)) continue;
    answer.status = kAnswerImplicit;
    answer.invalidates.push_back(capture.serial);
  }
  return answer;
}

CaptureAnswer answer_to_work(const State& state, Id stream) {
  const CaptureState* capture = state.capture_of(stream);
  if (capture == nullptr) return answer_to_null_stream(state, stream);
  return capture->valid ? CaptureAnswer{} : refuse(kAnswerInvalidated);
}

CaptureAnswer answer_to_unsafe(const State& state, Id thread) {
  CaptureAnswer answer;
  const CaptureMode caller = state.parts().captures.mode_of(thread);
  for (const CaptureState& capture : state.captures()) {
    const bool own = capture.thread == thread && capture.mode != CaptureMode::kRelaxed;
    const bool global = capture.mode == CaptureMode::kGlobal && caller == CaptureMode::kGlobal;
    if (caller == CaptureMode::kRelaxed || !(own || global)) continue;
    answer.status = kAnswerUnsupported;
    answer.invalidates.push_back(capture.serial);
  }
  return answer;
}

CaptureAnswer answer_to_host_on_event(const State& state, Id event, Id thread) {
  const EventState* found = state.parts().events.find(event);
  if (found == nullptr || found->capture == 0) return answer_to_unsafe(state, thread);
  const CaptureState* capture = state.parts().captures.with_serial(found->capture);
  return capture == nullptr ? refuse(kAnswerCapturedEvent) : invalidate(kAnswerCapturedEvent, *capture);
}

CaptureAnswer answer_to_host_on_stream(const State& state, Id stream, Id thread) {
  // A call on a stream of a capture invalidates that capture. On any other stream it is an unsafe call, which every
  // capture may forbid.
  if (stream == kNullStream || state.capture_of(stream) != nullptr) return never_captured(state, stream);
  const CaptureAnswer refused = answer_to_unsafe(state, thread);
  return refused.status != 0 ? refused : never_captured(state, stream);
}

Reason unknown_thread(const State& state, Id stream, Id thread) {
  if (thread > kMaxThread) return fmt::format("threads are numbered to {}", kMaxThread);
  if (thread == 0 || !state.per_thread(stream)) return {};
  return fmt::format("s{} is the per-thread stream of the first thread", stream);
}

Reason no_capture_by_hand(const State& state, Id stream) {
  const CaptureState* capture = state.capture_of(stream);
  if (capture != nullptr && capture->valid) return {};
  return fmt::format("s{} captures into no graph, so no node is added to it by hand", stream);
}

Reason captured_into(const State& state, Id graph) {
  for (const CaptureState& capture : state.captures()) {
    if (capture.into == graph) return fmt::format("g{} is being captured into", graph);
  }
  return {};
}

}  // namespace verify
