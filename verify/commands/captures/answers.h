// HIP's answers to calls while some stream captures, where families of commands share the rule. The rules themselves
// are in the contract of verify/program/capture_state.h.
#pragma once

#include "verify/program/state.h"

namespace verify {

[[nodiscard]] CaptureAnswer refuse(int status);
[[nodiscard]] CaptureAnswer invalidate(int status, const CaptureState& capture);

// The answer to any use of `stream` that is not part of a capture. The legacy null stream would have to wait for work
// that is only being recorded.
[[nodiscard]] CaptureAnswer answer_to_null_stream(const State& state, Id stream);
// The answer to work for a stream. The work becomes part of the stream's capture while the capture is valid.
[[nodiscard]] CaptureAnswer answer_to_work(const State& state, Id stream);
// The answer to a call that captures of this thread and of other threads may forbid.
[[nodiscard]] CaptureAnswer answer_to_unsafe(const State& state, Id thread);
// The answer when the host queries an event or waits for it.
[[nodiscard]] CaptureAnswer answer_to_host_on_event(const State& state, Id event, Id thread);
// The answer when the host queries a stream or waits for it.
[[nodiscard]] CaptureAnswer answer_to_host_on_stream(const State& state, Id stream, Id thread);

// Why the thread may not use the stream: hipStreamPerThread is another stream on every thread.
[[nodiscard]] Reason unknown_thread(const State& state, Id stream, Id thread);
// Why no node can be added by hand to the graph that the stream captures into. HIP names the graph of a capture only
// while the capture is valid.
[[nodiscard]] Reason no_capture_by_hand(const State& state, Id stream);
// Why the graph cannot be used: a stream captures into it, and only the end of the capture fixes its contents.
[[nodiscard]] Reason captured_into(const State& state, Id graph);

}  // namespace verify
