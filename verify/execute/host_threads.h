// Helper threads: the caller gives work to the n-th thread and waits for it, so that nothing runs at the same time, or
// gives work to several at once. Each helper has its own copy of the state that HIP keeps for a thread.
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
  void run(unsigned n, const std::function<void()>& work) { run({{n, work}}); }
  // The same for several helpers at the same time.
  void run(const std::map<unsigned, std::function<void()>>& works);

 private:
  struct Helper {
    hip::sync::Mutex mutex;
    hip::sync::ConditionVariable changed;
    const std::function<void()>* work = nullptr;  // null: there is none, or it is done
    bool stop = false;
    hip::sync::Thread thread;
  };
  static void serve(Helper& helper);
  Helper& helper(unsigned n);
  std::map<unsigned, std::unique_ptr<Helper>> helpers_;
};

}  // namespace verify
