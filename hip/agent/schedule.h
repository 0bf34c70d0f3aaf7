// Legal delays and orders of work, chosen by a seed.
//
// Every decision is a function of the seed, of the caller (a queue, an engine, the handlers' thread) and of the number
// of the packet, copy or call to decide on, never of time. The candidates may depend on time: the packets that a queue
// already sees, the copies that are ready. With seed 0 nothing is delayed and nothing is reordered.
// One exception: where delays are bounded, time decides which thread has the last ones. Orders are chosen all the same.
#pragma once

#include "hip/agent/types.h"
#include "hip/sync/sync.h"

namespace agent {

class Schedule {
 public:
  // `max_delays`: so many delays until the next configure(); 0: no bound.
  void configure(u64 seed, u32 max_delay_us, u64 max_delays);
  [[nodiscard]] bool on() const { return seed_.load(std::memory_order_relaxed) != 0; }

  // The decisions of one thread of the agent.
  class Stream {
   public:
    Stream(const Schedule& schedule, u64 who) : schedule_(schedule), who_(who) {}
    [[nodiscard]] bool on() const { return schedule_.on(); }
    // The decisions that follow belong to the `step`th packet, copy or call, however many were made before.
    void begin(u64 step) { count_ = step * kDecisions; }
    // A number below `choices`; 0 with seed 0.
    [[nodiscard]] u32 choose(u32 choices);
    // In half of the cases none, otherwise a delay up to the configured one, which ends early when `stop` becomes true.
    void delay(const hip::sync::Atomic<bool>& stop);

   private:
    static constexpr u64 kDecisions = 64;  // more than one step needs
    [[nodiscard]] u64 next();
    const Schedule& schedule_;
    u64 who_;
    u64 count_ = 0;
  };

 private:
  hip::sync::Atomic<u64> seed_{0};
  hip::sync::Atomic<u32> max_delay_us_{0};
  mutable hip::sync::Atomic<i64> delays_left_{0};
};

}  // namespace agent
