// The scheduler behind an explored build's synchronisation names: every operation that another thread can see is
// announced to a Scheduler before it takes effect, and takes effect when the scheduler returns.
//
// Only explored.h includes this header, and only builds with HGCHECK_EXPLORE include explored.h. The implementation is
// verify/race/schedule_runner.h. Outside a schedule there is no scheduler (active() is null): operations then take
// effect at once and threads cannot be started.
#pragma once

#include <atomic>
#include <cstdint>
#include <source_location>

namespace hip::sync {

enum class Kind : std::uint8_t {
  kSpawn,
  kJoin,
  kYield,  // also sleep_for: other threads run first
  kLock,
  kTryLock,
  kUnlock,
  kLockShared,
  kTryLockShared,
  kUnlockShared,
  kWait,       // gives up the mutex and waits
  kWaitTimed,  // likewise; may also come back without being notified
  kWake,       // the wait returns with the mutex
  kNotifyOne,
  kNotifyAll,
  kLoad,
  kStore,
  kExchange,  // any operation that reads and writes
  kFence,
  kOnce,      // call_once
  kOnceDone,  // the function of call_once has returned
  kStep,      // of a Point: visible to other threads, but no synchronisation
  kRead,      // of a Cell
  kWrite,
  kDestroy,  // of any object
};

// The purpose of an object.
enum class Sort : std::uint8_t { kMutex, kSharedMutex, kCondition, kAtomic, kOnce, kCell, kPoint };

// How an Atomic was accessed, which is known after the operation.
enum class Access : std::uint8_t { kRead, kWrite, kReadWrite };

using ThreadNumber = std::uint8_t;

// Carried by each synchronising object and each cell: whether it is alive, and where the running schedule keeps its
// facts about it.
class Object {
 public:
  explicit Object(Sort sort) noexcept : sort_(sort) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object();

  [[nodiscard]] Sort sort() const { return sort_; }
  // False for a destroyed object, as long as its memory is not used for something else. This reads memory that may be
  // freed, on purpose: it is how a use after destruction is found.
  [[nodiscard, gnu::no_sanitize_address]] bool alive() const { return life_ == kAlive; }

  // For the scheduler only.
  std::uint64_t schedule = 0;  // the schedule in which `index` is valid
  std::uint32_t index = 0;

 private:
  static constexpr std::uint32_t kAlive = 0x600DC0DE;
  static constexpr std::uint32_t kDead = 0xDEADC0DE;

  // Volatile: the compiler may otherwise drop the last write of the destructor.
  volatile std::uint32_t life_ = kAlive;
  Sort sort_;
};

struct Operation {
  Kind kind{};
  std::memory_order order = std::memory_order_seq_cst;
  ThreadNumber thread = 0;  // the thread that is joined
  Object* object = nullptr;
  Object* mutex = nullptr;      // of a wait
  const char* label = nullptr;  // of a step
  bool writes = true;           // of a step
  std::source_location where{};
};

class Scheduler {
 public:
  // Returns when the operation has taken effect; for kTryLock and kOnce with whether it succeeded, for kWake with
  // whether the thread was notified.
  virtual bool visible(const Operation& operation) = 0;
  // The last operation of the calling thread has read or written this value of an atomic.
  virtual void reached(Object& atomic, Access access, std::memory_order order, std::uint64_t value) = 0;
  // `run` is called once, on a thread of its own.
  virtual ThreadNumber spawn(void (*run)(void*), void* argument, const std::source_location& where) = 0;
  [[nodiscard]] virtual ThreadNumber self() const = 0;
  // The calling thread's value for `key`.
  virtual void* local(const void* key, void* (*make)(), void (*drop)(void*)) = 0;
  // A programmer error that explored.h itself detects (a joinable thread destroyed). Does not return.
  [[noreturn]] virtual void misused(const char* what, const std::source_location& where) = 0;

 protected:
  ~Scheduler() = default;
};

// The scheduler of the running schedule, or null.
inline Scheduler*& active() {
  static constinit Scheduler* scheduler = nullptr;
  return scheduler;
}

inline Object::~Object() {
  if (Scheduler* const scheduler = active()) {
    Operation operation;
    operation.kind = Kind::kDestroy;
    operation.object = this;
    scheduler->visible(operation);
  }
  life_ = kDead;
}

}  // namespace hip::sync
