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
  if (Status status = called(api_->hipGraphLaunch(exec, stream.handle()), "hipGraphLaunch"); !status) return status;
  // The work is under way: that it could not be marked is told, and no reason to say that it is not.
  const Status marked = done_->record(stream);
  unmarked_ = !marked;
  errors_(marked);
  return {};
}

Status LastLaunch::wait() {
  if (!done_) return {};
  if (!std::exchange(unmarked_, false) && !device_first_) return done_->synchronize();
  const Result<DeviceScope> scope = DeviceScope::enter(*api_, done_->device(), errors_);
  Status waited = scope ? called(api_->hipDeviceSynchronize(), "hipDeviceSynchronize") : Status(scope.error());
  // The next best, where the device cannot be waited for.
  return waited ? waited : both(std::move(waited), done_->synchronize());
}

}  // namespace hip
