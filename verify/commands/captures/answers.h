// HIP's answers to calls while some stream captures, where families of commands share the rule. The rules themselves
// are in the contract of verify/program/capture_state.h.
#pragma once

#include "verify/program/state.h"

namespace verify {

[[nodiscard]] CaptureAnswer refuse(int status);
[[nodiscard]] CaptureAnswer invalidate(int status, const CaptureState& capture);

// Any use of `stream` that is not part of a capture: the legacy null stream would have to wait for what is only being
// recorded.
[[nodiscard]] CaptureAnswer answer_to_null_stream(const State& state, Id stream);
// Work for a stream: of its capture, while that is valid.
[[nodiscard]] CaptureAnswer answer_to_work(const State& state, Id stream);
// A call that captures of this thread and of others may forbid.
[[nodiscard]] CaptureAnswer answer_to_unsafe(const State& state, Id thread);
// The host queries an event or waits for it.
[[nodiscard]] CaptureAnswer answer_to_host_on_event(const State& state, Id event, Id thread);
// The host queries a stream or waits for it.
[[nodiscard]] CaptureAnswer answer_to_host_on_stream(const State& state, Id stream, Id thread);

// Why the thread may not use the stream: hipStreamPerThread is another stream on every thread.
[[nodiscard]] Reason unknown_thread(const State& state, Id stream, Id thread);
// The graph is being captured into: what it holds is for the capture's end to say.
[[nodiscard]] Reason captured_into(const State& state, Id graph);

}  // namespace verify
