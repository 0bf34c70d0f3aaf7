// The family of commands about streams: declaring them, giving them work, waiting for them and asking about them.
#pragma once

#include "verify/program/node_params.h"

namespace verify {

struct DeclareStream {
  Id stream = 0;
  bool non_blocking = false;
  std::int32_t priority = 0;  // as written; a runtime clamps it to its range
  bool per_thread = false;    // hipStreamPerThread of the first thread, which exists already
  Id device = 0;
  bool operator==(const DeclareStream&) const = default;
};
struct Synchronize {
  Target target = Target::kDevice;
  Id id = 0;
  Id thread = 0;
  bool operator==(const Synchronize&) const = default;
};
// A node's work given to a stream: done when its turn comes, or, on a stream that captures, a node of the capture.
struct Enqueue {
  Id stream = 0;
  NodeParams params;
  Id thread = 0;
  bool operator==(const Enqueue&) const = default;
};
struct Query {
  Target target = Target::kStream;  // or an event
  Id id = 0;
  Id thread = 0;
  bool operator==(const Query&) const = default;
};

using StreamsCommands = CommandList<DeclareStream, Synchronize, Enqueue, Query>;

}  // namespace verify
