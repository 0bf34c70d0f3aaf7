// Ways to choose beside the exhaustive one (exhaustive.h): PCT, and a recorded schedule.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "verify/race/schedule_runner.h"

namespace verify::race {

// Random priorities; the enabled thread with the highest runs, and at d-1 random places the running thread's sinks
// below all others (Burckhardt, Kothari, Musuvathi, Nagarakatte: A randomized scheduler with probabilistic guarantees
// of finding bugs, ASPLOS 2010). A defect of depth d shows in one schedule with a probability of at least
// 1/(n*k^(d-1)), where n is the number of threads and k the number of steps.
class Pct final : public SchedulingStrategy {
 public:
  Pct(std::uint64_t seed, std::uint32_t depth) : random_(seed), depth_(depth) {}

  void begin() override;
  ThreadNumber choose(const Choice& choice) override;

  // Over all schedules so far: the most threads that could be chosen from, and the most steps.
  [[nodiscard]] std::uint32_t threads() const { return threads_; }
  [[nodiscard]] std::uint32_t steps() const { return steps_; }
  [[nodiscard]] double probability() const;

 private:
  [[nodiscard]] std::uint64_t random(std::uint64_t below);

  std::uint64_t random_;
  std::uint32_t depth_;
  std::uint32_t step_ = 0;
  std::uint32_t steps_ = 1;
  std::uint32_t threads_ = 1;
  std::array<std::uint32_t, kMaxThreads> priority_{};
  std::vector<std::uint32_t> changes_;
};

// Repeats earlier choices. Where a choice is not possible, or no choice is left, the current thread goes on, or the
// lowest thread that can; `deviated` says that a choice was not possible.
class Replay final : public SchedulingStrategy {
 public:
  explicit Replay(std::vector<ThreadNumber> choices) : choices_(std::move(choices)) {}

  void begin() override { next_ = 0, deviated_ = false; }
  ThreadNumber choose(const Choice& choice) override;
  [[nodiscard]] bool deviated() const { return deviated_; }

 private:
  std::vector<ThreadNumber> choices_;
  std::size_t next_ = 0;
  bool deviated_ = false;
};

}  // namespace verify::race
