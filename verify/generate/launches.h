// Draws launches together with everything that has to come before them: patches, free memory, and the work of other
// streams that event nodes order. The generators of streams and of memory draw through it, because their programs
// launch too. Internal to verify/generate.
#pragma once

#include "verify/generate/memory.h"
#include "verify/generate/nodes.h"
#include "verify/generate/stream_memory.h"
#include "verify/generate/streams.h"

namespace verify {

class LaunchesDraft : protected NodesDraft {
 protected:
  using NodesDraft::NodesDraft;

  void launch();
  void launch_exec(Id exec);
  MemoryGenerator memory_of_graphs();
  StreamMemoryGenerator memory_of_streams();
  StreamGenerator on_streams();

 private:
  void before_waits(const Launch& launch);
  void behind_records(const Launch& launch);
  template <class Params>
  std::optional<Id> event_of(const Launch& launch);
  std::optional<Id> other_stream(Id stream);
  Id stream_for(const GraphState& graph);
};

}  // namespace verify
