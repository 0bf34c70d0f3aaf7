#include "hip/last_launch.h"

#include <utility>

#include "hip/device_scope.h"

namespace hip {

Status LastLaunch::launch(hipGraphExec_t exec, const StreamRef& stream) {
  if (!done_) {
    Result<Event> made = Event::create(*api_, {.device = stream.device(), .errors = errors_});
    if (!made) return made.error();
    done_.emplace(std::move(made).value());
  }
  if (Status behind = follow(stream); !behind) return behind;
  if (Status status = called(api_->hipGraphLaunch(exec, stream.handle()), "hipGraphLaunch"); !status) return status;
  last_ = stream;
  // The work is under way: that it could not be marked is told, and no reason to say that it is not.
  const Status marked = done_->record(stream);
  unmarked_ = !marked;
  errors_(marked);
  return {};
}

// What is launched on the stream comes behind the last launch.
Status LastLaunch::follow(const StreamRef& stream) {
  if (!last_ || *last_ == stream) return {};
  return unmarked_ ? wait() : stream.wait(*done_);
}

Status LastLaunch::wait() {
  if (!done_) return {};
  Status waited = wait_for_it();
  if (waited) last_.reset();
  return waited;
}

Status LastLaunch::wait_for_it() {
  if (!std::exchange(unmarked_, false) && !device_first_) return done_->synchronize();
  const Result<DeviceScope> scope = DeviceScope::enter(*api_, done_->device(), errors_);
  Status waited = scope ? called(api_->hipDeviceSynchronize(), "hipDeviceSynchronize") : Status(scope.error());
  // The next best, where the device cannot be waited for.
  return waited ? waited : both(std::move(waited), done_->synchronize());
}

}  // namespace hip
