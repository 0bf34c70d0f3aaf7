// The board: counters that a worker process keeps where the campaign can read them, so that a crash loses nothing.
//
// One board a worker, in memory shared between the processes; the worker is the only writer, the campaign reads at any
// time.
#pragma once

#include <array>
#include <cstdint>

#include "hip/sync/sync.h"
#include "verify/execute/observation.h"

namespace fuzz {

inline constexpr std::size_t kMaxFeatures = 256;
inline constexpr std::size_t kMaxPairs = 4096;  // of operations and states
inline constexpr std::size_t kVerdicts = 7;

// The places of a shard's programs are dealt out in their order.
struct Deal {
  hip::sync::Atomic<std::uint64_t> next;
};

struct Board {
  using Counter = hip::sync::Atomic<std::uint64_t>;  // relaxed throughout: they are statistics
  static_assert(Counter::is_always_lock_free);

  // The programs that this worker has not settled yet are at this place of the shard or behind it; see next_place().
  Counter unsettled;
  Counter index;          // of the program being judged
  Counter busy_since_ns;  // steady clock; 0 between programs
  Counter done;           // the worker ran out of programs
  Counter commands;
  std::array<Counter, kVerdicts> verdicts;
  std::array<Counter, verify::kProperties> exercised, violated;
  std::array<Counter, kMaxFeatures> features;
  std::array<Counter, kMaxPairs> pairs;
  Counter generate_ns, judge_ns;

  // A program counts with its verdict: a worker may be killed between any two of its steps.
  [[nodiscard]] std::uint64_t programs() const {
    std::uint64_t all = 0;
    for (const Counter& verdict : verdicts) all += verdict.load(std::memory_order_relaxed);
    return all;
  }
};

}  // namespace fuzz
