// Ranks whose collectives use each other's mapped memory: no rank changes a mapping that a peer's launch uses, and none
// launches before its peers have mapped.
//
// Memory and mappings are numbers in a table of this file. A rank's launch uses the mappings of all ranks in its set of
// addresses, and is over when the rank has synchronised its stream, or has learnt it of the event behind the launch. A
// range's first mapping is not looked at: whose it is, is told when the rank records.
//
// A rank's mapping may fail. Then no rank launches in that step, and later steps are right: ranks that are ready
// launch.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hip/rank_agreement.h"
#include "hip/remapped_buffers.h"
#include "verify/race/scenarios/collective.h"
#include "verify/race/scenarios/scenarios.h"

namespace verify::race {
namespace {

using hip::sync::Cell;
using hip::sync::LockGuard;
using hip::sync::Mutex;

enum RemapVerb : std::uint8_t { kRemapStep, kSynchronizeRank, kFailMapping };
constexpr std::size_t kPeers = 2, kPeerSets = hip::RemappedBuffers::kSets, kPeerPage = 4096;
constexpr std::size_t kPeerRanges = kPeers * kPeerSets;

// The rank that the calling thread is.
std::size_t& rank_of_this_thread() {
  struct Tag {};
  return hip::sync::of_this_thread<Tag, std::size_t>();
}

// The mappings of all ranks, as HIP's calls make them, and the launches that use them.
class PeerMappings {
 public:
  explicit PeerMappings(Referee& referee) : referee_(referee) { only = this; }
  PeerMappings(const PeerMappings&) = delete;
  PeerMappings& operator=(const PeerMappings&) = delete;
  ~PeerMappings() { only = nullptr; }

  static hip::Api table() {
    hip::Api api = FakeHip::api();
    api.hipMemGetAllocationGranularity = [](std::size_t* bytes, const hipMemAllocationProp*, auto) {
      *bytes = kPeerPage;
      return hipSuccess;
    };
    api.hipMemAddressReserve = [](void** out, std::size_t, std::size_t, void*, auto) {
      const LockGuard lock(only->mutex_);
      *out = reinterpret_cast<void*>(kPeerPage * ++only->state_.write().reserved);
      return hipSuccess;
    };
    api.hipMemAddressFree = [](void*, std::size_t) { return hipSuccess; };
    api.hipMemMap = [](void* address, std::size_t, std::size_t, hipMemGenericAllocationHandle_t memory, auto) {
      if (only->fails_now(rank_of_this_thread())) return hipErrorOutOfMemory;
      return only->change(address, reinterpret_cast<std::uintptr_t>(memory));
    };
    api.hipMemUnmap = [](void* address, std::size_t) { return only->change(address, 0); };
    api.hipMemSetAccess = [](void*, std::size_t, const hipMemAccessDesc*, std::size_t) { return hipSuccess; };
    api.hipMemGetAccess = [](unsigned long long* flags, const hipMemLocation*, void*) {
      *flags = hipMemAccessFlagsProtReadWrite;
      return hipSuccess;
    };
    api.hipEventRecord = [](hipEvent_t event, hipStream_t stream) {
      only->recorded_behind(stream, event);
      return FakeHip::api().hipEventRecord(event, stream);
    };
    api.hipEventQuery = [](hipEvent_t event) { return only->over_if(event, FakeHip::api().hipEventQuery(event)); };
    api.hipEventSynchronize = [](hipEvent_t event) {
      return only->over_if(event, FakeHip::api().hipEventSynchronize(event));
    };
    return api;
  }

  void uses(std::size_t rank, hipStream_t stream) {
    const LockGuard lock(mutex_);
    state_.write().streams.at(rank) = stream;
  }

  void recorded(std::size_t rank, std::size_t set, const void* address) {
    const LockGuard lock(mutex_);
    state_.write().ranges.at(index_of(address)) = {rank, set, state_.read().ranges.at(index_of(address)).memory};
  }
  void launched(std::size_t rank, std::size_t set, std::uintptr_t step) {
    const LockGuard lock(mutex_);
    State& now = state_.write();
    const auto of_peer = [&](const Range& range) {
      return range.set == set && range.rank != rank && range.memory == step;
    };
    if (std::ranges::none_of(now.ranges, of_peer)) tell(rank, "launches before its peer has mapped the step's memory");
    now.in_flight.at(rank).at(set) = true;
    now.last.at(rank) = set;
    now.steps.at(rank).push_back(step);
  }
  void synchronized(std::size_t rank) {
    const LockGuard lock(mutex_);
    state_.write().in_flight.at(rank) = {};
  }
  // The rank's next mapping fails.
  void fail_next(std::size_t rank) {
    const LockGuard lock(mutex_);
    state_.write().fails.at(rank) = true;
  }
  // Whether no launch that uses the set is in flight and no mapping is to fail: then a step of all ranks succeeds.
  [[nodiscard]] bool are_ready(std::size_t set) const {
    const LockGuard lock(mutex_);
    const State& now = state_.read();
    const auto in_flight = [set](const auto& sets) { return sets.at(set); };
    return std::ranges::none_of(now.in_flight, in_flight) && std::ranges::none_of(now.fails, std::identity());
  }
  [[nodiscard]] std::uint64_t failures() const {
    const LockGuard lock(mutex_);
    return state_.read().failures;
  }
  void stands_still(std::size_t rank) const { tell(rank, "does not launch although all ranks are ready"); }
  // The steps that each rank launched have to be the same.
  void expect_the_same_launches() const {
    const LockGuard lock(mutex_);
    const State& now = state_.read();
    if (now.steps.front() != now.steps.back()) tell(0, "launched other steps than its peer");
  }

 private:
  struct Range {
    std::size_t rank = kPeers, set = kPeerSets;  // none yet
    std::uintptr_t memory = 0;                   // the number of the step that mapped it; 0: nothing is mapped
  };
  struct State {
    std::size_t reserved = 0;
    std::array<Range, kPeerRanges> ranges;
    std::array<std::array<bool, kPeerSets>, kPeers> in_flight{};
    std::array<std::array<hipEvent_t, kPeerSets>, kPeers> events{};  // behind the last launch of each
    std::array<hipStream_t, kPeers> streams{};
    std::array<std::size_t, kPeers> last{};                 // the set of the last launch
    std::array<std::vector<std::uintptr_t>, kPeers> steps;  // that were launched
    std::array<bool, kPeers> fails{};                       // the next mapping
    std::uint64_t failures = 0;                             // mappings that failed
  };

  static std::size_t index_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address) / kPeerPage - 1; }
  void tell(std::size_t rank, const char* what) const {
    referee_.broken(FailureKind::kInvariant, "C6", "rank " + std::to_string(rank) + " " + what);
  }
  void recorded_behind(hipStream_t stream, hipEvent_t event) {
    const LockGuard lock(mutex_);
    State& now = state_.write();
    for (std::size_t rank = 0; rank < kPeers; ++rank) {
      if (now.streams.at(rank) == stream) now.events.at(rank).at(now.last.at(rank)) = event;
    }
  }
  hipError_t over_if(hipEvent_t event, hipError_t answer) {
    const LockGuard lock(mutex_);
    State& now = state_.write();
    for (std::size_t rank = 0; rank < kPeers && answer == hipSuccess; ++rank) {
      for (std::size_t set = 0; set < kPeerSets; ++set) {
        if (now.events.at(rank).at(set) == event) now.in_flight.at(rank).at(set) = false;
      }
    }
    return answer;
  }
  bool fails_now(std::size_t rank) {
    const LockGuard lock(mutex_);
    const bool fails = std::exchange(state_.write().fails.at(rank), false);
    if (fails) ++state_.write().failures;
    return fails;
  }
  hipError_t change(const void* address, std::uintptr_t memory) {
    const LockGuard lock(mutex_);
    Range& range = state_.write().ranges.at(index_of(address));
    for (std::size_t rank = 0; rank < kPeers && range.set != kPeerSets; ++rank) {
      const bool used = state_.read().in_flight.at(rank).at(range.set);
      if (used)
        tell(range.rank, rank == range.rank ? "changes a mapping that its own launch uses"
                                            : "changes a mapping that a launch of its peer uses");
    }
    range.memory = memory;
    return hipSuccess;
  }

  static inline PeerMappings* only = nullptr;  // HIP's calls have no other way to it
  Referee& referee_;
  mutable Mutex mutex_;
  Cell<State> state_;  // guarded by mutex_
};

// A rank: each step maps new memory and launches the collective.
class RemappedRank final : public hip::RemappedWork {
 public:
  RemappedRank(const hip::Api& api, PeerMappings& mappings, std::size_t rank, hip::RankAgreement* ranks)
      : api_(api),
        mappings_(mappings),
        rank_(rank),
        stream_(std::move(hip::Stream::create(api)).value()),
        buffers_(api, {{kPeerPage}}, options(ranks)) {
    mappings_.uses(rank, stream_.ref().handle());
  }

  std::int64_t step() {
    rank_of_this_thread() = rank_;
    const hip::PhysicalMemory memory{reinterpret_cast<hipMemGenericAllocationHandle_t>(++steps_), kPeerPage, steps_};
    const std::uint64_t failures = mappings_.failures();
    const bool ready = mappings_.are_ready(launches_ % kPeerSets);
    const auto done = buffers_.step({&memory, 1}, stream_.ref(), *this);
    if (done) return 1;
    if (ready && mappings_.failures() == failures) mappings_.stands_still(rank_);
    return 0;
  }
  void fail_next_mapping() { mappings_.fail_next(rank_); }
  std::int64_t synchronize() {
    (void)stream_.ref().synchronize();
    mappings_.synchronized(rank_);
    return 0;
  }
  hip::Status record(std::size_t set, std::span<void* const> addresses) override {
    mappings_.recorded(rank_, set, addresses.front());
    return {};
  }
  hip::Status launch(std::size_t set, const hip::StreamRef& stream) override {
    mappings_.launched(rank_, set, steps_);
    ++launches_;
    return hip::called(api_.hipMemsetAsync(nullptr, 0, 0, stream.handle()), "hipMemsetAsync");
  }

 private:
  static hip::RemappedBuffersOptions options(hip::RankAgreement* ranks) {
    hip::RemappedBuffersOptions options;
    options.patience = std::chrono::milliseconds(0);  // a launch that was not synchronised makes the step fail
    options.ranks = ranks;
    return options;
  }

  const hip::Api& api_;
  PeerMappings& mappings_;
  const std::size_t rank_;
  std::uint64_t steps_ = 0, launches_ = 0;
  hip::Stream stream_;
  hip::RemappedBuffers buffers_;
};

// An agreement without patience. In an exploration a wait with a limit may end early at each round, which would use up
// the preemptions of a schedule in the first step. hip::ThreadRanks is explored by rank_agreement.cpp.
class PeersAgreement final : public hip::RankAgreement {
 public:
  hip::Result<bool> all(bool mine) override { return rounds_.all(mine); }

 private:
  Collective rounds_{kPeers};
};

// M12: no agreement. The author believed: a rank's own launch is over only when the collective is, so its own wait is
// enough, and the collective itself waits for peers that still map.
class RemappedRanksWorld final : public World {
 public:
  RemappedRanksWorld(Referee& referee, bool agree) : hip_(referee), mappings_(referee) {
    for (std::size_t rank = 0; rank < kPeers; ++rank)
      all_.at(rank) = std::make_unique<RemappedRank>(api_, mappings_, rank, agree ? &ranks_ : nullptr);
  }

  std::int64_t call(unsigned thread, const Call& call) override {
    RemappedRank& rank = *all_.at(thread % kPeers);
    if (call.verb == kFailMapping) return rank.fail_next_mapping(), 0;
    return call.verb == kRemapStep ? rank.step() : rank.synchronize();
  }
  void finish() override {
    for (const std::unique_ptr<RemappedRank>& rank : all_) (void)rank->synchronize();
    for (std::unique_ptr<RemappedRank>& rank : all_) rank.reset();
    mappings_.expect_the_same_launches();
    hip_.expect_nothing_left();
  }

 private:
  FakeHip hip_;
  const hip::Api api_ = PeerMappings::table();
  PeerMappings mappings_;
  PeersAgreement ranks_;
  std::array<std::unique_ptr<RemappedRank>, kPeers> all_;
};

// Whether there is a thread for each rank, and all ranks take equally many steps.
bool ranks_step_alike(const Plan& plan) {
  const auto steps = [](const std::vector<Call>& calls) {
    return std::ranges::count(calls, static_cast<std::uint8_t>(kRemapStep), &Call::verb);
  };
  return plan.threads.size() == kPeers && steps(plan.threads[0]) == steps(plan.threads[1]) &&
         steps(plan.before) + steps(plan.after) == 0;
}

}  // namespace

Scenario remapped_ranks_scenario() {
  const Call step{kRemapStep}, synchronize{kSynchronizeRank}, fail{kFailMapping};
  return {
      .name = "remapped-ranks",
      .system = "remapper",
      .summary = "ranks map memory that their peers' collectives use, and launch",
      .verbs = {{"step"}, {"synchronize"}, {"fail-mapping"}},
      .plans = {{"two steps", {{}, {{step, step}, {step, step}}, {}}},
                {"a set again", {{}, {{step, step, synchronize, step}, {step, step, synchronize, step}}, {}}},
                {"one rank does not wait",
                 {{}, {{step, step, synchronize, step}, {step, step, step, synchronize}}, {}}},
                {"the first mapping fails", {{}, {{fail, step, step}, {step, step}}, {}}},
                {"a later mapping fails",
                 {{}, {{step, step, synchronize, fail, step, step}, {step, step, synchronize, step, step}}, {}}}},
      .make = [](Referee& referee, std::string_view fault) -> std::unique_ptr<World> {
        return std::make_unique<RemappedRanksWorld>(referee, fault != "M12");
      },
      .property = "C6",
      .faults = {"M12"},
      .valid = ranks_step_alike,
  };
}

}  // namespace verify::race
