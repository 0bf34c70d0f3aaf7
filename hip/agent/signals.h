// Signals with the layout that AMD's runtime casts to (amd_signal_t), waits for them, and notifications of changes.
//
// A slot lives as long as the process: the memory of a destroyed handle stays readable, and is used again last. Waiters
// poll for kSpin, then sleep. A kernel changes a value by atomic instructions, which are not seen here; it then writes
// to the signal's mailbox, as the device library does for the interrupt, which is seen (mailbox_written).
//
// Not checked: use of a destroyed handle; a wait for one ends at the latest when the agent stops.
#pragma once

#include <hsa/amd_hsa_signal.h>

#include <chrono>
#include <memory>
#include <vector>

#include "hip/agent/address_map.h"
#include "hip/agent/types.h"
#include "hip/sync/sync.h"

namespace agent {

class Queue;

// Sleeping threads look at their signals again after so many nanoseconds: a program may store to a value through a
// pointer.
inline constexpr u64 kLookAgain = 2'000'000;

struct alignas(64) SignalSlot {
  amd_signal_t amd;
  u64 mailbox;                      // amd.event_mailbox_ptr points here
  hip::sync::Atomic<u32> handlers;  // how many handlers watch the signal
  hip::sync::Atomic<u32> waiters;   // how many engines and queues wait for it
  hip::sync::Atomic<u32> live;
  Queue* queue;  // if it is a doorbell
  u64 reserved[4];

  [[nodiscard]] std::atomic_ref<i64> value() { return std::atomic_ref<i64>(const_cast<i64&>(amd.value)); }
  // Sets the times of the signal's dispatch or copy. Two copies may share a signal: the times of one of them stay.
  void set_times(u64 start, u64 end) {
    std::atomic_ref<u64>(amd.start_ts).store(start, std::memory_order_relaxed);
    std::atomic_ref<u64>(amd.end_ts).store(end, std::memory_order_relaxed);
  }
  [[nodiscard]] u64 start() { return std::atomic_ref<u64>(amd.start_ts).load(std::memory_order_relaxed); }
  [[nodiscard]] u64 end() { return std::atomic_ref<u64>(amd.end_ts).load(std::memory_order_relaxed); }
  [[nodiscard]] hsa_signal_t handle() { return {address_of(this)}; }
};
static_assert(sizeof(SignalSlot) == 128);
static_assert(offsetof(SignalSlot, amd) == 0);

[[nodiscard]] inline SignalSlot* slot_of(hsa_signal_t signal) {
  return pointer_to<SignalSlot>(signal.handle);
}

[[nodiscard]] bool condition_holds(hsa_signal_condition_t condition, i64 value, i64 compared);

// The end of a wait that begins now; the last time point there is, where that is later.
[[nodiscard]] std::chrono::steady_clock::time_point deadline_after(u64 nanoseconds);

// Lets threads sleep until a watched signal changes, or until there is another reason to look again.
class Doorway {
 public:
  void knock();
  // Sleeps until knocks() is not `seen`, and updates `seen`. False if that takes longer than `nanoseconds`.
  bool wait(u64& seen, u64 nanoseconds);
  [[nodiscard]] u64 knocks() const { return knocks_.load(std::memory_order_seq_cst); }

 private:
  hip::sync::Mutex mutex_;
  hip::sync::ConditionVariable knocked_;
  hip::sync::Atomic<u64> knocks_{0};
  hip::sync::Atomic<u32> sleepers_{0};
};

class Signals {
 public:
  explicit Signals(AddressMap& map) : map_(map) {}

  [[nodiscard]] SignalSlot* create(i64 value);
  void destroy(SignalSlot* slot);
  [[nodiscard]] u64 live() const { return live_.load(std::memory_order_relaxed); }

  // Called after every change of a value by the host.
  void changed(SignalSlot& slot);
  void store(SignalSlot& slot, i64 value);
  void subtract(SignalSlot& slot, i64 amount);
  // A kernel wrote to the mailbox at `address`.
  void mailbox_written(u64 address);

  // Returns the value that met the condition, or the last one seen after `nanoseconds`.
  [[nodiscard]] i64 wait(SignalSlot& slot, hsa_signal_condition_t condition, i64 compared, u64 nanoseconds);
  // Wakes all sleeping threads, because something was stopped.
  void wake_all();

  // For threads that watch many signals: the doorway of the thread that calls handlers, and that of the others.
  [[nodiscard]] Doorway& handlers_door() { return handlers_door_; }
  [[nodiscard]] Doorway& waiters_door() { return waiters_door_; }
  // For threads that step the machine: hears of every change by the host.
  [[nodiscard]] Doorway& drivers_door() { return drivers_door_; }

  // Puts all slots back into the map after its forget_all().
  void announce();

 private:
  static constexpr std::size_t kSlots = 512;  // of one slab
  static constexpr std::size_t kBuckets = 64;
  struct alignas(64) Slab {
    SignalSlot slots[kSlots];
  };
  struct alignas(64) Bucket {
    hip::sync::Mutex mutex;
    hip::sync::ConditionVariable changed;
    hip::sync::Atomic<u32> sleepers{0};
  };
  [[nodiscard]] Bucket& bucket_of(const SignalSlot& slot) {
    return buckets_[address_of(&slot) / sizeof(slot) % kBuckets];
  }
  void announce(const Slab& slab);

  AddressMap& map_;
  hip::sync::Mutex mutex_;
  std::vector<std::unique_ptr<Slab>> slabs_;
  std::vector<SignalSlot*> free_;
  std::size_t next_free_ = 0;
  hip::sync::Atomic<u64> live_{0};
  Bucket buckets_[kBuckets];
  Doorway handlers_door_;
  Doorway waiters_door_;
  Doorway drivers_door_;
};

}  // namespace agent
