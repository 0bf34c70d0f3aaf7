#include "hip/event.h"

#include <utility>

#include "hip/device_scope.h"

namespace hip {

Result<Event> Event::create(const Api& api, const EventOptions& options) {
  Result<DeviceScope> scope = DeviceScope::enter(api, options.device, options.errors);
  if (!scope) return scope.error();
  const unsigned flags = (options.timed ? 0u : unsigned{hipEventDisableTiming}) |
                         (options.blocking_sync ? unsigned{hipEventBlockingSync} : 0u);
  hipEvent_t handle = nullptr;
  const Status created = call<&Api::hipEventCreateWithFlags>(api, &handle, flags);
  if (!created) return both(created, scope.value().leave()).error();
  Event event(api, handle, options);
  if (const Status left = scope.value().leave(); !left) return both(left, event.destroy()).error();
  return event;
}

Event::Event(Event&& other) noexcept
    : api_(other.api_), handle_(other.handle_), owned_(std::exchange(other.owned_, false)), options_(other.options_) {}

Event& Event::operator=(Event&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  api_ = other.api_;
  handle_ = other.handle_;
  owned_ = std::exchange(other.owned_, false);
  options_ = other.options_;
  return *this;
}

Event::~Event() {
  let_go();
}

Status Event::record(const StreamRef& stream) {
  if (!stream.depends_on_current_device()) {
    return call<&Api::hipEventRecord>(*api_, handle_, stream.handle());
  }
  Result<DeviceScope> scope = DeviceScope::enter(*api_, stream.device(), options_.errors);
  if (!scope) return scope.error();
  Status status = call<&Api::hipEventRecord>(*api_, handle_, stream.handle());
  return both(std::move(status), scope.value().leave());
}

Status Event::synchronize() const {
  return call<&Api::hipEventSynchronize>(*api_, handle_);
}

Result<bool> Event::done() const {
  const hipError_t answer = api_->hipEventQuery(handle_);
  if (answer == hipErrorNotReady) return false;
  if (const Status status = called(answer, "hipEventQuery"); !status) return status.error();
  return true;
}

Result<float> Event::elapsed(const Event& from, const Event& to) {
  if (from.api_->hipEventElapsedTime == nullptr) {
    return Error{hipErrorNotSupported, "this runtime has no hipEventElapsedTime"};
  }
  float milliseconds = 0;
  const Status status = call<&Api::hipEventElapsedTime>(*from.api_, &milliseconds, from.handle_, to.handle_);
  if (!status) return status.error();
  return milliseconds;
}

Status Event::destroy() {
  if (!owned_) return {};
  Status status = call<&Api::hipEventDestroy>(*api_, handle_);
  if (status) owned_ = false;
  return status;
}

// A failure may be transient: it is reported and tried once more, then given up.
void Event::let_go() {
  for (int attempt = 0; owned_ && attempt < 2; ++attempt) options_.errors(destroy());
  owned_ = false;
}

}  // namespace hip
