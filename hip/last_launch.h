// hip::LastLaunch: launches an executable graph, and waits for the last launch before the graph may be destroyed.
//
// A launch on another stream than the last one comes behind that (CUDA, cudaGraphLaunch: "each launch is ordered behind
// both any previous work in this stream and any previous launches of graphExec"; no release of AMD's runtime does so,
// docs/findings.md, launches-overlap).
//
// HIP does not document that an executable graph may go while it runs. Behind each launch stands an event on the
// stream's device; where that could not be recorded, or where the release needs more than an event
// (ReleaseQuirks::of_destroy), the device is waited for instead. Owns the event, not the graph. The first
// launch on another device than the last one's makes it and fails when that fails; others make nothing.
//
// Where the last launch's stream has begun to capture since, AMD's releases refuse to have another one wait for it: on
// 7.2 the host waits (ReleaseQuirks::of_follow_capturing), elsewhere that is the answer and nothing was launched. Other
// clients' captures are left alone (hip/beside_captures.h), save where a device is waited for: any capture refuses that
// and is invalid then. So destroy, and record again, a graph that 7.2 has launched only while no stream captures.
//
// On a stream of another device than the graph's own it is launched as hip/home_stream.h says, where the release needs
// that (ReleaseQuirks::of_launch_elsewhere).
//
// Streams are told apart by their handles: one has to outlive what is launched on it, and may go then. One thread at a
// time.
#pragma once

#include <optional>

#include "hip/event.h"
#include "hip/home_stream.h"
#include "hip/release_quirks.h"
#include "hip/stream.h"

namespace hip {

class LastLaunch {
 public:
  // `api` outlives it. `device` is the one that is current when the graph is instantiated. The sink is told what
  // neither a launch nor a wait could answer.
  LastLaunch(const Api& api, const ReleaseQuirks& quirks, int device, ErrorSink errors)
      : api_(&api),
        device_first_(quirks.of_destroy() != nullptr),
        event_by_host_(quirks.of_follow_capturing() != nullptr),
        at_home_(quirks.of_launch_elsewhere() != nullptr),
        errors_(errors),
        home_(api, device, errors) {}

  [[nodiscard]] Status launch(hipGraphExec_t exec, const StreamRef& stream);
  // Work that is given to the stream from now on comes behind the last launch.
  [[nodiscard]] Status follow(const StreamRef& stream);
  // Nothing is waited for when nothing was launched. The calling thread's current device stays what it is.
  [[nodiscard]] Status wait();

 private:
  [[nodiscard]] Status wait_for_it();

  const Api* api_;
  bool device_first_, event_by_host_, at_home_;
  ErrorSink errors_;
  std::optional<Event> done_;      // behind the last launch
  std::optional<StreamRef> last_;  // that has not been waited for
  bool unmarked_ = false;          // it is in flight, and `done_` does not stand behind it
  HomeStream home_;
};

}  // namespace hip
