// Draws launches together with everything that has to come before them: patches, free memory, and the work of other
// streams that event nodes order. Internal to verify/generate.
#pragma once

#include "verify/generate/memory.h"

namespace verify {

class LaunchesDraft : protected GraphMemoryDraft {
 protected:
  using GraphMemoryDraft::GraphMemoryDraft;

  void launch();
  void launch_exec(Id exec) final;

 private:
  void before_waits(const Launch& launch);
  void behind_records(const Launch& launch);
  template <class Params>
  std::optional<Id> event_of(const Launch& launch);
  std::optional<Id> other_stream(Id stream);
  Id stream_for(const GraphState& graph);
};

}  // namespace verify
