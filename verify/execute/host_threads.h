// Helper threads that take turns: the caller gives work to the n-th thread and waits for it, so nothing runs at the
// same time and a program stays deterministic. Each helper has its own copy of the state that HIP keeps for a thread.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "hip/sync/sync.h"

namespace verify {

// Sets the function that every helper thread of the process runs before its first work (a signal handler's stack, for
// example, belongs to one thread); null: none. To be called at the start of a process, before there are helpers.
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
