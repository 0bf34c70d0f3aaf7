// Draws the block of a program that repeats: some of the commands that are there, or a step that makes a graph,
// launches it and destroys it, as frameworks do again and again. Internal to verify/generate.
#pragma once

#include "verify/generate/launches.h"

namespace verify {

class BlocksDraft : protected LaunchesDraft {
 protected:
  using LaunchesDraft::LaunchesDraft;

  // Adds a block to a program that is whole otherwise; not to every one.
  void repeat_a_part();

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
