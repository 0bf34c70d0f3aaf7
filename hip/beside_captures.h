// hip::BesideCaptures: the calling thread's calls leave other clients' captures alone, for the time of a scope.
//
// While any thread captures a stream in the global mode, or the calling thread captures one in the thread-local mode, a
// call that may be unsafe is refused (hipErrorStreamCaptureUnsupported) and makes that capture invalid, even if the
// call has nothing to do with it: querying or waiting for a stream or an event, allocating, freeing (HIP documentation,
// hipThreadExchangeStreamCaptureMode; tests/model/abi_captures_test.cpp and tests/litmus repeat it). This library uses
// such a scope for calls on its own streams, events and memory.
//
// The thread's mode is restored afterwards. Scopes nest. If the runtime refuses a change of mode, the error goes to the
// error sink; restoring the former mode is then tried once more. A runtime without hipThreadExchangeStreamCaptureMode
// (no documented release) changes nothing. The scope does not help a query of a stream that itself captures, nor
// hipDeviceSynchronize while a stream of that device captures: HIP refuses both in every mode, and the capture becomes
// invalid. 6.4 also refuses queries of an event after the event's stream has begun to capture.
#pragma once

#include "hip/api/api.h"
#include "hip/errors.h"
#include "hip/stream.h"

namespace hip {

class BesideCaptures {
 public:
  // `api` outlives the scope.
  BesideCaptures(const Api& api, ErrorSink errors);
  BesideCaptures(const BesideCaptures&) = delete;
  BesideCaptures& operator=(const BesideCaptures&) = delete;
  ~BesideCaptures();

 private:
  bool exchange();

  const Api& api_;
  ErrorSink errors_;
  hipStreamCaptureMode mode_ = hipStreamCaptureModeRelaxed;  // within the scope: the thread's former mode
  bool relaxed_ = false;
};

// Whether `stream`'s wait for an event, with the result `waited`, was refused because the event's stream has begun to
// capture since the event was recorded. No release of AMD's lets a stream wait then (docs/safe-operations.md); on 7.2
// the host can wait (ReleaseQuirks::of_follow_capturing). False if `stream` itself captures: then the runtime is right
// to refuse.
[[nodiscard]] bool refused_for_a_later_capture(const Status& waited, const StreamRef& stream);

}  // namespace hip
