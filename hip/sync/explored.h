// hip::sync's names in an explored build: at each operation that another thread can see, a scheduler chooses the next
// thread. sync.h has the names, scheduler.h the scheduler.
//
// The names behave like the standard's, with sequential consistency for values. The memory orders in the code are
// passed on to the scheduler, which judges them. Not modelled: spurious wake-ups, compare_exchange_weak that fails
// spuriously, Atomic::wait. Where the standard leaves behaviour undefined the scheduler reports it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <source_location>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include "hip/sync/scheduler.h"

namespace hip::sync {

using Where = std::source_location;

namespace detail {

inline bool visible(Kind kind, Object* object, const Where& where, std::memory_order order = std::memory_order_seq_cst,
                    Object* mutex = nullptr) {
  Scheduler* const scheduler = active();
  if (scheduler == nullptr) return true;
  Operation operation;
  operation.kind = kind;
  operation.order = order;
  operation.object = object;
  operation.mutex = mutex;
  operation.where = where;
  return scheduler->visible(operation);
}

}  // namespace detail

class Mutex {
 public:
  void lock(const Where& where = Where::current()) { detail::visible(Kind::kLock, &object_, where); }
  [[nodiscard]] bool try_lock(const Where& where = Where::current()) {
    return detail::visible(Kind::kTryLock, &object_, where);
  }
  void unlock(const Where& where = Where::current()) { detail::visible(Kind::kUnlock, &object_, where); }

 private:
  friend class ConditionVariable;
  Object object_{Sort::kMutex};
};

class SharedMutex {
 public:
  void lock(const Where& where = Where::current()) { detail::visible(Kind::kLock, &object_, where); }
  [[nodiscard]] bool try_lock(const Where& where = Where::current()) {
    return detail::visible(Kind::kTryLock, &object_, where);
  }
  void unlock(const Where& where = Where::current()) { detail::visible(Kind::kUnlock, &object_, where); }
  void lock_shared(const Where& where = Where::current()) { detail::visible(Kind::kLockShared, &object_, where); }
  [[nodiscard]] bool try_lock_shared(const Where& where = Where::current()) {
    return detail::visible(Kind::kTryLockShared, &object_, where);
  }
  void unlock_shared(const Where& where = Where::current()) { detail::visible(Kind::kUnlockShared, &object_, where); }

 private:
  Object object_{Sort::kSharedMutex};
};

namespace detail {

// Not the locks of std: the source location of a lock is that of its scope, not one inside <mutex>.
template <class M, bool shared>
class Lock {
 public:
  explicit Lock(M& mutex, const Where& where = Where::current()) : mutex_(&mutex) { lock(where); }
  Lock(M& mutex, std::defer_lock_t) : mutex_(&mutex) {}
  Lock(M& mutex, std::try_to_lock_t, const Where& where = Where::current()) : mutex_(&mutex) {
    if constexpr (shared)
      owns_ = mutex.try_lock_shared(where);
    else
      owns_ = mutex.try_lock(where);
  }
  Lock(Lock&& other) noexcept
      : mutex_(std::exchange(other.mutex_, nullptr)), where_(other.where_), owns_(std::exchange(other.owns_, false)) {}
  Lock& operator=(Lock&& other) noexcept {
    if (this == &other) return *this;
    if (owns_) unlock(where_);
    mutex_ = std::exchange(other.mutex_, nullptr);
    where_ = other.where_;
    owns_ = std::exchange(other.owns_, false);
    return *this;
  }
  ~Lock() {
    if (owns_) unlock(where_);
  }

  void lock(const Where& where = Where::current()) {
    where_ = where;
    if constexpr (shared)
      mutex_->lock_shared(where);
    else
      mutex_->lock(where);
    owns_ = true;
  }
  void unlock(const Where& where = Where::current()) {
    owns_ = false;
    if constexpr (shared)
      mutex_->unlock_shared(where);
    else
      mutex_->unlock(where);
  }
  [[nodiscard]] bool owns_lock() const { return owns_; }
  [[nodiscard]] explicit operator bool() const { return owns_; }
  [[nodiscard]] M* mutex() const { return mutex_; }

 private:
  M* mutex_;
  Where where_;
  bool owns_ = false;
};

}  // namespace detail

class LockGuard {
 public:
  explicit LockGuard(Mutex& mutex, const Where& where = Where::current()) : mutex_(mutex), where_(where) {
    mutex.lock(where);
  }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;
  ~LockGuard() { mutex_.unlock(where_); }

 private:
  Mutex& mutex_;
  Where where_;
};

using UniqueLock = detail::Lock<Mutex, false>;
using ExclusiveLock = detail::Lock<SharedMutex, false>;
using SharedLock = detail::Lock<SharedMutex, true>;

class ConditionVariable {
 public:
  void notify_one(const Where& where = Where::current()) { detail::visible(Kind::kNotifyOne, &object_, where); }
  void notify_all(const Where& where = Where::current()) { detail::visible(Kind::kNotifyAll, &object_, where); }

  void wait(UniqueLock& lock, const Where& where = Where::current()) { (void)pause(Kind::kWait, lock, where); }
  template <class Predicate>
    requires std::is_invocable_r_v<bool, Predicate&>
  void wait(UniqueLock& lock, Predicate predicate, const Where& where = Where::current()) {
    while (!predicate()) wait(lock, where);
  }
  // Time does not pass in a schedule: a timed wait may end without a notification, whatever its length.
  template <class Rep, class Period>
  std::cv_status wait_for(UniqueLock& lock, const std::chrono::duration<Rep, Period>&,
                          const Where& where = Where::current()) {
    return pause(Kind::kWaitTimed, lock, where) ? std::cv_status::no_timeout : std::cv_status::timeout;
  }
  template <class Rep, class Period, class Predicate>
    requires std::is_invocable_r_v<bool, Predicate&>
  bool wait_for(UniqueLock& lock, const std::chrono::duration<Rep, Period>& time, Predicate predicate,
                const Where& where = Where::current()) {
    while (!predicate()) {
      if (wait_for(lock, time, where) == std::cv_status::timeout) return predicate();
    }
    return true;
  }

 private:
  bool pause(Kind kind, UniqueLock& lock, const Where& where) {
    Object* const mutex = &lock.mutex()->object_;
    detail::visible(kind, &object_, where, std::memory_order_seq_cst, mutex);
    return detail::visible(Kind::kWake, &object_, where, std::memory_order_seq_cst, mutex);
  }

  Object object_{Sort::kCondition};
};

template <class T>
class Atomic {
 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = std::atomic<T>::is_always_lock_free;

  Atomic() noexcept : value_(T{}) {}
  Atomic(T value) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor)
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  [[nodiscard]] T load(std::memory_order order = std::memory_order_seq_cst,
                       const Where& where = Where::current()) const {
    detail::visible(Kind::kLoad, &object_, where, order);
    const T value = now();
    reached(Access::kRead, order, value);
    return value;
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst, const Where& where = Where::current()) {
    detail::visible(Kind::kStore, &object_, where, order);
    value_.store(value, std::memory_order_relaxed);
    reached(Access::kWrite, order, value);
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst, const Where& where = Where::current()) {
    return change([value](T) { return value; }, order, where);
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order success, std::memory_order failure,
                               const Where& where = Where::current()) {
    detail::visible(Kind::kExchange, &object_, where, success);
    const T before = now();
    const bool equal = std::memcmp(&before, &expected, sizeof(T)) == 0;
    if (equal)
      value_.store(desired, std::memory_order_relaxed);
    else
      expected = before;
    reached(equal ? Access::kReadWrite : Access::kRead, equal ? success : failure, equal ? desired : before);
    return equal;
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst,
                               const Where& where = Where::current()) {
    const std::memory_order failure = order == std::memory_order_acq_rel   ? std::memory_order_acquire
                                      : order == std::memory_order_release ? std::memory_order_relaxed
                                                                           : order;
    return compare_exchange_strong(expected, desired, order, failure, where);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure,
                             const Where& where = Where::current()) {
    return compare_exchange_strong(expected, desired, success, failure, where);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst,
                             const Where& where = Where::current()) {
    return compare_exchange_strong(expected, desired, order, where);
  }
  template <class D>
  T fetch_add(D by, std::memory_order order = std::memory_order_seq_cst, const Where& where = Where::current()) {
    return change([by](T value) { return static_cast<T>(value + by); }, order, where);
  }
  template <class D>
  T fetch_sub(D by, std::memory_order order = std::memory_order_seq_cst, const Where& where = Where::current()) {
    return change([by](T value) { return static_cast<T>(value - by); }, order, where);
  }
  T fetch_and(T with, std::memory_order order = std::memory_order_seq_cst, const Where& where = Where::current()) {
    return change([with](T value) { return static_cast<T>(value & with); }, order, where);
  }
  T fetch_or(T with, std::memory_order order = std::memory_order_seq_cst, const Where& where = Where::current()) {
    return change([with](T value) { return static_cast<T>(value | with); }, order, where);
  }
  T fetch_xor(T with, std::memory_order order = std::memory_order_seq_cst, const Where& where = Where::current()) {
    return change([with](T value) { return static_cast<T>(value ^ with); }, order, where);
  }

  operator T() const { return load(); }  // NOLINT(google-explicit-constructor)
  T operator=(T value) {                 // NOLINT(misc-unconventional-assign-operator): as std's
    store(value);
    return value;
  }
  T operator++() { return static_cast<T>(fetch_add(1) + 1); }
  T operator++(int) { return fetch_add(1); }
  T operator--() { return static_cast<T>(fetch_sub(1) - 1); }
  T operator--(int) { return fetch_sub(1); }
  template <class D>
  T operator+=(D by) {
    return static_cast<T>(fetch_add(by) + by);
  }
  template <class D>
  T operator-=(D by) {
    return static_cast<T>(fetch_sub(by) - by);
  }

 private:
  [[nodiscard]] T now() const { return value_.load(std::memory_order_relaxed); }
  template <class Change>
  T change(const Change& to, std::memory_order order, const Where& where) {
    detail::visible(Kind::kExchange, &object_, where, order);
    const T before = now();
    const T after = to(before);
    value_.store(after, std::memory_order_relaxed);
    reached(Access::kReadWrite, order, after);
    return before;
  }
  void reached(Access access, std::memory_order order, T value) const {
    Scheduler* const scheduler = active();
    if (scheduler == nullptr) return;
    std::uint64_t shown = 0;
    if constexpr (sizeof(T) <= sizeof(shown)) std::memcpy(&shown, &value, sizeof(T));
    scheduler->reached(object_, access, order, shown);
  }

  // A std::atomic, so that ThreadSanitizer treats it as an atomic.
  std::atomic<T> value_;
  mutable Object object_{Sort::kAtomic};
};

inline void fence(std::memory_order order, const Where& where = Where::current()) {
  detail::visible(Kind::kFence, nullptr, where, order);
}

class Thread {
 public:
  class id {
   public:
    id() = default;
    auto operator<=>(const id&) const = default;

   private:
    friend class Thread;
    friend id this_thread_id();
    explicit id(int number) : number_(number) {}
    int number_ = -1;
  };

  Thread() = default;
  template <class F, class... Arguments>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Thread>)
  explicit Thread(F&& function, Arguments&&... arguments) {
    using Call = std::tuple<std::decay_t<F>, std::decay_t<Arguments>...>;
    Scheduler* const scheduler = active();
    if (scheduler == nullptr) std::abort();  // an explored build has threads only in a schedule
    auto call = std::make_unique<Call>(std::forward<F>(function), std::forward<Arguments>(arguments)...);
    const auto run = [](void* pointer) {
      const std::unique_ptr<Call> mine(static_cast<Call*>(pointer));
      std::apply([](auto& callee, auto&... with) { std::invoke(std::move(callee), std::move(with)...); }, *mine);
    };
    number_ = scheduler->spawn(run, call.release(), Where::current());
  }
  Thread(Thread&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Thread& operator=(Thread&& other) noexcept {
    if (joinable()) misused("a joinable thread was assigned to");
    number_ = std::exchange(other.number_, -1);
    return *this;
  }
  ~Thread() {
    if (joinable()) misused("a joinable thread was destroyed");
  }

  [[nodiscard]] bool joinable() const { return number_ >= 0; }
  [[nodiscard]] id get_id() const { return id(number_); }
  void join(const Where& where = Where::current()) {
    if (!joinable()) misused("a thread was joined that cannot be");
    Operation operation;
    operation.kind = Kind::kJoin;
    operation.thread = static_cast<ThreadNumber>(number_);
    operation.where = where;
    if (Scheduler* const scheduler = active()) scheduler->visible(operation);
    number_ = -1;
  }
  void detach() { number_ = -1; }
  static unsigned hardware_concurrency() { return std::thread::hardware_concurrency(); }

 private:
  static void misused(const char* what) {
    Scheduler* const scheduler = active();
    if (scheduler == nullptr) std::abort();
    scheduler->misused(what, Where::current());
  }

  int number_ = -1;
};

using ThreadId = Thread::id;

inline ThreadId this_thread_id() {
  Scheduler* const scheduler = active();
  return ThreadId(scheduler == nullptr ? 0 : scheduler->self());
}
inline void yield(const Where& where = Where::current()) {
  detail::visible(Kind::kYield, nullptr, where);
}
inline void sleep_for(std::chrono::nanoseconds, const Where& where = Where::current()) {
  detail::visible(Kind::kYield, nullptr, where);
}

class OnceFlag {
 public:
  OnceFlag() = default;

 private:
  template <class F, class... Arguments>
  friend void call_once(OnceFlag& flag, F&& function, Arguments&&... arguments);
  Object object_{Sort::kOnce};
  bool done_ = false;  // used where there is no scheduler
};

// In std, a function that throws leaves the flag as it was; here it ends the schedule.
template <class F, class... Arguments>
void call_once(OnceFlag& flag, F&& function, Arguments&&... arguments) {
  const Where where = Where::current();
  if (active() != nullptr ? !detail::visible(Kind::kOnce, &flag.object_, where) : std::exchange(flag.done_, true)) {
    return;
  }
  std::invoke(std::forward<F>(function), std::forward<Arguments>(arguments)...);
  detail::visible(Kind::kOnceDone, &flag.object_, where);
}

template <class T>
class Cell {
 public:
  Cell() = default;
  explicit Cell(T value) : value_(std::move(value)) {}
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  [[nodiscard]] const T& read(const Where& where = Where::current()) const {
    detail::visible(Kind::kRead, &object_, where);
    return value_;
  }
  [[nodiscard]] T& write(const Where& where = Where::current()) {
    detail::visible(Kind::kWrite, &object_, where);
    return value_;
  }

 private:
  T value_{};
  mutable Object object_{Sort::kCell};  // last: destroyed first, so that a late access finds a destroyed cell
};

// Something that other threads can see and that synchronises nothing: a call of a runtime, say.
class Point {
 public:
  // The order of two steps of one point makes a difference, unless neither writes.
  void step(const char* label, bool writes = true, const Where& where = Where::current()) {
    Scheduler* const scheduler = active();
    if (scheduler == nullptr) return;
    Operation operation;
    operation.kind = Kind::kStep;
    operation.object = &object_;
    operation.label = label;
    operation.writes = writes;
    operation.where = where;
    scheduler->visible(operation);
  }

 private:
  Object object_{Sort::kPoint};
};

template <class Tag, class T>
[[nodiscard]] T& of_this_thread() {
  Scheduler* const scheduler = active();
  if (scheduler == nullptr) {
    static T outside{};
    return outside;
  }
  static constexpr char kKey = 0;
  return *static_cast<T*>(
      scheduler->local(&kKey, []() -> void* { return new T(); }, [](void* value) { delete static_cast<T*>(value); }));
}

}  // namespace hip::sync
