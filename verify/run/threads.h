// The threads of a block (verify/program/threads.h) while they run.
//
// Only calls of HIP overlap. One thread at a time has the turn, and only that thread uses the run and the rest of the
// harness. During each call of HIP, a thread leaves the turn to the others; it saves the run's notes on its command,
// and the addresses that its command sees of memory of graphs, before the call and puts them back after the call.
#pragma once

#include "hip/sync/sync.h"
#include "verify/execute/interposer.h"
#include "verify/run/run.h"

namespace verify {

class ThreadTurn final : public Interposer::Turn {
 public:
  // `turns` is held by the thread that has the turn.
  ThreadTurn(Run& run, Id thread, hip::sync::Mutex& turns, Captures::Followed captures)
      : run_(run), turns_(turns), thread_(thread), captures_(std::move(captures)), shown_(run.memory.addresses()) {}
  void leave() override {
    swap();
    shown_ = run_.memory.addresses();
    turns_.unlock();
  }
  void enter() override {
    turns_.lock();
    swap();
    run_.graph_memory.show_as_in(shown_);
  }

 private:
  void swap() {
    std::swap(run_.thread, thread_);
    std::swap(run_.step, step_);
    std::swap(run_.attempt, attempt_);
    std::swap(run_.context.error_reported, error_reported_);
    std::swap(run_.context.capturing, capturing_);
    run_.captures.swap(captures_);
  }

  Run& run_;
  hip::sync::Mutex& turns_;
  // While this thread does not have the turn: its own notes. While it has the turn: the notes that the run held before.
  Id thread_;
  std::size_t step_ = 0;
  Run::Attempt attempt_;
  bool error_reported_ = false, capturing_ = false;
  Captures::Followed captures_;
  hip::AddressTable shown_;
};

}  // namespace verify
