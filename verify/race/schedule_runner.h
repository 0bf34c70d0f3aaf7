// race::ScheduleRunner: a deterministic runner that runs the threads of a schedule as fibers, one operation at a time.
//
// A fiber is always suspended just before its next visible operation (scheduler.h lists them). At each operation a
// SchedulingStrategy chooses one of the threads that can go on. Effects are sequentially consistent. Vector clocks keep
// the order that the memory orders in the code promise, and accesses to cells are judged by these clocks (as FastTrack
// does). The runner notices: data races on cells, deadlocks, wake-ups that were lost, uses of objects that were
// destroyed, memory deleted twice or never (arena.h), misuse of hip::sync, and schedules that do not end. The first of
// these ends the schedule.
//
// Thread 0 is the body itself. The runner does not explore weak memory beyond sequential consistency
// (docs/race.md). A process has one runner at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hip/sync/scheduler.h"
#include "verify/race/clock.h"
#include "verify/race/failure.h"
#include "verify/race/fiber.h"

namespace verify::race {

using hip::sync::Kind;
using hip::sync::Sort;
using Where = std::source_location;

// How an operation touches an object, for the question whether two operations can be swapped.
enum class StepEffect : std::uint8_t {
  kNone,
  kRead,
  kWrite,
  kTry,      // a lock that does not wait
  kRelease,  // never possible at the same time as a lock of the same object
  kReleaseShared,
};
inline constexpr std::uint32_t kNoObject = ~std::uint32_t{0};
struct Footprint {
  std::uint32_t object = kNoObject;
  std::uint32_t mutex = kNoObject;  // the mutex of a wait and of the wake-up after it
  StepEffect effect = StepEffect::kNone;
  StepEffect mutex_effect = StepEffect::kNone;
};

struct Choice {
  Mask enabled = 0;
  ThreadNumber current = 0;
  bool yields = false;  // the current thread gave way, or cannot go on: choosing another is no preemption
};

class SchedulingStrategy {
 public:
  virtual ~SchedulingStrategy() = default;
  virtual void begin() = 0;
  // Returns one of the enabled threads.
  virtual ThreadNumber choose(const Choice& choice) = 0;
  // The thread is about to execute that operation: it was chosen last, or there is no other thread.
  virtual void executes(ThreadNumber, const Footprint&) {}
  virtual void spawned(ThreadNumber /*parent*/, ThreadNumber /*child*/) {}
  virtual void joined(ThreadNumber /*parent*/, ThreadNumber /*child*/) {}
  // Called at the end of a schedule, with the next operation of a thread that has not ended.
  virtual void left_waiting(ThreadNumber, const Footprint&) {}
};

// One entry of the record of a schedule.
struct Step {
  enum class What : std::uint8_t { kOperation, kBegin, kEnd };  // kBegin, kEnd: of a scenario's call
  What what = What::kOperation;
  ThreadNumber thread = 0;
  Kind kind{};
  bool result = true;
  bool has_value = false;
  ThreadNumber other = 0;  // the thread that is spawned or joined
  std::uint32_t object = kNoObject;
  std::uint64_t value = 0;
  const char* label = nullptr;
  Where where;
};

struct ScheduleOptions {
  std::uint32_t max_steps = 20'000;
  bool races_end = true;  // false: races are counted, and the schedule goes on
};

class ScheduleRunner final : public hip::sync::Scheduler {
 public:
  explicit ScheduleRunner(const ScheduleOptions& options = {});
  ScheduleRunner(const ScheduleRunner&) = delete;
  ScheduleRunner& operator=(const ScheduleRunner&) = delete;
  ~ScheduleRunner();

  // Runs one schedule. An exception of the body counts as a crash.
  const Failure& run(SchedulingStrategy& strategy, void (*body)(void*), void* context);

  // The next functions are for the body and the threads that it starts.
  [[noreturn]] void fail(FailureKind kind, std::string message, std::string property = {});
  void mark(Step::What what, const char* label, std::uint64_t value = 0);
  [[nodiscard]] std::uint32_t now() const { return static_cast<std::uint32_t>(steps_.size()); }
  // The number of races that did not end the schedule.
  [[nodiscard]] std::uint32_t races() const { return races_; }

  // The record of the last schedule.
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<ThreadNumber>& choices() const { return choices_; }
  [[nodiscard]] std::uint32_t threads() const { return thread_count_; }
  [[nodiscard]] std::string object_name(std::uint32_t object) const;

  // hip::sync::Scheduler
  [[gnu::no_sanitize_address]] bool visible(const hip::sync::Operation& operation) override;
  void reached(hip::sync::Object& atomic, hip::sync::Access access, std::memory_order order,
               std::uint64_t value) override;
  ThreadNumber spawn(void (*run)(void*), void* argument, const Where& where) override;
  [[nodiscard]] ThreadNumber self() const override { return current_; }
  void* local(const void* key, void* (*make)(), void (*drop)(void*)) override;
  [[noreturn]] void misused(const char* what, const Where& where) override;

 private:
  struct Local {
    const void* key;
    void* value;
    void (*drop)(void*);
  };
  struct ThreadState {
    ScheduleRunner* runner = nullptr;
    Fiber fiber;
    void (*run)(void*) = nullptr;
    void* argument = nullptr;
    hip::sync::Operation pending;
    Footprint footprint;
    bool exists = false;
    bool done = false;
    bool joined = false;
    bool starting = false;  // on the way to its first operation, on its parent's turn
    bool yielded = false;
    bool timed = false;  // its wait may end before it is notified
    std::uint8_t timeouts = 0;
    ThreadNumber parent = 0;
    std::uint32_t waiting_since = 0;
    std::uint32_t in_a_row = 0;
    Clock clock;
    Clock released;    // at its last release fence
    Clock acquirable;  // the knowledge that an acquire fence takes over
    std::vector<Local> locals;
  };
  struct ObjectState {
    Sort sort{};
    std::int8_t owner = -1;
    Mask readers = 0;
    std::uint8_t once = 0;  // 1: running, 2: done
    std::uint8_t tokens = 0;
    ThreadNumber writer = 0;
    bool written = false;
    std::uint32_t number = 0;  // among the objects of its sort
    std::uint32_t write_time = 0;
    std::array<std::uint32_t, kMaxThreads> token{};  // times of notifications that no thread has taken yet
    Clock clock;                                     // the knowledge that an acquire of this object takes over
    Clock reads;                                     // of a cell: when it was read; of a shared mutex: its readers
    Where write_where;
    std::array<Where, kMaxThreads> read_where;
  };

  static void thread_main(void* state);
  void reset();
  void finish_thread();
  void leave();
  void resolve(ThreadState& thread);
  // The object may be in memory that is freed already.
  [[gnu::no_sanitize_address]] ObjectState& state_of(hip::sync::Object& object);
  [[nodiscard]] bool can_go_on(const ThreadState& thread) const;
  [[nodiscard]] const std::uint32_t* token_for(const ThreadState& thread, const ObjectState& condition) const;
  [[nodiscard]] Mask enabled_threads(bool* yields);
  void choose_next();
  void switch_to(ThreadNumber next);
  bool execute(ThreadState& thread);
  bool execute_lock(ThreadState& thread, ObjectState& object);
  void execute_unlock(ThreadState& thread, ObjectState& object);
  void execute_notify(ObjectState& condition, const hip::sync::Operation& operation);
  bool execute_wake(ThreadState& thread, ObjectState& condition);
  bool execute_once(ThreadState& thread, ObjectState& object);
  void execute_fence(ThreadState& thread);
  void execute_destroy(ThreadState& thread, ObjectState& object);
  void execute_plain(ThreadState& thread, ObjectState& cell);
  void race(const ThreadState& thread, const ObjectState& cell, ThreadNumber other, const char* did,
            const Where& there);
  [[nodiscard]] std::string stuck_message() const;

  ScheduleOptions options_;
  SchedulingStrategy* strategy_ = nullptr;
  Fiber home_;
  bool on_fiber_ = false;
  std::array<ThreadState, kMaxThreads> threads_;
  std::uint32_t thread_count_ = 0;
  std::uint32_t unjoined_ = 0;  // threads beside thread 0 that nobody has joined
  ThreadNumber current_ = 0;
  std::uint64_t schedule_ = 0;
  std::uint32_t sequence_ = 0;  // numbers waits and notifications
  std::uint32_t races_ = 0;
  std::vector<ObjectState> objects_;
  std::uint32_t object_count_ = 0;
  std::array<std::uint32_t, 8> sort_counts_{};
  std::vector<Step> steps_;
  std::vector<ThreadNumber> choices_;
  Failure failure_;
  bool abandoned_ = false;  // the last schedule ended before its threads did
};

// "file.cpp:12", or nothing where the place is not known.
[[nodiscard]] std::string place_name(const Where& where);
[[nodiscard]] std::string_view kind_name(Kind kind);

// Excludes the scheduler's own work from the schedule: from its memory and from ThreadSanitizer's checks.
class Inside {
 public:
  Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside();

 private:
  bool before_;
};

}  // namespace verify::race
