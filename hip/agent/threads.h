// Threads of the agent. They block POSIX signals: the program's signal handlers expect the program's own threads.
#pragma once

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

}  // namespace agent
