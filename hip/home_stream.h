// hip::HomeStream: launches of executable graphs for streams of another device than the one that was current when they
// were instantiated.
//
// No release of AMD's runtime launches them there (docs/findings.md, launch-on-another-device). A stream of the graph's
// own device launches the graph instead, between two events: the launch comes behind the earlier work of the caller's
// stream, and the later work of that stream comes behind the launch.
//
// The first launch makes the stream and both events, a launch for another device than the last one makes one event
// anew; if that fails, so does the launch. One thread at a time; the caller's streams must not capture.
#pragma once

#include <optional>

#include "hip/event.h"
#include "hip/stream.h"

namespace hip {

class HomeStream {
 public:
  // `api` outlives the object. The sink gets the errors that do not make launch() fail.
  HomeStream(const Api& api, int device, ErrorSink errors) : api_(&api), device_(device), errors_(errors) {}

  // An error means that the graph was not launched, or that its work could be neither ordered nor waited for.
  [[nodiscard]] Status launch(hipGraphExec_t exec, const StreamRef& stream);
  [[nodiscard]] int device() const { return device_; }

 private:
  [[nodiscard]] Status make();
  [[nodiscard]] Status launch_on(hipGraphExec_t exec, const StreamRef& own) const;

  const Api* api_;
  int device_;
  ErrorSink errors_;
  std::optional<Stream> own_;
  std::optional<Event> given_;  // on the device of the last caller's stream; marks the stream's work before the launch
  std::optional<Event> done_;
};

}  // namespace hip
