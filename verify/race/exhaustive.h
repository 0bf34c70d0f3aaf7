// race::Exhaustive: every schedule within a preemption bound, one for each run, without equivalent schedules.
//
// A depth-first search over choices. A preemption is a choice of another thread while the current one could go on. With
// `reduce`, dynamic partial-order reduction: besides the first choice, a thread is tried at a place only where it could
// execute an operation earlier that does not commute with the operation made there. Under a bound a schedule may need a
// preemption that an equivalent one does not, so a backtrack point is also set where the thread that is overtaken began
// its run of steps (Coons, Musuvathi, McKinley: bounded partial-order reduction, OOPSLA 2013). Unreduced exploration
// tries every thread everywhere; tests compare the two.
#pragma once

#include <cstdint>
#include <vector>

#include "verify/race/schedule_runner.h"

namespace verify::race {

struct ExhaustiveOptions {
  std::uint32_t bound = 2;  // preemptions
  bool reduce = true;
};

class Exhaustive final : public SchedulingStrategy {
 public:
  explicit Exhaustive(const ExhaustiveOptions& options = {}) : options_(options) {}

  // Called before each run: whether there is one more schedule. The first call returns true.
  [[nodiscard]] bool next();
  // The finished share of the search, 0 to 1: an estimate from the open choices at each place of the current path.
  [[nodiscard]] double share() const;
  // Whether a schedule was left out only because of its preemptions. If not, the search was exhaustive without a bound.
  [[nodiscard]] bool bound_reached() const { return bound_reached_; }
  // The number of preemptions in the current schedule.
  [[nodiscard]] std::uint32_t preemptions() const;

  void begin() override;
  ThreadNumber choose(const Choice& choice) override;
  void executes(ThreadNumber thread, const Footprint& footprint) override;
  void spawned(ThreadNumber parent, ThreadNumber child) override;
  void joined(ThreadNumber parent, ThreadNumber child) override;
  void left_waiting(ThreadNumber thread, const Footprint& footprint) override;

 private:
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  struct Node {
    Mask enabled = 0;
    Mask backtrack = 0;  // threads to be tried here
    Mask tried = 0;
    ThreadNumber chosen = 0;
    ThreadNumber current = 0;
    bool yields = false;
    std::uint32_t preemptions = 0;  // before this choice
    std::uint32_t run = 0;          // where the chosen thread's run of steps began
  };
  // A thread's last operation on an object, of each kind: at which node, and the thread's time then.
  struct Last {
    std::uint32_t node = kNowhere;
    std::uint32_t time = 0;
  };
  struct Touched {
    std::array<Last, kMaxThreads> read, write, attempt, release;
    Clock reads, writes;
    std::uint64_t schedule = 0;
  };

  [[nodiscard]] bool preempts(const Node& node, ThreadNumber thread) const {
    return thread != node.current && !node.yields;
  }
  void overtakes(ThreadNumber thread, const std::array<Last, kMaxThreads>& others);
  void overtakes(ThreadNumber thread, std::uint32_t object, StepEffect effect);
  void backtrack(std::uint32_t node, ThreadNumber thread);
  void remember(ThreadNumber thread, std::uint32_t object, StepEffect effect);
  Touched& touched(std::uint32_t object);

  ExhaustiveOptions options_;
  std::vector<Node> path_;
  std::uint32_t depth_ = 0;  // number of choices so far in the current schedule
  std::uint32_t fixed_ = 0;  // number of choices that next() has fixed
  bool started_ = false;
  bool bound_reached_ = false;
  std::uint64_t schedule_ = 0;
  std::array<Clock, kMaxThreads>
      clocks_;  // the operations before each thread's next operation, in every equivalent schedule
  std::vector<Touched> objects_;
};

}  // namespace verify::race
