// The runner's threads: which one runs when, and how a schedule begins and ends. The effects of operations are in
// effects.cpp.
#include "verify/race/schedule_runner.h"

#include <fmt/format.h>

#include <cassert>
#include <cstdlib>
#include <utility>

#include "verify/race/arena.h"
#include "verify/race/crash.h"
#include "verify/race/sanitizers.h"

namespace verify::race {
namespace {

constexpr std::uint32_t kGivesWayAfter = 500;  // steps in a row that a thread takes while other threads could run
constexpr std::uint8_t kTimeouts = 2;          // after so many timeouts a thread lets other threads go first

// How many Insides the running fiber is in.
int depth = 0;

// Stops ignoring accesses before it switches: a fiber that is left for good would end with accesses ignored, which
// ThreadSanitizer reports.
void switch_fibers(Fiber& from, Fiber& to) {
  const int mine = std::exchange(depth, 0);
  for (int i = 0; i < mine; ++i) sanitizers::heed_accesses();
  Fiber::switch_to(from, to);
  depth = mine;
  for (int i = 0; i < mine; ++i) sanitizers::ignore_accesses();
}

}  // namespace

Inside::Inside() : before_(Arena::of_process().on()) {
  Arena::of_process().set_on(false);
  ++depth;
  sanitizers::ignore_accesses();
}

Inside::~Inside() {
  sanitizers::heed_accesses();
  --depth;
  Arena::of_process().set_on(before_);
}

ScheduleRunner::ScheduleRunner(const ScheduleOptions& options) : options_(options) {
  steps_.reserve(options.max_steps + 64);
  choices_.reserve(options.max_steps + 64);
  objects_.reserve(256);
  for (ThreadState& thread : threads_) thread.runner = this;
  sanitizers::expect_threads();
  home_.adopt();
}

ScheduleRunner::~ScheduleRunner() {
  for (ThreadState& thread : threads_) assert(!thread.exists || thread.done || abandoned_);
}

void ScheduleRunner::reset() {
  for (std::uint32_t i = 0; i < thread_count_; ++i) {
    ThreadState& thread = threads_[i];
    thread.exists = thread.done = thread.joined = thread.starting = thread.yielded = thread.timed = false;
    thread.timeouts = 0;
    thread.waiting_since = thread.in_a_row = 0;
    thread.clock = thread.released = thread.acquirable = Clock();
    thread.locals.clear();
  }
  thread_count_ = 0;
  unjoined_ = 0;
  current_ = 0;
  sequence_ = 0;
  races_ = 0;
  object_count_ = 0;
  sort_counts_.fill(0);
  steps_.clear();
  choices_.clear();
  failure_ = Failure();
  ++schedule_;
}

const Failure& ScheduleRunner::run(SchedulingStrategy& strategy, void (*body)(void*), void* context) {
  assert(hip::sync::active() == nullptr);
  reset();
  strategy_ = &strategy;
  strategy.begin();
  Arena& arena = Arena::of_process();
  arena.begin(abandoned_);
  arena.on_double_free(
      [](void* me) { static_cast<ScheduleRunner*>(me)->fail(FailureKind::kDoubleFree, "memory is deleted twice"); },
      this);
  ThreadState& first = threads_[0];
  first.exists = true;
  first.clock.at[0] = 1;
  first.run = body;
  first.argument = context;
  thread_count_ = 1;
  first.fiber.prepare(thread_main, &first);
  hip::sync::active() = this;
  if (const char* const crash = crash_of([this] {
        on_fiber_ = true;
        switch_fibers(home_, threads_[0].fiber);
      })) {
    failure_ = {FailureKind::kCrash, {}, crash};
  }
  depth = 0;
  on_fiber_ = false;
  hip::sync::active() = nullptr;
  // The next schedule may use objects that this schedule leaves behind.
  for (std::uint32_t i = 0; i < thread_count_; ++i) threads_[i].fiber.order_before_caller();
  arena.set_on(false);
  abandoned_ = failure_.kind != FailureKind::kNone;
  for (std::uint32_t i = 0; i < thread_count_; ++i) {
    if (!threads_[i].done) strategy.left_waiting(static_cast<ThreadNumber>(i), threads_[i].footprint);
  }
  if (failure_.kind != FailureKind::kNone) return failure_;
  if (const Leaks leaks = arena.leaks(); leaks.blocks != 0) {
    failure_ = {FailureKind::kLeak,
                {},
                fmt::format("{} allocations ({} bytes) are never deleted, the first of them by thread {} after step {}",
                            leaks.blocks, leaks.bytes, leaks.thread, leaks.step)};
    abandoned_ = true;
  }
  return failure_;
}

// The entry function of a thread's fiber.
void ScheduleRunner::thread_main(void* state) {
  ThreadState& me = *static_cast<ThreadState*>(state);
  ScheduleRunner& runner = *me.runner;
  Arena::of_process().set_on(true);
  try {
    me.run(me.argument);
    // The thread's local values are destroyed with it, the last one first.
    while (!me.locals.empty()) {
      const Local last = me.locals.back();
      {
        const Inside inside;
        me.locals.pop_back();
      }
      last.drop(last.value);
    }
  } catch (...) {
    runner.fail(FailureKind::kCrash, "an exception leaves a thread");
  }
  sanitizers::release(&me);
  Arena::of_process().set_on(false);
  runner.finish_thread();
}

// Leaves the calling fiber for good.
void ScheduleRunner::leave() {
  on_fiber_ = false;
  switch_fibers(threads_[current_].fiber, home_);
  std::abort();
}

void ScheduleRunner::finish_thread() {
  const Inside inside;
  ThreadState& me = threads_[current_];
  me.done = true;
  if (current_ == 0) {
    if (unjoined_ != 0) {
      for (std::uint32_t i = 1; i < thread_count_; ++i) {
        if (!threads_[i].done) fail(FailureKind::kMisuse, "the schedule is over and a thread still runs");
      }
    }
    leave();
  }
  if (me.starting) {
    me.starting = false;
    switch_to(me.parent);
  } else {
    choose_next();
  }
  std::abort();  // no switch goes to a thread that is done
}

void ScheduleRunner::switch_to(ThreadNumber next) {
  const ThreadNumber before = current_;
  if (next == before) return;
  current_ = next;
  switch_fibers(threads_[before].fiber, threads_[next].fiber);
}

Mask ScheduleRunner::enabled_threads(bool* yields) {
  Mask eager = 0;
  Mask patient = 0;  // threads that gave way, and threads whose timed wait is over
  for (std::uint32_t i = 0; i < thread_count_; ++i) {
    const ThreadState& thread = threads_[i];
    if (thread.done || !can_go_on(thread)) continue;
    const bool timeout =
        thread.pending.kind == Kind::kWake && token_for(thread, objects_[thread.footprint.object]) == nullptr;
    const bool waits = thread.yielded || (timeout && thread.timeouts >= kTimeouts);
    (waits ? patient : eager) |= bit(static_cast<ThreadNumber>(i));
  }
  const Mask enabled = eager != 0 ? eager : patient;
  *yields = (enabled & bit(current_)) == 0;
  return enabled;
}

void ScheduleRunner::choose_next() {
  bool yields = false;
  const Mask enabled = enabled_threads(&yields);
  if (enabled == 0) {
    bool waits = false;
    for (std::uint32_t i = 0; i < thread_count_; ++i) {
      waits = waits || (!threads_[i].done && threads_[i].pending.kind == Kind::kWake);
    }
    fail(waits ? FailureKind::kLostWakeUp : FailureKind::kDeadlock, stuck_message());
  }
  if (steps_.size() >= options_.max_steps) {
    fail(FailureKind::kEndless, fmt::format("no end after {} steps", options_.max_steps));
  }
  const ThreadNumber next = strategy_->choose({enabled, current_, yields});
  if ((enabled & bit(next)) == 0) {
    fail(FailureKind::kNotDeterministic, "a thread was chosen that cannot go on: the scenario is not deterministic");
  }
  choices_.push_back(next);
  for (std::uint32_t i = 0; i < thread_count_; ++i) {
    if (i != next) threads_[i].yielded = false;
  }
  ThreadState& chosen = threads_[next];
  chosen.in_a_row = next == current_ ? chosen.in_a_row + 1 : 0;
  switch_to(next);
}

bool ScheduleRunner::visible(const hip::sync::Operation& operation) {
  if (!on_fiber_) return true;
  const Inside inside;
  ThreadState& me = threads_[current_];
  if (operation.kind == Kind::kDestroy && operation.object->schedule != schedule_) return true;  // not used yet
  me.pending = operation;
  resolve(me);
  if (me.starting) {
    me.starting = false;
    switch_to(me.parent);
  } else if (unjoined_ != 0 || !can_go_on(me)) {
    choose_next();
  }
  if (operation.object != nullptr && !operation.object->alive()) {
    fail(FailureKind::kUseAfterFree,
         fmt::format("thread {} {} {} at {}, which was destroyed", current_, kind_name(operation.kind),
                     object_name(me.footprint.object), place_name(operation.where)));
  }
  if (unjoined_ != 0) strategy_->executes(current_, me.footprint);
  if (me.in_a_row > kGivesWayAfter) me.yielded = true, me.in_a_row = 0;
  const bool result = execute(me);
  ++me.clock.at[current_];
  Arena::of_process().set_place(current_, now());
  return result;
}

ThreadNumber ScheduleRunner::spawn(void (*start)(void*), void* argument, const Where& where) {
  const Inside inside;
  if (thread_count_ == kMaxThreads) fail(FailureKind::kMisuse, fmt::format("more than {} threads", kMaxThreads));
  const ThreadNumber number = static_cast<ThreadNumber>(thread_count_++);
  ThreadState& child = threads_[number];
  ThreadState& me = threads_[current_];
  child.exists = true;
  child.starting = true;
  child.parent = current_;
  child.clock = me.clock;
  child.clock.at[number] = 1;
  ++me.clock.at[current_];
  child.run = start;
  child.argument = argument;
  ++unjoined_;
  Step step;
  step.thread = current_;
  step.kind = Kind::kSpawn;
  step.other = number;
  step.where = where;
  steps_.push_back(step);
  strategy_->spawned(current_, number);
  child.fiber.prepare(thread_main, &child);
  const ThreadNumber parent = current_;
  switch_to(number);  // the child runs until just before its first operation
  assert(current_ == parent);
  (void)parent;
  return number;
}

void* ScheduleRunner::local(const void* key, void* (*make)(), void (*drop)(void*)) {
  ThreadState& me = threads_[current_];
  for (const Local& local : me.locals) {
    if (local.key == key) return local.value;
  }
  void* const value = make();
  const Inside inside;
  me.locals.push_back({key, value, drop});
  return value;
}

void ScheduleRunner::fail(FailureKind kind, std::string message, std::string property) {
  const Inside inside;
  if (!on_fiber_) {
    failure_ = {kind, std::move(property), std::move(message)};
    std::abort();
  }
  failure_ = {kind, std::move(property), std::move(message)};
  leave();
  std::abort();
}

void ScheduleRunner::misused(const char* what, const Where& where) {
  const Inside inside;
  fail(FailureKind::kMisuse, fmt::format("{} by thread {} at {}", what, current_, place_name(where)));
}

void ScheduleRunner::mark(Step::What what, const char* label, std::uint64_t value) {
  const Inside inside;
  Step step;
  step.what = what;
  step.thread = current_;
  step.label = label;
  step.value = value;
  steps_.push_back(step);
}

std::string ScheduleRunner::stuck_message() const {
  std::string message;
  for (std::uint32_t i = 0; i < thread_count_; ++i) {
    const ThreadState& thread = threads_[i];
    if (thread.done) continue;
    message += message.empty() ? "" : "; ";
    if (thread.pending.kind == Kind::kJoin) {
      message += fmt::format("thread {} waits for the end of thread {}", i, thread.pending.thread);
    } else {
      message += fmt::format("thread {} waits for {} at {}", i, object_name(thread.footprint.object),
                             place_name(thread.pending.where));
    }
  }
  return message;
}

}  // namespace verify::race
