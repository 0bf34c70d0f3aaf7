// The board: counters that a worker process keeps where the campaign can read them, so that a crash loses nothing.
//
// Each worker has one board, in memory that the processes share; the worker is its only writer, and the campaign reads
// it at any time.
#pragma once

#include <array>
#include <cstdint>

#include "hip/sync/sync.h"
#include "verify/execute/observation.h"

namespace fuzz {

inline constexpr std::size_t kMaxFeatures = 512;
inline constexpr std::size_t kMaxPairs = 8192;     // of operations and states
inline constexpr std::size_t kMaxTriples = 65536;  // of an operation, a state, and the state before it
inline constexpr std::size_t kVerdicts = 7;

// Deals out the places of a shard's programs to its workers, in their order.
struct Deal {
  hip::sync::Atomic<std::uint64_t> next;
};

struct Board {
  using Counter = hip::sync::Atomic<std::uint64_t>;  // those that are statistics are counted relaxed
  static_assert(Counter::is_always_lock_free);

  // Every program that this worker has not settled yet is at this place of the shard or a later one; see next_place().
  Counter unsettled;
  Counter index;          // of the program that is being judged
  Counter busy_since_ns;  // steady clock; 0 between programs
  Counter done;           // the worker ran out of programs
  Counter commands;
  std::array<Counter, kVerdicts> verdicts;
  std::array<Counter, verify::kProperties> exercised, violated;
  std::array<Counter, kMaxFeatures> features;
  std::array<Counter, kMaxPairs> pairs;
  std::array<Counter, kMaxTriples> triples;
  Counter generate_ns, judge_ns;

  // Counts programs by their verdicts, because a worker may be killed between any two of its steps.
  [[nodiscard]] std::uint64_t programs() const {
    std::uint64_t all = 0;
    for (const Counter& verdict : verdicts) all += verdict.load(std::memory_order_relaxed);
    return all;
  }
};

}  // namespace fuzz
