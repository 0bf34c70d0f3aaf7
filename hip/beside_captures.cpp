#include "hip/beside_captures.h"

namespace hip {

BesideCaptures::BesideCaptures(const Api& api, ErrorSink errors) : api_(api), errors_(errors) {
  relaxed_ = api_.hipThreadExchangeStreamCaptureMode != nullptr && exchange();
}

BesideCaptures::~BesideCaptures() {
  if (relaxed_ && !exchange()) exchange();  // tries once more: the first failure may be temporary
}

bool BesideCaptures::exchange() {
  const Status status = call<&Api::hipThreadExchangeStreamCaptureMode>(api_, &mode_);
  errors_(status);
  return status.ok();
}

bool refused_for_a_later_capture(const Status& waited, const StreamRef& stream) {
  if (waited || waited.error().code != hipErrorStreamCaptureIsolation) return false;
  const Result<bool> captures = stream.capturing();
  return captures && !captures.value();
}

}  // namespace hip
