// The thread of the handlers; the contract is in the header.
#include "hip/agent/handlers.h"

#include <algorithm>
#include <vector>

#include "hip/agent/threads.h"

namespace agent {
namespace {

constexpr u64 kForever = ~u64{0};
constexpr u64 kWho = u64{1} << 40;  // a number for the schedule: those of queues and engines are smaller

}  // namespace

Handlers::Handlers(Signals& signals, const Schedule& schedule) : signals_(signals), schedule_(schedule, kWho) {
  thread_ = start_thread([this] { run(); });
}

Handlers::~Handlers() {
  stop_.store(true, std::memory_order_seq_cst);
  signals_.handlers_door().knock();
  thread_.join();
  for (const Registration& r : registrations_) r.slot->handlers.fetch_sub(1, std::memory_order_seq_cst);
}

void Handlers::add(SignalSlot* slot, hsa_signal_condition_t condition, i64 value, hsa_amd_signal_handler handler,
                   void* arg) {
  slot->handlers.fetch_add(1, std::memory_order_seq_cst);
  {
    const hip::sync::LockGuard lock(mutex_);
    registrations_.push_back({slot, condition, value, handler, arg});
  }
  signals_.handlers_door().knock();
}

bool Handlers::take(Registration& met, i64& value) {
  const hip::sync::LockGuard lock(mutex_);
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
  return !calling_ && std::ranges::none_of(registrations_, [](const Registration& r) {
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
    const bool again = met.handler(value, met.arg);
    if (!again) met.slot->handlers.fetch_sub(1, std::memory_order_seq_cst);
    const hip::sync::LockGuard lock(mutex_);
    if (again) registrations_.push_back(met);
    calling_ = false;
  }
}

}  // namespace agent
