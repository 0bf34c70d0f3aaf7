// hip::sync: the synchronisation names through which all locking and threading of the project goes.
//
// Every lock, condition, atomic and thread of the project is spelled with these names and never with std's, so that one
// place can turn each operation into a scheduling point that an explorer of schedules controls: explored.h, with
// HGCHECK_EXPLORE. Without it they are plain aliases: same semantics, same cost. Locks that name a mutex type
// (LockGuard of a Mutex) are not templates, so that they take no other kind of mutex.
//
// Data that is not atomic is kept in a Cell if several threads access it: these accesses have names too, so that the
// explorer sees an access that no lock orders.
//
// Not covered: signals, and locking inside HIP runtimes.
#pragma once

#ifdef HGCHECK_EXPLORE
#include "hip/sync/explored.h"
#else

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <utility>

namespace hip::sync {

using Mutex = std::mutex;
using SharedMutex = std::shared_mutex;
using ConditionVariable = std::condition_variable;

using LockGuard = std::lock_guard<Mutex>;
using UniqueLock = std::unique_lock<Mutex>;           // the lock for a wait on a ConditionVariable
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
// The calling thread sleeps for that long.
inline void sleep_for(std::chrono::nanoseconds time) {
  std::this_thread::sleep_for(time);
}
inline ThreadId this_thread_id() {
  return std::this_thread::get_id();
}

inline void fence(std::memory_order order) {
  std::atomic_thread_fence(order);
}

using OnceFlag = std::once_flag;
using std::call_once;

// Plain data that a lock guards, or that one thread at a time owns.
template <class T>
class Cell {
 public:
  Cell() = default;
  explicit Cell(T value) : value_(std::move(value)) {}
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  [[nodiscard]] const T& read() const { return value_; }
  [[nodiscard]] T& write() { return value_; }

 private:
  T value_{};
};

// Something that other threads can see and that synchronises nothing; tells the explorer of it.
class Point {
 public:
  void step(const char*, bool = true) {}
};

// The calling thread's own T, one for each Tag: made on its first use, destroyed with the thread.
template <class Tag, class T>
[[nodiscard]] T& of_this_thread() {
  thread_local T value{};
  return value;
}

}  // namespace hip::sync

#endif  // HGCHECK_EXPLORE
