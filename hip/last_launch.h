// hip::LastLaunch: launches an executable graph, and waits for the last launch before the graph may be destroyed.
//
// A launch on another stream than the last one is ordered behind that one (CUDA, cudaGraphLaunch: "each launch is
// ordered behind both any previous work in this stream and any previous launches of graphExec"; no release of AMD's
// runtime does so, docs/findings.md, launches-overlap).
//
// HIP does not document that an executable graph may be destroyed while it runs. Each launch records an event behind
// itself on its stream; where that failed, or where the release needs more than an event (ReleaseQuirks::of_destroy),
// wait() waits for the device. Owns the event, not the graph. The first launch, and each launch on another device than
// the last one's, creates the event and fails if it cannot; other launches create nothing.
//
// If the last launch's stream has begun to capture since, AMD's releases refuse to let another stream wait for it. On
// 7.2 the host waits (ReleaseQuirks::of_follow_capturing); elsewhere launch() returns the error and launches nothing.
// Other clients' captures are left alone (hip/beside_captures.h), except by a wait for a device: HIP refuses it and
// makes the capture invalid. So destroy, and record again, a graph that 7.2 has launched only while no stream captures.
//
// On a stream of another device than the graph's own, the graph is launched as hip/home_stream.h describes, if the
// release needs that (ReleaseQuirks::of_launch_elsewhere).
//
// Streams are told apart by their handles: a stream has to outlive the work that is launched on it. It may be destroyed
// after that. One thread at a time.
#pragma once

#include <optional>

#include "hip/event.h"
#include "hip/home_stream.h"
#include "hip/release_quirks.h"
#include "hip/stream.h"

namespace hip {

class LastLaunch {
 public:
  // `api` outlives the object. `device` is the current device when the graph is instantiated. The sink gets the errors
  // that neither a launch nor a wait returns.
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
  // Waits for the last launch, if there is one. The calling thread's current device stays the same.
  [[nodiscard]] Status wait();

 private:
  [[nodiscard]] Status wait_for_it();

  const Api* api_;
  bool device_first_, event_by_host_, at_home_;
  ErrorSink errors_;
  std::optional<Event> done_;      // recorded behind the last launch
  std::optional<StreamRef> last_;  // the last launch's stream, until the launch was waited for
  bool unmarked_ = false;          // the last launch may be in flight, and `done_` is not behind it
  HomeStream home_;
};

}  // namespace hip
