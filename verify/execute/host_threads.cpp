#include "verify/execute/host_threads.h"

namespace verify {
namespace {
hip::sync::Atomic<void (*)()> thread_setup{nullptr};
}  // namespace

void begin_host_threads_with(void (*setup)()) {
  thread_setup.store(setup);
}

void HostThreads::serve(Helper& helper) {
  if (void (*setup)() = thread_setup.load(); setup != nullptr) setup();
  hip::sync::UniqueLock lock(helper.mutex);
  for (;;) {
    helper.changed.wait(lock, [&] { return helper.work != nullptr || helper.stop; });
    if (helper.work == nullptr) return;
    (*helper.work)();
    helper.work = nullptr;
    helper.changed.notify_all();
  }
}

HostThreads::Helper& HostThreads::helper(unsigned n) {
  std::unique_ptr<Helper>& helper = helpers_[n];
  if (helper == nullptr) {
    helper = std::make_unique<Helper>();
    helper->thread = hip::sync::Thread([&served = *helper] { serve(served); });
  }
  return *helper;
}

void HostThreads::run(const std::map<unsigned, std::function<void()>>& works) {
  for (const auto& [n, work] : works) {
    Helper& given = helper(n);
    const hip::sync::LockGuard lock(given.mutex);
    given.work = &work;
    given.changed.notify_all();
  }
  for (const auto& [n, work] : works) {
    Helper& awaited = helper(n);
    hip::sync::UniqueLock lock(awaited.mutex);
    awaited.changed.wait(lock, [&] { return awaited.work == nullptr; });
  }
}

HostThreads::~HostThreads() {
  for (auto& [n, helper] : helpers_) {
    {
      const hip::sync::LockGuard lock(helper->mutex);
      helper->stop = true;
      helper->changed.notify_all();
    }
    helper->thread.join();
  }
}

}  // namespace verify
