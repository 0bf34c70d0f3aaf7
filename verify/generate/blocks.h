// Draws the block of a program: some of the commands that are there repeat, or a step that makes a graph, launches it
// and destroys it, as frameworks do again and again; or threads. Internal to verify/generate.
#pragma once

#include "verify/generate/threads.h"

namespace verify {

class BlocksDraft : protected ThreadsDraft {
 protected:
  using ThreadsDraft::ThreadsDraft;

  // Adds a block to a program that is whole otherwise; not to every one.
  void add_block();

 private:
  [[nodiscard]] std::uint32_t rounds();
  // Lets the steps from `begin` to `end` repeat, where no round of them is invalid or a race. True: they do.
  bool repeat(std::size_t begin, std::size_t end);
  void repeat_what_is_there();
  void rebuild_again_and_again();
  bool build_step(Id graph);
  bool capture_step(Id graph);
};

}  // namespace verify
