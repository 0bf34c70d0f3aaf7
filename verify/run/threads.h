// The threads of a block (verify/program/threads.h) while they run.
//
// Only calls of HIP overlap. All else, the whole run with it, belongs to the thread that has the turn; a thread leaves
// its turn to the others for the time of each call, and keeps what the run holds about its command meanwhile.
#pragma once

#include "hip/sync/sync.h"
#include "verify/execute/interposer.h"
#include "verify/run/run.h"

namespace verify {

class ThreadTurn final : public Interposer::Turn {
 public:
  // `turns` is held by the thread that has the turn.
  ThreadTurn(Run& run, Id thread, hip::sync::Mutex& turns, Captures::Followed captures)
      : run_(run), turns_(turns), thread_(thread), captures_(std::move(captures)) {}
  void leave() override {
    swap();
    turns_.unlock();
  }
  void enter() override {
    turns_.lock();
    swap();
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
  // Of this thread while another thread has the turn, and the other way round.
  Id thread_;
  std::size_t step_ = 0;
  Run::Attempt attempt_;
  bool error_reported_ = false, capturing_ = false;
  Captures::Followed captures_;
};

}  // namespace verify
