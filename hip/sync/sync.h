// hip::sync: the synchronisation names through which all locking and threading of the project goes.
//
// Every lock, condition, atomic and thread of the project is spelled with these names and never with std's, so that one
// place can turn each operation into a scheduling point that an explorer of schedules controls. Today they are plain
// aliases: same semantics, same cost. Locks that name a mutex type (LockGuard of a Mutex) are not templates, so that no
// other kind of mutex slips in.
//
// Not covered: thread-local storage, signals, and what HIP runtimes do inside.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

namespace hip::sync {

using Mutex = std::mutex;
using SharedMutex = std::shared_mutex;
using ConditionVariable = std::condition_variable;

using LockGuard = std::lock_guard<Mutex>;
using UniqueLock = std::unique_lock<Mutex>;           // what a ConditionVariable waits with
using ExclusiveLock = std::unique_lock<SharedMutex>;  // the writer's side
using SharedLock = std::shared_lock<SharedMutex>;     // the reader's side

template <class T>
using Atomic = std::atomic<T>;

using Thread = std::thread;
using ThreadId = std::thread::id;

// The calling thread lets another one run.
inline void yield() {
  std::this_thread::yield();
}
// The calling thread does nothing for that long.
inline void sleep_for(std::chrono::nanoseconds time) {
  std::this_thread::sleep_for(time);
}
inline ThreadId this_thread_id() {
  return std::this_thread::get_id();
}

using OnceFlag = std::once_flag;
using std::call_once;

}  // namespace hip::sync
