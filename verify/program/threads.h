// Blocks of threads: in the text, the lines between `threads` and `end`, in which `thread N` begins the commands of a
// thread.
//
// The commands of a thread run in their order, at the same time as those of the block's other threads; the next command
// after the block runs when all threads have ended. The rules of this file make sure that nothing observed depends on
// how threads overlap: a runtime that runs them one after the other, as the model does, answers the same.
//
// A thread has objects of its own. CUDA's documentation: graph objects "are not internally synchronized and must not be
// accessed concurrently from multiple threads", functions that only read included. So threads share only buffers that
// no thread of the block writes. Not expressed: several devices, and calls that concern all threads.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "verify/program/state.h"

namespace verify {

[[nodiscard]] inline bool starts_threads(const Program& program, std::size_t step) {
  const InBlock& in = program.steps[step].in;
  return in.thread != 0 && (step == 0 || program.steps[step - 1].in.block != in.block);
}
// The first step behind the block that `step` stands in.
[[nodiscard]] std::size_t end_of_block(const Program& program, std::size_t step);

// The thread that a command names for its call, or null: it names none.
[[nodiscard]] Id* thread_of(Command& command);

// Follows a program, and finds commands that may not stand in a thread.
class ThreadRules {
 public:
  explicit ThreadRules(Id devices) : devices_(devices) {}

  // Why the step, which is valid as a plain step behind `state`, may not stand there; called for each step in order.
  [[nodiscard]] Reason check(const State& state, const Step& step);
  // The same after the step.
  [[nodiscard]] Reason check_after(const State& state, const Step& step);

 private:
  struct Use {
    std::uint32_t threads = 0;  // a bit for each
    bool write = false;
  };
  using Name = std::pair<char, Id>;

  [[nodiscard]] Reason beside_global() const;
  [[nodiscard]] Reason uses_of(const State& state, const Command& command);
  [[nodiscard]] Reason uses_of(const State& state, const GraphState& graph);
  [[nodiscard]] Reason use(const State& state, Name name, bool write);
  [[nodiscard]] Reason use(const State& state, const std::vector<ByteRange>& ranges);

  Id devices_;
  InBlock in_;                // of the last step
  std::map<Name, Use> uses_;  // of the block
  // A bit for each thread of the block: those that capture, and those in which a strategy may record an executable
  // graph again. It then waits for the device, which HIP refuses while another thread captures.
  std::uint32_t capturing_ = 0, recording_ = 0;
  // The same: those with a call that a capture of another thread in mode global may forbid, or with a command that may
  // not stand while a stream captures.
  std::uint32_t forbidden_ = 0;
  std::map<Id, Id> global_;  // the threads of the block that capture in mode global, each with the stream
};

}  // namespace verify
