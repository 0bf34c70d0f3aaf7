// Draws a block of threads: each captures or builds graphs of its own, launches, updates and destroys them, and has a
// stream and memory of its own. Internal to verify/generate.
#pragma once

#include "verify/generate/launches.h"

namespace verify {

class ThreadsDraft : protected LaunchesDraft {
 protected:
  using LaunchesDraft::LaunchesDraft;

  void overlap();

 private:
  struct Own {
    Id thread = 0, stream = 0;
    std::vector<Id> buffers;
    bool captures = false, updates = false;  // whether it may
    bool global = false;                     // it captures in mode global
    bool quiet = false;                      // it makes no call that a global capture of another thread may forbid
    std::optional<Id> exec = {}, pool = {};
  };
  void thread(Own& own);
  void round(Own& own);
  bool capture_own(Own& own, Id graph);
  bool build_own(const Own& own, Id graph);
  void stream_memory_of(Own& own);
  void graph_memory_of(const Own& own, Id graph, Id node);
  [[nodiscard]] static MemsetParams fill_of(Id memory, std::uint32_t value);
  [[nodiscard]] static CopyParams copy_out(const Own& own, Id memory);
  [[nodiscard]] NodeParams work(const Own& own);
};

}  // namespace verify
