// Functions of the runtime that are called when a signal meets a condition, on a thread of their own.
//
// The function of a registration is called once its condition holds. If several conditions hold, the first registration
// is called first; a seed may choose another order and delay calls. A registration is over when its function returns
// false. After stop() no function is called.
#pragma once

#include <hsa/hsa_ext_amd.h>

#include <list>
#include <optional>

#include "hip/agent/schedule.h"
#include "hip/agent/signals.h"
#include "hip/agent/stepper.h"

namespace agent {

class Handlers {
 public:
  Handlers(Signals& signals, const Schedule& schedule, Stepper& stepper);
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;
  ~Handlers();
  // Ends the thread: no function is called any more. Not from a function that is being called.
  void stop();
  // Ends the thread while nothing is to be called; and starts it again, in a child of fork, too.
  void rest();
  void wake();

  // Whether no function is being called, and no condition holds now.
  [[nodiscard]] bool settled();
  // Whether the calling thread is the one that calls the functions, which cannot wait for its own end.
  [[nodiscard]] bool runs_here() const { return thread_.get_id() == hip::sync::this_thread_id(); }
  // For the stepper: whether no function is being called and a condition holds; and the call of one such function,
  // which returns when the function has returned, or waits for something itself: a lock of the calling thread.
  [[nodiscard]] bool ready();
  void call();
  // Waits until no function is being called, or the one that is waits for something itself.
  void let_return();
  void add(SignalSlot* slot, hsa_signal_condition_t condition, i64 value, hsa_amd_signal_handler handler, void* arg);

 private:
  struct Registration {
    SignalSlot* slot;
    hsa_signal_condition_t condition;
    i64 compared;
    hsa_amd_signal_handler handler;
    void* arg;
  };
  void run();
  void run_stepped();
  void carry_out(const Registration& met, i64 value);
  [[nodiscard]] bool idle();
  // Removes a registration whose condition holds from the list; false if no condition holds.
  [[nodiscard]] bool take(Registration& met, i64& value);

  Signals& signals_;
  Stepper& stepper_;
  Schedule::Stream schedule_;
  hip::sync::Mutex mutex_;
  std::list<Registration> registrations_;
  u64 calls_ = 0;
  hip::sync::Atomic<bool> calling_{false};
  struct Handed {
    Registration met;
    i64 value;
  };
  std::optional<Handed> handed_;  // to the thread, by call()
  hip::sync::Atomic<pid_t> thread_number_{0};
  hip::sync::ConditionVariable handed_or_stopped_;
  hip::sync::ConditionVariable returned_;
  hip::sync::Atomic<bool> stop_{false};
  hip::sync::Thread thread_;
};

}  // namespace agent
