// Ranks that replay a trace with a collective in it, or record it: all of them, or none.
#include "hip/rank_agreement.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>

#include "verify/race/scenarios/collective.h"
#include "verify/race/scenarios/scenarios.h"

namespace verify::race {
namespace {

using hip::sync::Cell;
using hip::sync::LockGuard;
using hip::sync::Mutex;

enum RankVerb : std::uint8_t { kExecute, kEvict, kRanks };
constexpr std::size_t kTraces = 4;
constexpr std::int32_t kRanksUnlessSaid = 2;
constexpr std::chrono::minutes kPatience{10};  // on real threads: long, so that a slow rank counts as present

// The traces of a process, which all ranks share.
class Traces {
 public:
  [[nodiscard]] bool has(std::size_t trace) const {
    const LockGuard lock(mutex_);
    return there_.read().at(trace);
  }
  void set(std::size_t trace, bool there) {
    const LockGuard lock(mutex_);
    there_.write().at(trace) = there;
  }

 private:
  mutable Mutex mutex_;
  Cell<std::array<bool, kTraces>> there_;  // guarded by mutex_
};

// Executes a trace with a collective: replayed or recorded, it needs every rank in the same call.
class RanksWorld : public World {
 public:
  RanksWorld() { set_ranks(kRanksUnlessSaid); }

  std::int64_t call(unsigned, const Call& call) override {
    if (call.verb == kRanks) {  // before the threads start
      set_ranks(call.argument);
      return 0;
    }
    const std::size_t trace = static_cast<std::size_t>(call.argument) % kTraces;
    if (call.verb == kEvict) {
      traces_.set(trace, false);
      return 0;
    }
    if (replays(trace)) {
      (void)replay_->all(true);
      return 1;
    }
    (void)record_->all(true);
    traces_.set(trace, true);
    return 0;
  }

 protected:
  [[nodiscard]] virtual bool replays(std::size_t trace) = 0;
  [[nodiscard]] bool has(std::size_t trace) const { return traces_.has(trace); }
  void set_ranks(std::int32_t wanted) {
    const std::int32_t ranks = std::max(wanted, 1);
    replay_ = std::make_unique<Collective>(static_cast<std::uint32_t>(ranks));
    record_ = std::make_unique<Collective>(static_cast<std::uint32_t>(ranks));
    agreement_ = std::make_unique<hip::ThreadRanks>(
        hip::AgreementOptions{.ranks = static_cast<int>(ranks), .patience = kPatience});
  }

  std::unique_ptr<hip::RankAgreement> agreement_;

 private:
  Traces traces_;
  std::unique_ptr<Collective> replay_, record_;  // the collective in a replay, and in a recording
};

class Agreeing final : public RanksWorld {
 private:
  [[nodiscard]] bool replays(std::size_t trace) override {
    const hip::Result<bool> all = agreement_->all(has(trace));
    return all.ok() && all.value();
  }
};

// F22: every rank decides alone, by whether it has the trace.
class Deciding final : public RanksWorld {
 private:
  [[nodiscard]] bool replays(std::size_t trace) override { return has(trace); }
};

// Whether the plan has as many threads as ranks, and all threads execute equally often.
bool every_rank_comes(const Plan& plan) {
  const auto of = [](RankVerb verb, const std::vector<Call>& calls) {
    return std::ranges::count(calls, verb, &Call::verb);
  };
  std::int32_t ranks = kRanksUnlessSaid;
  for (const Call& call : plan.before) {
    if (call.verb == kRanks) ranks = call.argument;
  }
  if (ranks < 1 || plan.threads.size() != static_cast<std::size_t>(ranks)) return false;
  for (const auto& calls : plan.threads) {
    if (of(kRanks, calls) != 0 || of(kExecute, calls) != of(kExecute, plan.threads[0])) return false;
  }
  return of(kExecute, plan.before) + of(kExecute, plan.after) + of(kRanks, plan.after) == 0;
}

}  // namespace

Scenario rank_agreement_scenario() {
  const Call execute{kExecute, 0}, evict{kEvict, 0};
  return {
      .name = "rank-agreement",
      .system = "trace cache",
      .summary = "ranks execute a trace with a collective: all replay it or all record it",
      .verbs = {{"execute", true}, {"evict", true}, {"ranks", true}},
      .plans = {{"two ranks", {{}, {{execute, execute, execute}, {execute, evict, execute, execute}}, {}}},
                {"three ranks",
                 {{{kRanks, 3}}, {{execute, execute}, {execute, evict, execute}, {execute, execute}}, {}}}},
      .make = [](Referee&, std::string_view fault) -> std::unique_ptr<World> {
        if (fault == "F22") return std::make_unique<Deciding>();
        return std::make_unique<Agreeing>();
      },
      .property = "C6",
      .faults = {"F22"},
      .valid = every_rank_comes,
  };
}

}  // namespace verify::race
