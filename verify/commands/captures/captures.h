// The family of commands about stream capture. `thread` is the host thread that makes the call.
#pragma once

#include "verify/program/node_params.h"

namespace verify {

enum class CaptureMode : std::uint8_t { kGlobal, kThreadLocal, kRelaxed };  // HIP's numbers
struct BeginCapture {
  Id stream = 0;
  CaptureMode mode = CaptureMode::kGlobal;
  std::optional<Id> into;  // hipStreamBeginCaptureToGraph
  std::vector<Id> after;   // nodes of that graph
  Id thread = 0;
  bool operator==(const BeginCapture&) const = default;
};
// The capture becomes `graph`, whose nodes are named in the order in which they were captured: from n0, or from where
// the names of the graph that was captured into end.
struct EndCapture {
  Id stream = 0;
  Id graph = 0;
  Id thread = 0;
  bool operator==(const EndCapture&) const = default;
};
struct CaptureInfo {
  Id stream = 0;
  bool operator==(const CaptureInfo&) const = default;
};
// hipStreamUpdateCaptureDependencies: nodes of the capture by the names that they are going to have.
struct CaptureAfter {
  Id stream = 0;
  std::vector<Id> nodes;
  bool add = false;  // else they replace what the stream's next node comes behind
  bool operator==(const CaptureAfter&) const = default;
};
struct ExchangeCaptureMode {
  CaptureMode mode = CaptureMode::kGlobal;
  Id thread = 0;
  bool operator==(const ExchangeCaptureMode&) const = default;
};
// hipMalloc of a few bytes, and hipFree should it have worked: a call that captures may forbid.
struct UnsafeCall {
  Id thread = 0;
  bool operator==(const UnsafeCall&) const = default;
};

using CapturesCommands =
    CommandList<BeginCapture, EndCapture, CaptureInfo, CaptureAfter, ExchangeCaptureMode, UnsafeCall>;

}  // namespace verify
