// verify::RankTurns: ranks that are real threads and run one at a time, in an order that is fixed beforehand.
//
// A rank runs until it comes to a point at which the schedule preempts it, meets the other ranks, or ends. Then the
// next rank in a ring that can run has the turn. A schedule is a list of points, counted over all ranks: at each of
// them the running rank is preempted. So a schedule can be repeated, and all schedules of few preemptions listed.
//
// A rank that has the turn may wait for a lock that a preempted rank holds. RankTurns cannot see the lock. If nothing
// happens and the rank's thread was seen asleep twice, kLockPatience apart, another rank takes the turn. So it does
// after kSpinPatience if the thread does not sleep: it may spin. Such schedules are counted (`taken()`), because their
// order is no longer exact: a rank that was only slow goes on beside the other one. If nothing happens for
// `hang_patience`, the ranks hang. Their threads cannot be ended then.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "hip/sync/sync.h"

namespace verify {

// The calls, in the order of all calls, at which a rank is preempted; ascending.
using Preemptions = std::vector<std::uint64_t>;

// Every schedule of at most so many preemptions, those of fewer preemptions first.
class PreemptionSchedules {
 public:
  explicit PreemptionSchedules(std::size_t bound) : bound_(bound) {}

  [[nodiscard]] const Preemptions& now() const { return now_; }
  // Goes on to the next one, of schedules with so many calls. False: there is none.
  bool next(std::uint64_t calls);

 private:
  const std::size_t bound_;
  Preemptions now_;
};

class RankTurns {
 public:
  static constexpr std::chrono::milliseconds kLockPatience{10};
  static constexpr unsigned kSeenAsleep = 2;
  static constexpr std::chrono::milliseconds kSpinPatience{1000};

  RankTurns(std::size_t ranks, Preemptions preempted, std::chrono::milliseconds hang_patience);

  // The rank's thread waits for its first turn.
  void begin(std::size_t rank);
  // The rank is about to make this call. The text has to stay.
  void point(std::size_t rank, const char* call);
  // Waits until every rank that has not ended has come here as well.
  void meet(std::size_t rank);
  void end(std::size_t rank);

  // Waits until all ranks have ended. False: they hang.
  [[nodiscard]] bool wait_for_all();

  [[nodiscard]] std::uint64_t points() const;
  [[nodiscard]] std::uint64_t taken() const;
  // The calls in the order in which they were made, a line for each time that a rank runs.
  [[nodiscard]] std::string picture() const;

 private:
  enum class State : std::uint8_t { kReady, kMeets, kEnded };
  struct Passed {
    std::size_t rank;
    const char* call;
    bool preempted;
  };

  void wait_for_turn(hip::sync::UniqueLock& lock, std::size_t rank);
  [[nodiscard]] bool running_rank_sleeps(hip::sync::UniqueLock& lock) const;
  bool hand_over(std::size_t from);
  void meet_if_all_are_there();
  [[nodiscard]] bool all_ended() const;

  const Preemptions preempted_;
  const std::chrono::milliseconds hang_patience_;
  mutable hip::sync::Mutex mutex_;
  hip::sync::ConditionVariable changed_;
  // guarded by mutex_
  std::vector<State> states_;
  std::vector<int> threads_;  // the system's numbers of the ranks' threads; 0: not begun
  std::size_t running_ = 0;
  std::uint64_t progress_ = 0, taken_ = 0;  // progress: grows whenever something happens
  std::vector<Passed> passed_;
};

}  // namespace verify
