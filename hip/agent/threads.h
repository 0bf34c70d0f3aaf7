// Threads of the agent. They block the signals of the process: the signal handlers expect threads of the program.
#pragma once

#include <csignal>
#include <utility>

#include "hip/sync/sync.h"

namespace agent {

template <class F>
[[nodiscard]] hip::sync::Thread start_thread(F f) {
  sigset_t mine;
  sigset_t before;
  sigfillset(&mine);
  // Errors of the thread itself are its own.
  for (const int error : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&mine, error);
  pthread_sigmask(SIG_BLOCK, &mine, &before);
  hip::sync::Thread thread(std::move(f));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace agent
