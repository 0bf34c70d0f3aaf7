// Threads of the agent, and whether threads of this process sleep. The agent's block POSIX signals: the program's
// signal handlers expect the program's own threads.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <utility>

#include "hip/sync/sync.h"

namespace agent {

inline thread_local bool on_agents_thread = false;

template <class F>
[[nodiscard]] hip::sync::Thread start_thread(F f) {
  sigset_t mine;
  sigset_t before;
  sigfillset(&mine);
  // Signals about errors of the thread itself are not blocked.
  for (const int error : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&mine, error);
  pthread_sigmask(SIG_BLOCK, &mine, &before);
  hip::sync::Thread thread([f = std::move(f)]() mutable {
    on_agents_thread = true;
    f();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

// Whether the thread sleeps: on a lock, a condition, in a system call. False: it runs, or would if it had a processor.
[[nodiscard]] bool sleeps(pid_t thread);
// The processor time of this process so far.
[[nodiscard]] std::chrono::nanoseconds processor_time();
// Whether every thread of this process but the calling one sleeps.
[[nodiscard]] bool all_others_sleep();

}  // namespace agent
