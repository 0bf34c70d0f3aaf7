// The effects of operations: on the threads that may go on, and on each thread's knowledge (vector clocks).
#include <fmt/format.h>

#include <algorithm>

#include "verify/race/sanitizers.h"
#include "verify/race/schedule_runner.h"

namespace verify::race {
namespace {

bool acquires(std::memory_order order) {
  return order != std::memory_order_relaxed && order != std::memory_order_release;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

StepEffect effect_of(const hip::sync::Operation& operation) {
  switch (operation.kind) {
    case Kind::kLockShared:
    case Kind::kLoad:
    case Kind::kRead:
      return StepEffect::kRead;
    case Kind::kTryLock:
    case Kind::kTryLockShared:
      return StepEffect::kTry;
    case Kind::kUnlock:
      return StepEffect::kRelease;
    case Kind::kUnlockShared:
      return StepEffect::kReleaseShared;
    case Kind::kSpawn:
    case Kind::kJoin:
    case Kind::kYield:
    case Kind::kFence:
      return StepEffect::kNone;
    case Kind::kStep:
      return operation.writes ? StepEffect::kWrite : StepEffect::kRead;
    case Kind::kLock:
    case Kind::kWait:
    case Kind::kWaitTimed:
    case Kind::kWake:
    case Kind::kNotifyOne:
    case Kind::kNotifyAll:
    case Kind::kStore:
    case Kind::kExchange:
    case Kind::kOnce:
    case Kind::kOnceDone:
    case Kind::kWrite:
    case Kind::kDestroy:
      return StepEffect::kWrite;
  }
  return StepEffect::kWrite;
}

}  // namespace

// Describes the thread's next operation in terms of this schedule's objects.
void ScheduleRunner::resolve(ThreadState& thread) {
  const hip::sync::Operation& operation = thread.pending;
  Footprint& footprint = thread.footprint;
  footprint = Footprint();
  if (operation.object != nullptr) {
    state_of(*operation.object);
    footprint.object = operation.object->index;
    footprint.effect = effect_of(operation);
  }
  if (operation.mutex != nullptr) {
    state_of(*operation.mutex);
    footprint.mutex = operation.mutex->index;
    footprint.mutex_effect = operation.kind == Kind::kWake ? StepEffect::kWrite : StepEffect::kRelease;
  }
}

ScheduleRunner::ObjectState& ScheduleRunner::state_of(hip::sync::Object& object) {
  if (!object.alive() && object.schedule != schedule_) {
    fail(FailureKind::kUseAfterFree, fmt::format("thread {} uses memory that holds no live object", current_));
  }
  if (object.schedule == schedule_) return objects_[object.index];
  object.schedule = schedule_;
  object.index = object_count_++;
  if (object_count_ > objects_.size()) objects_.emplace_back();
  ObjectState& state = objects_[object.index];
  state = ObjectState();
  state.sort = object.sort();
  state.number = ++sort_counts_.at(static_cast<std::size_t>(object.sort()));
  return state;
}

const std::uint32_t* ScheduleRunner::token_for(const ThreadState& thread, const ObjectState& condition) const {
  for (std::size_t i = 0; i < condition.tokens; ++i) {
    if (condition.token.at(i) > thread.waiting_since) return &condition.token.at(i);
  }
  return nullptr;
}

bool ScheduleRunner::can_go_on(const ThreadState& thread) const {
  const hip::sync::Operation& operation = thread.pending;
  switch (operation.kind) {
    case Kind::kJoin:
      return threads_[operation.thread].done;
    case Kind::kLock: {
      const ObjectState& object = objects_[thread.footprint.object];
      return object.owner < 0 && object.readers == 0;
    }
    case Kind::kLockShared:
      return objects_[thread.footprint.object].owner < 0;
    case Kind::kWake:
      return objects_[thread.footprint.mutex].owner < 0 &&
             (thread.timed || token_for(thread, objects_[thread.footprint.object]) != nullptr);
    case Kind::kOnce:
      return objects_[thread.footprint.object].once != 1;
    case Kind::kSpawn:
    case Kind::kYield:
    case Kind::kTryLock:
    case Kind::kUnlock:
    case Kind::kTryLockShared:
    case Kind::kUnlockShared:
    case Kind::kWait:
    case Kind::kWaitTimed:
    case Kind::kNotifyOne:
    case Kind::kNotifyAll:
    case Kind::kLoad:
    case Kind::kStore:
    case Kind::kExchange:
    case Kind::kFence:
    case Kind::kOnceDone:
    case Kind::kStep:
    case Kind::kRead:
    case Kind::kWrite:
    case Kind::kDestroy:
      return true;
  }
  return true;
}

bool ScheduleRunner::execute(ThreadState& thread) {
  const hip::sync::Operation operation = thread.pending;
  Step step;
  step.thread = current_;
  step.kind = operation.kind;
  step.object = thread.footprint.object;
  step.other = operation.thread;
  step.label = operation.label;
  step.where = operation.where;
  steps_.push_back(step);
  ObjectState* const object = thread.footprint.object == kNoObject ? nullptr : &objects_[thread.footprint.object];
  bool result = true;
  switch (operation.kind) {
    case Kind::kJoin: {
      ThreadState& child = threads_[operation.thread];
      thread.clock.join(child.clock);
      strategy_->joined(current_, operation.thread);
      sanitizers::acquire(&child);
      if (!child.joined) --unjoined_;
      child.joined = true;
      break;
    }
    case Kind::kYield:
      thread.yielded = true;
      break;
    case Kind::kLock:
    case Kind::kTryLock:
    case Kind::kLockShared:
    case Kind::kTryLockShared:
      result = execute_lock(thread, *object);
      break;
    case Kind::kUnlock:
    case Kind::kUnlockShared:
      execute_unlock(thread, *object);
      break;
    case Kind::kWait:
    case Kind::kWaitTimed:
      execute_unlock(thread, objects_[thread.footprint.mutex]);
      thread.waiting_since = ++sequence_;
      thread.timed = operation.kind == Kind::kWaitTimed;
      break;
    case Kind::kWake:
      result = execute_wake(thread, *object);
      break;
    case Kind::kNotifyOne:
    case Kind::kNotifyAll:
      execute_notify(*object, operation);
      break;
    case Kind::kFence:
      execute_fence(thread);
      break;
    case Kind::kOnce:
      result = execute_once(thread, *object);
      break;
    case Kind::kOnceDone:
      object->once = 2;
      object->clock = thread.clock;
      sanitizers::release(operation.object);
      break;
    case Kind::kRead:
    case Kind::kWrite:
      execute_plain(thread, *object);
      break;
    case Kind::kDestroy:
      execute_destroy(thread, *object);
      break;
    case Kind::kSpawn:
    case Kind::kLoad:
    case Kind::kStore:
    case Kind::kExchange:
    case Kind::kStep:
      break;  // the program itself does the rest of these
  }
  steps_.back().result = result;
  return result;
}

// Also the mutex half of a wake: `object` is the mutex then.
bool ScheduleRunner::execute_lock(ThreadState& thread, ObjectState& object) {
  const Kind kind = thread.pending.kind;
  const bool shared = kind == Kind::kLockShared || kind == Kind::kTryLockShared;
  if (object.owner >= 0 || (!shared && object.readers != 0)) return false;
  if (shared) {
    object.readers |= bit(current_);
  } else {
    object.owner = static_cast<std::int8_t>(current_);
    thread.clock.join(object.reads);
  }
  thread.clock.join(object.clock);
  sanitizers::acquire(kind == Kind::kWake ? thread.pending.mutex : thread.pending.object);
  return true;
}

// Also the mutex half of a wait.
void ScheduleRunner::execute_unlock(ThreadState& thread, ObjectState& object) {
  const bool shared = thread.pending.kind == Kind::kUnlockShared;
  const bool owned = shared ? (object.readers & bit(current_)) != 0 : object.owner == static_cast<int>(current_);
  if (!owned) {
    fail(FailureKind::kMisuse,
         fmt::format("thread {} unlocks at {} what it has not locked", current_, place_name(thread.pending.where)));
  }
  sanitizers::release(thread.pending.mutex != nullptr ? thread.pending.mutex : thread.pending.object);
  if (shared) {
    object.readers = static_cast<Mask>(object.readers & ~bit(current_));
    object.reads.join(thread.clock);
  } else {
    object.owner = -1;
    object.clock = thread.clock;
  }
}

// Adds a token for each notified thread. The first of the waiting threads to wake takes a token.
void ScheduleRunner::execute_notify(ObjectState& condition, const hip::sync::Operation& operation) {
  std::uint8_t waiting = 0;
  for (std::uint32_t i = 0; i < thread_count_; ++i) {
    const ThreadState& thread = threads_[i];
    if (!thread.done && thread.pending.kind == Kind::kWake && thread.pending.object == operation.object) ++waiting;
  }
  const std::uint32_t now = ++sequence_;
  while (condition.tokens < waiting) {
    condition.token.at(condition.tokens++) = now;
    if (operation.kind == Kind::kNotifyOne) break;
  }
}

bool ScheduleRunner::execute_wake(ThreadState& thread, ObjectState& condition) {
  (void)execute_lock(thread, objects_[thread.footprint.mutex]);
  const std::uint32_t* const token = token_for(thread, condition);
  if (token == nullptr) {
    ++thread.timeouts;
    return false;
  }
  const auto place = condition.token.begin() + (token - condition.token.data());
  std::move(place + 1, condition.token.begin() + condition.tokens, place);
  --condition.tokens;
  return true;
}

bool ScheduleRunner::execute_once(ThreadState& thread, ObjectState& object) {
  if (object.once == 0) {
    object.once = 1;
    return true;
  }
  thread.clock.join(object.clock);
  sanitizers::acquire(thread.pending.object);
  return false;
}

void ScheduleRunner::execute_fence(ThreadState& thread) {
  const std::memory_order order = thread.pending.order;
  if (acquires(order)) thread.clock.join(thread.acquirable);
  if (releases(order)) thread.released = thread.clock;
}

void ScheduleRunner::execute_destroy(ThreadState& thread, ObjectState& object) {
  if (object.owner >= 0 || object.readers != 0) {
    fail(FailureKind::kUseAfterFree,
         fmt::format("thread {} destroys {} while it is locked", current_, object_name(thread.footprint.object)));
  }
  for (std::uint32_t i = 0; i < thread_count_; ++i) {
    const ThreadState& other = threads_[i];
    if (i == current_ || other.done || other.pending.kind != Kind::kWake ||
        other.pending.object != thread.pending.object) {
      continue;
    }
    fail(FailureKind::kUseAfterFree, fmt::format("thread {} destroys {} while thread {} waits for it", current_,
                                                 object_name(thread.footprint.object), i));
  }
}

void ScheduleRunner::race(const ThreadState& thread, const ObjectState& cell, ThreadNumber other, const char* did,
                          const Where& there) {
  ++races_;
  if (!options_.races_end) return;
  fail(FailureKind::kDataRace,
       fmt::format("thread {} {} cell {} at {}, and thread {} {} it at {}: nothing orders the two", current_,
                   kind_name(thread.pending.kind), cell.number, place_name(thread.pending.where), other, did,
                   place_name(there)));
}

// FastTrack: a writing thread has to know of the last write and of all reads, a reading thread of the last write.
void ScheduleRunner::execute_plain(ThreadState& thread, ObjectState& cell) {
  const std::uint32_t time = thread.clock.at[current_];
  if (cell.written && cell.writer != current_ && !thread.clock.knows(cell.writer, cell.write_time)) {
    race(thread, cell, cell.writer, "writes", cell.write_where);
  }
  if (thread.pending.kind == Kind::kRead) {
    cell.reads.at[current_] = time;
    cell.read_where[current_] = thread.pending.where;
    return;
  }
  for (std::uint32_t i = 0; i < thread_count_; ++i) {
    const ThreadNumber reader = static_cast<ThreadNumber>(i);
    if (reader != current_ && !thread.clock.knows(reader, cell.reads.at[i])) {
      race(thread, cell, reader, "reads", cell.read_where[i]);
    }
  }
  cell.written = true;
  cell.writer = current_;
  cell.write_time = time;
  cell.write_where = thread.pending.where;
}

// An acquiring load takes over the knowledge of the store that it reads from; an exchange adds to that knowledge.
void ScheduleRunner::reached(hip::sync::Object& atomic, hip::sync::Access access, std::memory_order order,
                             std::uint64_t value) {
  if (!on_fiber_) return;
  const Inside inside;
  ThreadState& me = threads_[current_];
  ObjectState& object = state_of(atomic);
  steps_.back().value = value;
  steps_.back().has_value = true;
  if (access != hip::sync::Access::kWrite) {
    (acquires(order) ? me.clock : me.acquirable).join(object.clock);
    if (acquires(order)) sanitizers::acquire(&atomic);
  }
  if (access == hip::sync::Access::kRead) return;
  const Clock& given = releases(order) ? me.clock : me.released;
  if (access == hip::sync::Access::kWrite)
    object.clock = given;
  else
    object.clock.join(given);
  if (releases(order)) sanitizers::release(&atomic);
  ++me.clock.at[current_];
}

}  // namespace verify::race
