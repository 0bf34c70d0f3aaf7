// verify::race::Collective: a collective as its ranks see it: every rank has to arrive, and waits for the other ranks
// without a limit.
#pragma once

#include <cassert>
#include <cstdint>

#include "hip/sync/sync.h"

namespace verify::race {

class Collective {
 public:
  explicit Collective(std::uint32_t ranks) : ranks_(ranks) { assert(ranks != 0); }
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  // Whether all ranks said yes in this round.
  [[nodiscard]] bool all(bool mine) {
    hip::sync::UniqueLock lock(mutex_);
    Round& now = round_.write();
    now.all = now.all && mine;
    if (++now.arrived == ranks_) {
      now.answer = now.all;
      now.all = true;
      now.arrived = 0;
      ++now.number;
      changed_.notify_all();
      return now.answer;
    }
    const std::uint64_t number = now.number;
    changed_.wait(lock, [&] { return round_.read().number != number; });
    // The next round cannot end before this rank has begun it.
    return round_.read().answer;
  }

 private:
  struct Round {
    std::uint32_t arrived = 0;
    bool all = true;
    bool answer = false;  // of the round before
    std::uint64_t number = 0;
  };

  const std::uint32_t ranks_;
  hip::sync::Mutex mutex_;
  hip::sync::ConditionVariable changed_;
  hip::sync::Cell<Round> round_;  // guarded by mutex_
};

}  // namespace verify::race
