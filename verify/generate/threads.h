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
    std::optional<Id> exec = {};
  };
  void thread(Own& own);
  void round(Own& own);
  bool capture_own(const Own& own, Id graph);
  bool build_own(const Own& own, Id graph);
  void stream_memory_of(const Own& own);
  [[nodiscard]] NodeParams work(const Own& own);
};

}  // namespace verify
