// Streams and events. Sources: HIP's header documentation; catch/unit/stream and catch/unit/event; clr's hip_stream.cpp
// and hip_event.cpp for the statuses of null and destroyed handles.
#include <algorithm>

#include "model/abi/context.h"

namespace model::abi {
namespace {

constexpr unsigned kEventFlags = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess |
                                 hipEventDisableSystemFence | hipEventReleaseToDevice | hipEventReleaseToSystem;

Status create_stream(State& state, hipStream_t* out, unsigned flags, int priority) {
  if (out == nullptr) return Status::kInvalidValue;
  if (flags != hipStreamDefault && flags != hipStreamNonBlocking) return Status::kInvalidValue;
  // Out-of-range priorities are brought into the range (hipStreamCreateWithPriority).
  priority = std::min(std::max(priority, kHighestPriority), kLowestPriority);
  return put(out, to_handle<hipStream_t>(state.runtime.create_stream(flags, priority, state.thread->device).id()));
}

Status create_event(State& state, hipEvent_t* out, unsigned flags) {
  if (out == nullptr || (flags & ~kEventFlags) != 0) return Status::kInvalidValue;
  if ((flags & hipEventReleaseToDevice) != 0 && (flags & hipEventReleaseToSystem) != 0) return Status::kInvalidValue;
  if ((flags & hipEventInterprocess) != 0 && (flags & hipEventDisableTiming) == 0) return Status::kInvalidValue;
  return put(out, to_handle<hipEvent_t>(state.runtime.create_event(flags, state.thread->device).id()));
}

Status record_event(State& state, hipEvent_t event, hipStream_t stream) {
  Event* found = find(state, event);
  if (found == nullptr) return Status::kInvalidHandle;
  Stream* on = find(state, stream);
  if (on == nullptr) return Status::kContextIsDestroyed;
  // HIP, multi-device management: an event is recorded on streams of its own device. HIP states no rule for captures.
  const bool strange = found->device() != on->device() && state.runtime.capture_of(*on) == nullptr;
  return strange ? Status::kInvalidHandle : state.runtime.record(*found, *on);
}

// hip_runtime_api.h, hipEventRecordExternal and hipEventWaitExternal: "captured in the graph as an external event node
// when performing stream capture". HIP says nothing about streams that do not capture: there, the flags have no effect.
template <class Params>
std::optional<Status> capture_external(State& state, Stream& stream, const Event& event) {
  if (state.runtime.capture_of(stream) == nullptr) return {};
  return state.runtime.enqueue(stream, Params{event.id()});
}

// Waits for a stream or an event, and queries of it, are unsafe calls during any capture, except for the null stream,
// which has a rule of its own (StreamSync_OngoingCapture_MThread; CUDA answers cudaEventQuery alike). For a captured
// stream or event they invalidate that capture and no other (CUDA, stream capture: the associated graphs are
// invalidated; AMD's releases do the same, tests/model/abi_captures_test.cpp).
Status refuse_unsafe_wait(State& state, const Stream& stream) {
  const bool own_rule = stream.id() == 0 || state.runtime.capture_of(stream) != nullptr;
  return own_rule ? Status::kSuccess : refuse_unsafe_call(state);
}

// A null pointer is refused before an unknown stream.
template <class T>
hipError_t get_of_stream(hipStream_t stream, T* out, T (Stream::*getter)() const) {
  return call([&](State& state) {
    if (out == nullptr) return Status::kInvalidValue;
    const Stream* found = find(state, stream);
    return found == nullptr ? Status::kContextIsDestroyed : put(out, (found->*getter)());
  });
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipStreamCreate(hipStream_t* stream) {
  return call([&](State& state) { return create_stream(state, stream, hipStreamDefault, 0); });
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned int flags) {
  return call([&](State& state) { return create_stream(state, stream, flags, 0); });
}

hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned int flags, int priority) {
  return call([&](State& state) { return create_stream(state, stream, flags, priority); });
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  return teardown([&](State& state) {
    if (stream == nullptr || stream == hipStreamLegacy || stream == hipStreamPerThread) return Status::kInvalidHandle;
    Stream* found = find(state, stream);
    return found == nullptr ? Status::kContextIsDestroyed : state.runtime.destroy_stream(*found);
  });
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  return call_on(stream, [](State& state, Stream& found) {
    const Status refused = refuse_unsafe_wait(state, found);
    return refused != Status::kSuccess ? refused : state.runtime.synchronize(found);
  });
}

hipError_t hipStreamQuery(hipStream_t stream) {
  return call_on(stream, [](State& state, Stream& found) {
    const Status refused = refuse_unsafe_wait(state, found);
    return refused != Status::kSuccess ? refused : state.runtime.query(found);
  });
}

hipError_t hipStreamGetFlags(hipStream_t stream, unsigned int* flags) {
  return get_of_stream(stream, flags, &Stream::flags);
}

hipError_t hipStreamGetPriority(hipStream_t stream, int* priority) {
  return get_of_stream(stream, priority, &Stream::priority);
}

hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  return get_of_stream(stream, device, &Stream::device);
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags) {
  return call([&](State& state) {
    Stream* on = find(state, stream);
    const Event* found = find(state, event);
    if (found == nullptr || on == nullptr) return Status::kInvalidHandle;
    if (flags != hipEventWaitDefault && flags != hipEventWaitExternal) return Status::kInvalidValue;
    std::optional<Status> captured;
    if (flags == hipEventWaitExternal) captured = capture_external<EventWaitParams>(state, *on, *found);
    return captured ? *captured : state.runtime.wait(*on, *found);
  });
}

hipError_t hipEventCreate(hipEvent_t* event) {
  return call([&](State& state) { return create_event(state, event, hipEventDefault); });
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned int flags) {
  return call([&](State& state) { return create_event(state, event, flags); });
}

hipError_t hipEventDestroy(hipEvent_t event) {
  return teardown([&](State& state) {
    Event* found = find(state, event);
    if (found == nullptr) return event == nullptr ? Status::kInvalidHandle : Status::kContextIsDestroyed;
    state.runtime.destroy_event(*found);
    return Status::kSuccess;
  });
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return call([&](State& state) { return record_event(state, event, stream); });
}

hipError_t hipEventSynchronize(hipEvent_t event) {
  return call_on(event, [](State& state, const Event& found) {
    const Status refused = found.capture() != 0 ? Status::kSuccess : refuse_unsafe_call(state);
    return refused != Status::kSuccess ? refused : state.runtime.synchronize(found);
  });
}

hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned int flags) {
  return call([&](State& state) {
    if (flags != hipEventRecordDefault && flags != hipEventRecordExternal) return Status::kInvalidValue;
    const Event* found = find(state, event);
    Stream* on = find(state, stream);
    std::optional<Status> captured;
    if (flags == hipEventRecordExternal && found != nullptr && on != nullptr)
      captured = capture_external<EventRecordParams>(state, *on, *found);
    return captured ? *captured : record_event(state, event, stream);
  });
}

// The model has no time: each operation, and each node of a launch that records events, counts as a microsecond, so
// that a program does not divide by zero.
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t from, hipEvent_t to) {
  return call([&](State& state) {
    if (milliseconds == nullptr) return Status::kInvalidValue;
    const Event* first = find(state, from);
    const Event* last = find(state, to);
    if (first == nullptr || last == nullptr) return Status::kInvalidHandle;
    if (((first->flags() | last->flags()) & hipEventDisableTiming) != 0) return Status::kInvalidHandle;
    return state.runtime.elapsed(*first, *last, milliseconds);
  });
}

hipError_t hipEventQuery(hipEvent_t event) {
  return call_on(event, [](State& state, const Event& found) {
    const Status refused = found.capture() != 0 ? Status::kSuccess : refuse_unsafe_call(state);
    return refused != Status::kSuccess ? refused : state.runtime.query(found);
  });
}

HGMODEL_FUNCTIONS_END
