// Helper threads that take turns: work is handed to the n-th one and waited for, so that nothing runs at the same time
// and a program stays deterministic. What a HIP runtime keeps for each thread is kept apart.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "hip/sync/sync.h"

namespace verify {

// What every helper of the process does before its first work (a signal handler's stack is a thread's own, say); null:
// nothing. For the start of a process, before there are helpers.
void begin_host_threads_with(void (*setup)());

class HostThreads {
 public:
  HostThreads() = default;
  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;
  ~HostThreads();

  // Runs `work` on the n-th helper, which is started when it is first needed.
  void run(unsigned n, const std::function<void()>& work);

 private:
  struct Helper {
    hip::sync::Mutex mutex;
    hip::sync::ConditionVariable changed;
    const std::function<void()>* work = nullptr;  // null: there is none, or it is done
    bool stop = false;
    hip::sync::Thread thread;
  };
  static void serve(Helper& helper);
  std::map<unsigned, std::unique_ptr<Helper>> helpers_;
};

}  // namespace verify
