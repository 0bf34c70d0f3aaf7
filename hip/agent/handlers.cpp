// The thread of the handlers; the contract is in the header.
#include "hip/agent/handlers.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "hip/agent/threads.h"

namespace agent {
namespace {

constexpr u64 kForever = ~u64{0};
constexpr std::chrono::microseconds kLookAtThread{200};
constexpr u64 kManyLooks = 100;
constexpr u64 kWho = u64{1} << 40;  // a number for the schedule: those of queues and engines are smaller

}  // namespace

Handlers::Handlers(Signals& signals, const Schedule& schedule, Stepper& stepper)
    : signals_(signals), stepper_(stepper), schedule_(schedule, kWho) {
  wake();
}

Handlers::~Handlers() {
  stop();
}

void Handlers::rest() {
  if (!thread_.joinable()) return;
  stop_.store(true, std::memory_order_seq_cst);
  signals_.handlers_door().knock();
  { const hip::sync::LockGuard lock(mutex_); }
  handed_or_stopped_.notify_all();
  returned_.notify_all();
  thread_.join();
}

void Handlers::wake() {
  stop_.store(false, std::memory_order_seq_cst);
  thread_ = start_thread([this] { stepper_.on() ? run_stepped() : run(); });
}

void Handlers::stop() {
  if (!thread_.joinable()) return;
  rest();
  if (handed_) handed_->met.slot->handlers.fetch_sub(1, std::memory_order_seq_cst);
  for (const Registration& r : registrations_) r.slot->handlers.fetch_sub(1, std::memory_order_seq_cst);
  registrations_.clear();
}

void Handlers::add(SignalSlot* slot, hsa_signal_condition_t condition, i64 value, hsa_amd_signal_handler handler,
                   void* arg) {
  slot->handlers.fetch_add(1, std::memory_order_seq_cst);
  {
    const hip::sync::LockGuard lock(mutex_);
    registrations_.push_back({slot, condition, value, handler, arg});
  }
  signals_.handlers_door().knock();
  signals_.drivers_door().knock();
}

bool Handlers::take(Registration& met, i64& value) {
  const hip::sync::LockGuard lock(mutex_);
  if (calling_.load()) return false;  // another thread that steps was faster
  std::vector<std::list<Registration>::iterator> ready;
  for (auto it = registrations_.begin(); it != registrations_.end(); ++it) {
    if (condition_holds(it->condition, it->slot->value().load(std::memory_order_seq_cst), it->compared)) {
      ready.push_back(it);
      if (!schedule_.on()) break;
    }
  }
  if (ready.empty()) return false;
  schedule_.begin(calls_++);
  const auto chosen = ready[schedule_.choose(static_cast<u32>(ready.size()))];
  met = *chosen;
  value = met.slot->value().load(std::memory_order_seq_cst);
  registrations_.erase(chosen);
  calling_ = true;
  return true;
}

bool Handlers::settled() {
  const hip::sync::LockGuard lock(mutex_);
  return !calling_.load() && std::ranges::none_of(registrations_, [](const Registration& r) {
    return condition_holds(r.condition, r.slot->value().load(std::memory_order_seq_cst), r.compared);
  });
}

bool Handlers::idle() {
  const hip::sync::LockGuard lock(mutex_);
  return registrations_.empty();
}

void Handlers::run() {
  u64 knocks = signals_.handlers_door().knocks();
  while (!stop_.load(std::memory_order_seq_cst)) {
    Registration met{};
    i64 value = 0;
    if (!take(met, value)) {
      signals_.handlers_door().wait(knocks, idle() ? kForever : kLookAgain);
      continue;
    }
    schedule_.delay(stop_);
    if (stop_.load(std::memory_order_seq_cst)) {
      met.slot->handlers.fetch_sub(1, std::memory_order_seq_cst);
      return;
    }
    carry_out(met, value);
  }
}

void Handlers::carry_out(const Registration& met, i64 value) {
  const bool again = met.handler(value, met.arg);
  if (!again) met.slot->handlers.fetch_sub(1, std::memory_order_seq_cst);
  const hip::sync::LockGuard lock(mutex_);
  if (again) registrations_.push_back(met);
  calling_ = false;
}

bool Handlers::ready() {
  const hip::sync::LockGuard lock(mutex_);
  return !calling_.load() && std::ranges::any_of(registrations_, [](const Registration& r) {
    return condition_holds(r.condition, r.slot->value().load(std::memory_order_seq_cst), r.compared);
  });
}

void Handlers::call() {
  Registration met{};
  i64 value = 0;
  if (!take(met, value)) return;
  if (runs_here()) return carry_out(met, value);
  {
    const hip::sync::LockGuard lock(mutex_);
    handed_ = Handed{met, value};
  }
  handed_or_stopped_.notify_all();
  let_return();
}

void Handlers::let_return() {
  if (!calling_.load() || runs_here()) return;
  hip::sync::UniqueLock lock(mutex_);
  const auto over = [this] { return !calling_.load() || stop_.load(std::memory_order_seq_cst); };
  while (!returned_.wait_for(lock, kLookAtThread, over)) {
    if (handed_) continue;  // the thread has not got there yet
    lock.unlock();
    if (sleeps(thread_number_.load())) return;
    lock.lock();
  }
}

void Handlers::run_stepped() {
  thread_number_.store(gettid());
  u64 seen = 0;                                   // the steps that were made when this thread looked
  u64 idle = 0;                                   // how often it has looked and seen none
  std::optional<std::chrono::nanoseconds> since;  // when it first saw work that waits
  hip::sync::UniqueLock lock(mutex_);
  while (!stop_.load(std::memory_order_seq_cst)) {
    if (handed_) {
      const Handed now = *std::exchange(handed_, std::nullopt);
      lock.unlock();
      carry_out(now.met, now.value);
      returned_.notify_all();
      lock.lock();
      continue;
    }
    const auto pause = idle < kManyLooks ? Stepper::kStalled : 10 * Stepper::kStalled;
    if (handed_or_stopped_.wait_for(lock, pause) == std::cv_status::no_timeout) continue;
    if (std::exchange(seen, stepper_.steps()) != stepper_.steps()) {
      idle = 0;
      since.reset();
      continue;
    }
    ++idle;
    lock.unlock();
    if (!stepper_.has_work()) {
      since.reset();
    } else if (!since) {
      since = processor_time();
      idle = 0;
    } else if (processor_time() - *since > Stepper::kStalled || all_others_sleep()) {
      while (!stop_.load(std::memory_order_seq_cst) && stepper_.steps() == seen && stepper_.step(true)) ++seen;
      since.reset();
      idle = 0;
    }
    lock.lock();
  }
}

}  // namespace agent
