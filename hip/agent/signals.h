// Signals with the layout that AMD's runtime casts to (amd_signal_t), waiting for them, and being told of changes.
//
// A slot lives as long as the process: a handle that was destroyed still reads as memory, and is handed out again last.
// Waiters poll for kSpin, then sleep. A kernel changes a value by atomic instructions that nobody sees; it then writes
// to the signal's mailbox, which is watched (mailbox_written), exactly as the device library does for the interrupt.
//
// Not checked: use of a destroyed handle, other than that the wait ends when the agent stops.
#pragma once

#include <hsa/amd_hsa_signal.h>

#include <memory>
#include <vector>

#include "hip/agent/address_map.h"
#include "hip/agent/types.h"
#include "hip/sync/sync.h"

namespace agent {

class Queue;

// Sleepers look at their signals again after these nanoseconds: a program may store to a value that it has a pointer
// to.
inline constexpr u64 kLookAgain = 2'000'000;

struct alignas(64) SignalSlot {
  amd_signal_t amd;
  u64 mailbox;                      // amd.event_mailbox_ptr points here
  hip::sync::Atomic<u32> handlers;  // that watch it
  hip::sync::Atomic<u32> waiters;   // engines and queues that watch it together with others
  hip::sync::Atomic<u32> live;
  Queue* queue;  // of a doorbell
  u64 reserved[4];

  [[nodiscard]] std::atomic_ref<i64> value() { return std::atomic_ref<i64>(const_cast<i64&>(amd.value)); }
  // The start and end times of the dispatch or copy of the signal. Two copies may share a signal; one of them wins.
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

// Sleeping until some watched signal changes, or something else happens that the sleeper must look at.
class Doorway {
 public:
  void knock();
  // Sleeps until there was a knock after the one counted `seen`, and counts it. False after `nanoseconds`.
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

  // After every change of a value by the host's side.
  void changed(SignalSlot& slot);
  void store(SignalSlot& slot, i64 value);
  void subtract(SignalSlot& slot, i64 amount);
  // A kernel wrote to the mailbox at `address`.
  void mailbox_written(u64 address);

  // Returns the value that met the condition, or the last one seen after `nanoseconds` or when `stop` became true.
  [[nodiscard]] i64 wait(SignalSlot& slot, hsa_signal_condition_t condition, i64 compared, u64 nanoseconds,
                         const hip::sync::Atomic<bool>* stop = nullptr);
  // All sleepers look again: something was stopped.
  void wake_all();

  // Where threads sleep that watch many signals: the one that calls handlers, and the others.
  [[nodiscard]] Doorway& handlers_door() { return handlers_door_; }
  [[nodiscard]] Doorway& waiters_door() { return waiters_door_; }

  // Puts all slots back into the map after it forgot everything.
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
};

}  // namespace agent
