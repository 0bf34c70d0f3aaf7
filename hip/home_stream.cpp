#include "hip/home_stream.h"

#include <utility>

#include "hip/beside_captures.h"
#include "hip/device_scope.h"

namespace hip {

Status HomeStream::make() {
  if (!own_) {
    Result<Stream> made = Stream::create(*api_, {.device = device_, .flags = hipStreamNonBlocking}, errors_);
    if (!made) return made.error();
    own_.emplace(std::move(made).value());
  }
  if (!done_) {
    Result<Event> made = Event::create(*api_, {.device = device_, .errors = errors_});
    if (!made) return made.error();
    done_.emplace(std::move(made).value());
  }
  return {};
}

Status HomeStream::launch(hipGraphExec_t exec, const StreamRef& stream) {
  if (Status made = make(); !made) return made;
  // An event is recorded on streams of its own device.
  if (!given_ || given_->device() != stream.device()) {
    Result<Event> made = Event::create(*api_, {.device = stream.device(), .errors = errors_});
    if (!made) return made.error();
    given_.emplace(std::move(made).value());
  }
  if (Status given = given_->record(stream); !given) return given;
  const StreamRef own = *own_;
  if (Status behind = own.wait(*given_); !behind) return behind;
  if (Status launched = launch_on(exec, own); !launched) return launched;
  Status ordered = done_->record(own);
  if (ordered) ordered = stream.wait(*done_);
  if (ordered) return {};
  // The work is under way. The stream cannot wait for it, so the calling thread does.
  const BesideCaptures beside(*api_, errors_);
  if (const Status waited = own.synchronize(); !waited) return both(std::move(ordered), waited);
  errors_(ordered);
  return {};
}

Status HomeStream::launch_on(hipGraphExec_t exec, const StreamRef& own) const {
  const Result<DeviceScope> scope = DeviceScope::enter(*api_, device_, errors_);
  return scope ? call<&Api::hipGraphLaunch>(*api_, exec, own.handle()) : Status(scope.error());
}

}  // namespace hip
