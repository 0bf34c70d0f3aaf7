// hip::Event: a point in a stream's work that other streams can wait for, with its time if that is asked for.
//
// RAII. An event belongs to a device and is recorded in streams of that device; any stream may wait for it. An event
// that was never recorded is a point in the past: waiting for it waits for nothing, and asking for its time is an
// error.
#pragma once

#include "hip/api/api.h"
#include "hip/errors.h"
#include "hip/stream.h"

namespace hip {

struct EventOptions {
  int device = 0;
  bool timed = false;          // elapsed() needs it; costs the runtime a timestamp
  bool blocking_sync = false;  // synchronize() sleeps instead of spinning
  ErrorSink errors{};
};

class Event {
 public:
  [[nodiscard]] static Result<Event> create(const Api& api, const EventOptions& options = {});

  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  // An error of destroy() goes to the error sink.
  ~Event();

  [[nodiscard]] hipEvent_t handle() const { return handle_; }
  [[nodiscard]] int device() const { return options_.device; }
  [[nodiscard]] bool owns() const { return owned_; }

  // From now on the event stands for all work that was given to the stream so far, and no longer for an earlier record.
  [[nodiscard]] Status record(const StreamRef& stream);
  [[nodiscard]] Status synchronize() const;
  [[nodiscard]] Result<bool> done() const;

  // Milliseconds between two timed events that were recorded and are done.
  [[nodiscard]] static Result<float> elapsed(const Event& from, const Event& to);

  // If it fails, the event is still owned and destroy() can be called again.
  Status destroy();

 private:
  Event(const Api& api, hipEvent_t handle, const EventOptions& options)
      : api_(&api), handle_(handle), owned_(true), options_(options) {}
  void let_go();

  const Api* api_;
  hipEvent_t handle_;
  bool owned_;
  EventOptions options_;
};

}  // namespace hip
