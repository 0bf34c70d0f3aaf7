#include "verify/execute/library_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>

#include "model/abi/in_process.h"
#include "verify/execute/interposer.h"
#include "verify/execute/rank_turns.h"
#include "verify/execute/shown_nodes.h"

namespace verify {
namespace {

constexpr std::uint32_t kRankSteps = 3;
constexpr std::uint32_t kStepWithOthers = 2;  // it has one command more
constexpr std::size_t kRankPlaces = 2;        // that the buffers of a rank move between
constexpr std::size_t kRankWords = 4;         // of a buffer
constexpr std::size_t kSignalStack = 64 << 10;
constexpr std::size_t kRankBytes = kRankWords * sizeof(std::uint32_t);
constexpr unsigned kInexactRuns = 3;  // of a schedule that failed while its order was not exact

using RankWords = std::array<std::uint32_t, kRankWords>;

struct RankPlace {
  model::Address send = 0, receive = 0, out = 0, mark = 0;
};

// The collective's arguments, packed.
struct CollectiveArguments {
  model::Address send = 0, receive = 0;
  std::uint32_t rank = 0, step = 0;
  bool operator==(const CollectiveArguments&) const = default;
};

// The collective writes receive[i] = 3 * send[i] + rank.
std::uint32_t received(std::uint32_t sent, std::uint32_t rank) {
  return 3 * sent + rank;
}
std::uint32_t sent_at(std::uint32_t rank, std::uint32_t step) {
  return 1 + rank + 100 * step;
}
RankWords all_words(std::uint32_t value) {
  RankWords words;
  words.fill(value);
  return words;
}

// The commands of one step of a rank, and what they point at.
class RankCommands {
 public:
  RankCommands(hipFunction_t collective, int device, const RankPlace& place, const CollectiveArguments& arguments)
      : device_(device), arguments_(arguments) {
    add(memset_of(place.send, sent_at(arguments.rank, arguments.step)), false);
    add(kernel_of(collective), true);
    add(copy_of(place.receive, place.out), true);
    if (arguments.step == kStepWithOthers) add(memset_of(place.mark, arguments.step), false);
  }
  RankCommands(const RankCommands&) = delete;
  RankCommands& operator=(const RankCommands&) = delete;

  [[nodiscard]] const std::deque<hgcommands_command>& commands() const { return commands_; }
  // The library must not look at them any more: it reads poison if it does.
  void overwrite() {
    for (hgcommands_command& command : commands_)
      std::memset(static_cast<void*>(&command), static_cast<int>(kPoison), sizeof command);
    std::memset(&arguments_, static_cast<int>(kPoison), sizeof arguments_);
  }

 private:
  void add(hgpatcher_node node, bool behind_the_last) {
    if (behind_the_last) {
      node.dependencies = &before_.emplace_back(static_cast<std::uint32_t>(commands_.size() - 1));
      node.dependency_count = 1;
    }
    commands_.push_back({.node = node, .device = device_, .nested = nullptr, .nested_count = 0, .traced = nullptr});
  }
  static hgpatcher_node memset_of(model::Address address, std::uint32_t value) {
    hgpatcher_node node{};
    node.kind = HGPATCHER_MEMSET;
    node.memset.dst = reinterpret_cast<void*>(address);
    node.memset.elementSize = sizeof value;
    node.memset.value = value;
    node.memset.width = kRankWords;
    node.memset.height = 1;
    return node;
  }
  hgpatcher_node kernel_of(hipFunction_t function) {
    static constexpr std::uint32_t kOffsets[] = {0, 8, 16, 20}, kSizes[] = {8, 8, 4, 4};
    hgpatcher_node node{};
    node.kind = HGPATCHER_KERNEL;
    node.kernel = {function, dim3(1), dim3(kRankWords), 0, &arguments_, sizeof arguments_, kOffsets, kSizes, 4};
    return node;
  }
  static hgpatcher_node copy_of(model::Address from, model::Address to) {
    hgpatcher_node node{};
    node.kind = HGPATCHER_COPY;
    node.linear = 1;
    node.copy.srcPtr.ptr = reinterpret_cast<void*>(from);
    node.copy.dstPtr.ptr = reinterpret_cast<void*>(to);
    node.copy.extent = {kRankBytes, 1, 1};
    node.copy.kind = hipMemcpyDeviceToDevice;
    return node;
  }

  const int device_;
  CollectiveArguments arguments_;
  std::deque<std::uint32_t> before_;
  std::deque<hgcommands_command> commands_;
};

class RanksRound;

// The rank that a thread is.
struct RankHere {
  RanksRound* round = nullptr;
  std::size_t rank = 0;
};
thread_local RankHere here;
// A thread of the library's own has called HIP.
hip::sync::Atomic<bool> called_elsewhere{false};

// One schedule, from a fresh model on.
class RanksRound {
 public:
  RanksRound(const CommandLibrary& library, std::size_t ranks, const Preemptions& schedule,
             std::chrono::milliseconds hang_patience)
      : library_(library),
        turns_(ranks, schedule, hang_patience),
        model_(options(ranks)),
        finders_(ranks, HipFinder(table())),
        ranks_(ranks) {
    const auto collective = std::make_shared<model::Kernel>(collective_kernel());
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      model::Module& module = model_.runtime().load_module({collective}, static_cast<int>(rank));
      ranks_[rank].collective = model::abi::InProcess::function_handle(module.find(collective->name)->id());
    }
  }
  RanksRound(const RanksRound&) = delete;
  RanksRound& operator=(const RanksRound&) = delete;

  // False: the ranks hang, and their threads still use this object.
  bool run() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      ranks_[rank].thread = hip::sync::Thread([this, rank] { be(rank); });
    const bool ended = turns_.wait_for_all();
    for (Rank& rank : ranks_) {
      if (ended) rank.thread.join();
      if (!ended) rank.thread.detach();
    }
    if (!ended) return false;
    if (failure_) return true;
    const model::LiveHandles live = model_.runtime().live_handles();
    if (live.graphs + live.graph_execs != 0)
      fail("P8", fmt::format("{} graphs and {} executable graphs are left when all objects are destroyed", live.graphs,
                             live.graph_execs));
    return true;
  }
  [[nodiscard]] const RankTurns& turns() const { return turns_; }
  [[nodiscard]] const std::optional<std::pair<std::string, std::string>>& failure() const { return failure_; }
  [[nodiscard]] const std::string& unsupported() const { return unsupported_; }
  [[nodiscard]] const std::map<std::string, std::uint64_t>& steps() const { return steps_; }

  // A call of HIP by the library, on a rank's thread.
  template <class Call>
  hipError_t called(std::size_t rank, const char* name, const Call& call) {
    turns_.point(rank, name);
    const hipError_t status = alone(rank, [&] { return call(model::abi::InProcess::api()); });
    if (status != hipSuccess && status != hipErrorNotReady)
      ranks_[rank].failed = fmt::format("{} answered {}", name, hip::status_name(status));
    return status;
  }

 private:
  struct Rank {
    hip::sync::Thread thread;
    hipFunction_t collective = nullptr;
    hipStream_t stream = nullptr;
    hgcommands* object = nullptr;
    std::array<RankPlace, kRankPlaces> places;
    std::map<model::Address, RankWords> expected;     // bytes of every buffer
    std::deque<std::unique_ptr<RankCommands>> steps;  // kept, so that a stale reference reads poison
    std::string failed;                               // the last call of HIP that failed; empty: none
  };

  static model::abi::InProcessOptions options(std::size_t ranks) {
    model::abi::InProcessOptions options;
    options.model.devices = static_cast<int>(ranks);
    return options;
  }
  static hip::Api table();

  // The model is used by one thread at a time.
  template <class Work>
  auto alone(std::size_t rank, const Work& work) {
    const hip::sync::LockGuard lock(model_mutex_);
    model_.use_thread(static_cast<std::uint32_t>(rank));
    return work();
  }
  // Only the first failure counts.
  void fail(const char* property, std::string message) {
    const hip::sync::LockGuard lock(notes_mutex_);
    if (!failure_) failure_ = {property, std::move(message)};
  }
  [[nodiscard]] bool over() const {
    const hip::sync::LockGuard lock(notes_mutex_);
    return failure_ || !unsupported_.empty();
  }

  model::Kernel collective_kernel() {
    using enum model::ArgumentKind;
    model::Kernel kernel;
    kernel.name = "collective";
    kernel.signature = {sizeof(CollectiveArguments),
                        {{0, 8, kPointer}, {8, 8, kPointer}, {16, 4, kValue}, {20, 4, kValue}}};
    kernel.semantics = [this](std::span<const std::byte> bytes, const model::LaunchShape&,
                              model::MemoryAccess& memory) {
      CollectiveArguments arguments;
      std::memcpy(&arguments, bytes.data(), sizeof arguments);
      arrivals_.push_back(arguments);
      for (std::size_t i = 0; i < kRankBytes; i += sizeof(std::uint32_t)) {
        const auto sent = memory.load<std::uint32_t>(arguments.send + i);
        memory.store(arguments.receive + i, received(sent, arguments.rank));
      }
    };
    return kernel;
  }

  // ---- on a rank's thread

  void be(std::size_t rank) {
    // A handler of signals has this stack when the library has used up the thread's own.
    std::vector<std::byte> alternate(kSignalStack);
    const stack_t stack{.ss_sp = alternate.data(), .ss_flags = 0, .ss_size = alternate.size()};
    const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    static_cast<void>(sigaltstack(&stack, nullptr));
    const model::abi::Activate active(model_);
    here = {this, rank};
    turns_.begin(rank);
    if (prepare(rank) && create(rank)) {
      for (std::uint32_t step = 0; step < kRankSteps && take(rank, step); ++step) look_at(rank, step);
      turns_.point(rank, "hgcommands_destroy");
      library_.destroy(ranks_[rank].object);
    }
    here = {};
    turns_.end(rank);
    static_cast<void>(sigaltstack(&none, nullptr));
  }
  bool prepare(std::size_t rank) {
    Rank& self = ranks_[rank];
    const hip::Api& api = model::abi::InProcess::api();
    const auto make = [&](model::Address& address) {
      void* memory = nullptr;
      if (api.hipMalloc(&memory, kRankBytes) == hipSuccess) address = reinterpret_cast<model::Address>(memory);
      self.expected[address] = {};
    };
    const hipError_t ready = alone(rank, [&] {
      if (const hipError_t set = api.hipSetDevice(static_cast<int>(rank)); set != hipSuccess) return set;
      for (RankPlace& place : self.places) {
        make(place.send);
        make(place.receive);
        make(place.out);
        make(place.mark);
      }
      return api.hipStreamCreate(&self.stream);
    });
    if (ready == hipSuccess && !self.expected.contains(0)) return true;
    set_unsupported("the model has no memory for the ranks");
    return false;
  }
  bool create(std::size_t rank) {
    turns_.point(rank, "hgcommands_create");
    const HipFinder& finder = finders_[rank];
    const hipError_t status = library_.create(&finder.base, static_cast<int>(rank), &ranks_[rank].object);
    if (status == hipErrorNotSupported) {
      const std::string& missing = finder.missing;
      set_unsupported("it needs a function of HIP that the model lacks" + (missing.empty() ? "" : ", " + missing));
      return false;
    }
    if (status == hipSuccess && ranks_[rank].object != nullptr) return true;
    answered(rank, "hgcommands_create", status);
    return false;
  }
  void set_unsupported(std::string why) {
    const hip::sync::LockGuard lock(notes_mutex_);
    unsupported_ = std::move(why);
  }
  // Whether the call succeeded.
  bool answered(std::size_t rank, const char* call, hipError_t status) {
    if (status == hipSuccess) return true;
    const std::string& failed = ranks_[rank].failed;
    fail("P4", fmt::format("rank {}: {} answered {}; {}", rank, call, hip::status_name(status),
                           failed.empty() ? "no call of HIP failed" : failed));
    return false;
  }

  // One step of the library, until its work is done and all ranks have met. False: it is the last one.
  bool take(std::size_t rank, std::uint32_t step) {
    Rank& self = ranks_[rank];
    const RankPlace& place = self.places[step % kRankPlaces];
    const CollectiveArguments arguments{place.send, place.receive, static_cast<std::uint32_t>(rank), step};
    RankCommands& shown = *self.steps.emplace_back(
        std::make_unique<RankCommands>(self.collective, static_cast<int>(rank), place, arguments));
    hgcommands_did did{};
    if (!hand_over(rank, shown, step == kStepWithOthers, did)) return false;
    note(rank, step, did);
    shown.overwrite();
    const hipError_t done = alone(rank, [&] { return model::abi::InProcess::api().hipStreamSynchronize(self.stream); });
    if (done != hipSuccess) fail("P3", fmt::format("rank {}: the work of step {} failed", rank, step));
    turns_.meet(rank);
    return !over();
  }
  bool hand_over(std::size_t rank, const RankCommands& shown, bool others, hgcommands_did& did) {
    hgcommands* const object = ranks_[rank].object;
    turns_.point(rank, "hgcommands_begin");
    const std::size_t count = shown.commands().size();
    if (!answered(rank, "hgcommands_begin", library_.begin(object, count, others ? 1 : 0))) return false;
    for (std::size_t i = 0; i < count; ++i) {
      turns_.point(rank, "hgcommands_update");
      if (!answered(rank, "hgcommands_update", library_.update(object, i, &shown.commands()[i]))) return false;
    }
    turns_.point(rank, "hgcommands_launch");
    return answered(rank, "hgcommands_launch", library_.launch(object, ranks_[rank].stream, &did));
  }
  // Ranks that refuse a step which others take leave them alone in the collective.
  void note(std::size_t rank, std::uint32_t step, const hgcommands_did& did) {
    const bool refused = did.way == HGCOMMANDS_REFUSED;
    const char* const way = step_way(did.way);
    if (way == nullptr) {
      fail("P4", fmt::format("rank {}: hgcommands_launch says that it went way {}", rank, static_cast<int>(did.way)));
      return;
    }
    bool differs = false;
    {
      const hip::sync::LockGuard lock(notes_mutex_);
      ++steps_[way];
      const auto [known, first] = refused_.emplace(step, refused);
      differs = !first && known->second != refused;
      if (refused && unsupported_.empty()) unsupported_ = fmt::format("it refuses a step ({})", shown_reason(did.why));
      if (differs) unsupported_.clear();
    }
    if (differs) fail("C6", fmt::format("rank {}: one rank refuses step {} and another one takes it", rank, step));
  }

  // The collective of the step and every buffer of the rank.
  void look_at(std::size_t rank, std::uint32_t step) {
    Rank& self = ranks_[rank];
    const RankPlace& place = self.places[step % kRankPlaces];
    const std::uint32_t sent = sent_at(static_cast<std::uint32_t>(rank), step);
    self.expected[place.send] = all_words(sent);
    self.expected[place.receive] = self.expected[place.out] =
        all_words(received(sent, static_cast<std::uint32_t>(rank)));
    if (step == kStepWithOthers) self.expected[place.mark] = all_words(step);
    const CollectiveArguments own{place.send, place.receive, static_cast<std::uint32_t>(rank), step};
    alone(rank, [&] {
      look_at_collective(own);
      look_at_bytes(self, own);
    });
  }
  void look_at_collective(const CollectiveArguments& own) {
    const auto came = std::ranges::count(arrivals_, own);
    const auto known = std::ranges::count_if(
        arrivals_, [&](const CollectiveArguments& one) { return one.rank == own.rank && one.step == own.step; });
    const auto of_rank = std::ranges::count(arrivals_, own.rank, &CollectiveArguments::rank);
    const bool stranger = std::ranges::any_of(
        arrivals_, [&](const CollectiveArguments& one) { return one.rank >= ranks_.size() || one.step >= kRankSteps; });
    if (stranger) fail("C6", "a collective is launched with arguments that no rank has");
    if (came == 1 && known == 1 && of_rank == own.step + 1) return;
    const std::string where = fmt::format("the collective of step {}", own.step);
    if (known == 0) fail("C6", fmt::format("rank {} does not come to {}", own.rank, where));
    if (known == 1 && came == 0)
      fail("C6", fmt::format("rank {} comes to {} with buffers of another rank or step", own.rank, where));
    if (came == 1 && known == 1)
      fail("C6", fmt::format("rank {} comes to the collective of another step again, in step {}", own.rank, own.step));
    if (known > 1) fail("C6", fmt::format("rank {} comes to {} {} times", own.rank, where, known));
  }
  void look_at_bytes(const Rank& self, const CollectiveArguments& own) {
    for (const auto& [address, words] : self.expected) {
      const std::byte* bytes = model_.runtime().memory().peek(address, kRankBytes);
      if (bytes != nullptr && std::memcmp(bytes, words.data(), kRankBytes) == 0) continue;
      fail("P3", fmt::format("rank {}: a buffer does not have the bytes of the rank's commands after step {}", own.rank,
                             own.step));
    }
  }

  const CommandLibrary& library_;
  RankTurns turns_;
  hip::sync::Mutex model_mutex_;
  model::abi::InProcess model_;                // guarded by model_mutex_
  std::vector<CollectiveArguments> arrivals_;  // guarded by model_mutex_
  std::vector<HipFinder> finders_;             // of the ranks; the library keeps pointers to them
  std::vector<Rank> ranks_;                    // each used by its thread
  mutable hip::sync::Mutex notes_mutex_;
  // guarded by notes_mutex_
  std::optional<std::pair<std::string, std::string>> failure_;  // property, message
  std::string unsupported_;
  std::map<std::uint32_t, bool> refused_;  // by step
  std::map<std::string, std::uint64_t> steps_;
};

// Forwards one function; `Member` is its place in the table.
template <Function kFunction, auto Member>
struct InTurn;
template <Function kFunction, class... Args, hipError_t (*hip::Api::*Member)(Args...)>
struct InTurn<kFunction, Member> {
  static hipError_t call(Args... args) {
    if (here.round == nullptr) {
      called_elsewhere = true;
      return hipErrorNotInitialized;
    }
    return here.round->called(here.rank, function_name(kFunction).data(),
                              [&](const hip::Api& api) { return (api.*Member)(args...); });
  }
};

hip::Api RanksRound::table() {
  hip::Api table = model::abi::InProcess::api();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define HIP_FUNCTION(name, ...) \
  if (table.name != nullptr) table.name = InTurn<Function::k_##name, &hip::Api::name>::call;
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
#pragma GCC diagnostic pop
  return table;
}

}  // namespace

LibraryRaceResult race_library(const CommandLibrary& library, const LibraryRaceOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  LibraryRaceResult result;
  PreemptionSchedules schedules(options.bound);
  unsigned again = 0;  // runs of this schedule that failed while its order was not exact
  for (;;) {
    if (options.before) options.before(schedules.now());
    called_elsewhere = false;
    auto round = std::make_unique<RanksRound>(library, options.ranks, schedules.now(), options.hang_patience);
    result.hangs = !round->run();
    const bool exact = round->turns().taken() == 0;
    if (result.hangs) {
      ++result.schedules;
      result.failure = {"P11", "the library hangs", schedules.now(), round->turns().picture()};
      static_cast<void>(round.release());  // its threads use it
      return result;
    }
    if (called_elsewhere) {
      result.unsupported = "it calls HIP on a thread of its own, which hip/patcher_abi.h does not allow";
      return result;
    }
    // A rank that was only slow may have lost its turn, and then two ran at once.
    if (round->failure() && !exact && ++again < kInexactRuns) continue;
    again = 0;
    ++result.schedules;
    result.calls = std::max(result.calls, round->turns().points());
    if (!exact) ++result.waited;
    for (const auto& [way, count] : round->steps()) result.steps[way] += count;
    if (round->failure()) {
      const auto& [property, message] = *round->failure();
      result.failure = {property, message, schedules.now(), round->turns().picture()};
      return result;
    }
    result.unsupported = round->unsupported();
    if (!result.unsupported.empty()) return result;
    if (!schedules.next(result.calls)) break;
    if (options.schedules != 0 && result.schedules >= options.schedules) return result;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (options.seconds > 0 && taken.count() >= options.seconds) return result;
  }
  result.complete = true;
  return result;
}

}  // namespace verify
