// hip::launch_into_capture: adds a graph to a stream's capture, as a launch into the capture is documented to do.
//
// The graph becomes a child graph node behind the work that the stream has captured, and before the work that it
// captures next (HIP, "HIP graphs": work that is given to a capturing stream is not executed but captured). Releases of
// AMD's runtime launch an executable graph at once instead (docs/findings.md, launch-while-capturing); adding the node
// is right on all of them.
//
// The capture gets a copy, and the caller keeps the graph. A graph without nodes becomes a child without nodes. The
// stream and the graph may belong to different devices: the functions make each device current for its own.
#pragma once

#include "hip/api/api.h"
#include "hip/errors.h"
#include "hip/stream.h"

namespace hip {

// Null if the runtime has every function that launch_into_capture needs; otherwise the name of a missing one.
[[nodiscard]] const char* lacking_for_captured_launch(const Api& api);

// `device` is the graph's (hip::home_of). hipErrorNotSupported where the runtime lacks a function, hipErrorIllegalState
// where the stream captures nothing, hipErrorStreamCaptureInvalidated where the capture is invalid; other errors are
// HIP's. An error leaves the nodes of the capture as they were: if the new node could not be put before the work that
// the stream captures next, it is destroyed.
[[nodiscard]] Status launch_into_capture(const StreamRef& stream, hipGraph_t graph, int device);

}  // namespace hip
