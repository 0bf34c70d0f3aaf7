#include "hip/last_launch.h"

#include <utility>

#include "hip/beside_captures.h"
#include "hip/device_scope.h"

namespace hip {

Status LastLaunch::launch(hipGraphExec_t exec, const StreamRef& stream) {
  if (Status behind = follow(stream); !behind) return behind;
  // An event is recorded on streams of its own device.
  if (!done_ || done_->device() != stream.device()) {
    Result<Event> made = Event::create(*api_, {.device = stream.device(), .errors = errors_});
    if (!made) return made.error();
    done_.emplace(std::move(made).value());
    unmarked_ = last_.has_value();
  }
  const bool elsewhere = at_home_ && stream.device() != home_.device();
  Status status = elsewhere ? home_.launch(exec, stream) : stream.launch(exec);
  if (!status) {
    // It is unknown whether that launch is under way: both devices are waited for before the graph is launched on
    // another stream or destroyed.
    if (elsewhere) {
      last_ = stream;
      unmarked_ = true;
    }
    return status;
  }
  last_ = stream;
  // The work is under way: a failure to record the event is reported, and is no failure of the launch.
  const Status marked = done_->record(stream);
  unmarked_ = !marked;
  errors_(marked);
  return {};
}

// hipStreamPerThread is another stream in each thread, so it may be another one even if the handles are equal.
Status LastLaunch::follow(const StreamRef& stream) {
  if (!last_ || (*last_ == stream && stream.handle() != hipStreamPerThread)) return {};
  if (unmarked_) return wait();
  Status behind = stream.wait(*done_);
  if (!event_by_host_ || !refused_for_a_later_capture(behind, stream)) return behind;
  const BesideCaptures beside(*api_, errors_);
  return done_->synchronize();
}

Status LastLaunch::wait() {
  if (!done_) return {};
  const BesideCaptures beside(*api_, errors_);
  Status waited = wait_for_it();
  if (waited) last_.reset();
  return waited;
}

Status LastLaunch::wait_for_it() {
  if (!unmarked_ && !device_first_) return done_->synchronize();
  const int device = last_ ? last_->device() : done_->device();
  Status waited = synchronize_device(*api_, device, errors_);
  if (waited && at_home_ && device != home_.device()) waited = synchronize_device(*api_, home_.device(), errors_);
  if (waited) {
    unmarked_ = false;
    return waited;
  }
  return both(std::move(waited), done_->synchronize());  // at least for the event
}

}  // namespace hip
