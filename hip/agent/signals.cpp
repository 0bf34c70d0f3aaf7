// Slots, waiting and waking; the contract is in the header.
#include "hip/agent/signals.h"

#include <algorithm>
#include <chrono>

namespace agent {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kSpin{20};
constexpr u64 kForever = ~u64{0};

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

std::chrono::steady_clock::time_point deadline_after(u64 nanoseconds) {
  const Clock::time_point now = Clock::now();
  const u64 longest = static_cast<u64>((Clock::time_point::max() - now).count());
  return nanoseconds >= longest ? Clock::time_point::max() : now + std::chrono::nanoseconds(nanoseconds);
}

bool condition_holds(hsa_signal_condition_t condition, i64 value, i64 compared) {
  switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ:
      return value == compared;
    case HSA_SIGNAL_CONDITION_NE:
      return value != compared;
    case HSA_SIGNAL_CONDITION_LT:
      return value < compared;
    case HSA_SIGNAL_CONDITION_GTE:
      return value >= compared;
  }
  return false;
}

void Doorway::knock() {
  knocks_.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
  { const hip::sync::LockGuard lock(mutex_); }
  knocked_.notify_all();
}

bool Doorway::wait(u64& seen, u64 nanoseconds) {
  const auto heard = [&] { return knocks_.load(std::memory_order_seq_cst) != seen; };
  bool result = heard();
  if (!result) {
    hip::sync::UniqueLock lock(mutex_);
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    if (nanoseconds == kForever) {
      knocked_.wait(lock, heard);
      result = true;
    } else {
      result = knocked_.wait_until(lock, deadline_after(nanoseconds), heard);
    }
    sleepers_.fetch_sub(1, std::memory_order_seq_cst);
  }
  seen = knocks_.load(std::memory_order_seq_cst);
  return result;
}

SignalSlot* Signals::create(i64 value) {
  const hip::sync::LockGuard lock(mutex_);
  if (next_free_ == free_.size()) {
    slabs_.push_back(std::make_unique<Slab>());
    for (SignalSlot& slot : slabs_.back()->slots) free_.push_back(&slot);
    announce(*slabs_.back());
  }
  SignalSlot* slot = free_[next_free_++];
  // The slots before next_free_ are in use. Of the others, the slot that was destroyed longest ago comes first.
  if (next_free_ > kSlots) {
    free_.erase(free_.begin(), free_.begin() + static_cast<std::ptrdiff_t>(next_free_));
    next_free_ = 0;
  }
  slot->amd.kind = AMD_SIGNAL_KIND_USER;
  slot->amd.event_mailbox_ptr = address_of(&slot->mailbox);
  slot->amd.event_id = 1;
  slot->set_times(0, 0);
  slot->amd.queue_ptr = nullptr;
  slot->queue = nullptr;
  slot->value().store(value, std::memory_order_release);
  slot->live.store(1, std::memory_order_relaxed);
  live_.fetch_add(1, std::memory_order_relaxed);
  return slot;
}

void Signals::destroy(SignalSlot* slot) {
  const hip::sync::LockGuard lock(mutex_);
  if (slot->live.exchange(0, std::memory_order_relaxed) == 0) return;
  free_.push_back(slot);
  live_.fetch_sub(1, std::memory_order_relaxed);
}

void Signals::announce(const Slab& slab) {
  Range range;
  range.base = address_of(&slab);
  range.size = sizeof(slab);
  range.kind = Kind::kSignals;
  range.readers = ~AgentSet{0};
  range.writers = ~AgentSet{0};
  map_.insert(range);
}

void Signals::announce() {
  const hip::sync::LockGuard lock(mutex_);
  for (const auto& slab : slabs_) announce(*slab);
}

void Signals::changed(SignalSlot& slot) {
  // A waiter counts itself before it looks at the value for the last time and sleeps.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Bucket& bucket = bucket_of(slot);
  if (bucket.sleepers.load(std::memory_order_seq_cst) != 0) {
    {
      const hip::sync::LockGuard lock(bucket.mutex);
    }
    bucket.changed.notify_all();
  }
  if (slot.handlers.load(std::memory_order_seq_cst) != 0) handlers_door_.knock();
  if (slot.waiters.load(std::memory_order_seq_cst) != 0) waiters_door_.knock();
  drivers_door_.knock();
}

void Signals::store(SignalSlot& slot, i64 value) {
  slot.value().store(value, std::memory_order_seq_cst);
  changed(slot);
}

void Signals::subtract(SignalSlot& slot, i64 amount) {
  slot.value().fetch_sub(amount, std::memory_order_seq_cst);
  changed(slot);
}

void Signals::mailbox_written(u64 address) {
  changed(*pointer_to<SignalSlot>(address - offsetof(SignalSlot, mailbox)));
}

i64 Signals::wait(SignalSlot& slot, hsa_signal_condition_t condition, i64 compared, u64 nanoseconds) {
  i64 value = 0;
  const auto done = [&] {
    value = slot.value().load(std::memory_order_seq_cst);
    return condition_holds(condition, value, compared);
  };
  if (done() || nanoseconds == 0) return value;
  const Clock::time_point deadline = deadline_after(nanoseconds);
  const Clock::time_point spin_end = std::min(deadline, Clock::now() + kSpin);
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return value;
      pause();
    }
  } while (Clock::now() < spin_end);
  Bucket& bucket = bucket_of(slot);
  hip::sync::UniqueLock lock(bucket.mutex);
  bucket.sleepers.fetch_add(1, std::memory_order_seq_cst);
  while (!done() && Clock::now() < deadline) {
    bucket.changed.wait_until(lock, std::min(deadline, Clock::now() + std::chrono::nanoseconds(kLookAgain)));
  }
  bucket.sleepers.fetch_sub(1, std::memory_order_seq_cst);
  return value;
}

void Signals::wake_all() {
  for (Bucket& bucket : buckets_) {
    {
      const hip::sync::LockGuard lock(bucket.mutex);
    }
    bucket.changed.notify_all();
  }
  handlers_door_.knock();
  waiters_door_.knock();
  drivers_door_.knock();
}

}  // namespace agent
