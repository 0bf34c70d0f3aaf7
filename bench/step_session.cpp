#include "bench/step_session.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "bench/counting_api.h"
#include "bench/step_way.h"
#include "hip/address_stabilizer.h"
#include "hip/captured_graph.h"
#include "hip/command_buffer.h"
#include "hip/rank_agreement.h"
#include "hip/release_quirks.h"
#include "hip/trace_cache.h"
#include "verify/execute/heap_counter.h"

namespace bench {

namespace {

class Eager final : public StepWayBase {
 public:
  using StepWayBase::StepWayBase;
  hip::Status step(const hip::AddressTable& addresses) override {
    return enqueue(commands(), stream_.handle(), addresses);
  }
};

// record and update: a capture of all of it.
class Recorded final : public StepWayBase {
 public:
  using StepWayBase::StepWayBase;
  ~Recorded() override { hip::ErrorSink{}(drop()); }

  hip::Status step(const hip::AddressTable& addresses) override {
    hip::Result<hip::CapturedGraph> fresh = capture(commands(), addresses);
    if (!fresh) return fresh.error();
    hip::Status status = options_.way == StepWay::kUpdate && exec_ != nullptr ? update(fresh.value().graph())
                                                                              : replace(std::move(fresh).value());
    return status ? launch(exec_) : status;
  }

 private:
  hip::Status update(hipGraph_t fresh) {
    hipGraphNode_t node = nullptr;
    hipGraphExecUpdateResult result = hipGraphExecUpdateError;
    return hip::call<&hip::Api::hipGraphExecUpdate>(api_, exec_, fresh, &node, &result);
  }
  // The new graph is there before the old one goes, as where the old one may still be running.
  hip::Status replace(hip::CapturedGraph fresh) {
    hipGraphExec_t exec = nullptr;
    hip::Status status = hip::call<&hip::Api::hipGraphInstantiate>(api_, &exec, fresh.graph(), nullptr, nullptr, 0);
    if (!status) return status;
    status = drop();
    exec_ = exec;
    graph_.emplace(std::move(fresh));
    return status;
  }
  hip::Status drop() {
    if (exec_ == nullptr) return {};
    hip::Status status = hip::destroy_exec(api_, std::exchange(exec_, nullptr));
    graph_.reset();
    return status;
  }

  std::optional<hip::CapturedGraph> graph_;  // exec_ was instantiated from this graph
  hipGraphExec_t exec_ = nullptr;
};

class Retrace final : public StepWayBase {
 public:
  using StepWayBase::StepWayBase;
  ~Retrace() override {
    for (const Part& part : parts_) {
      hip::ErrorSink{}(hip::destroy_exec(api_, part.exec));
      hip::ErrorSink{}(hip::destroy_graph(api_, part.graph.graph));
    }
  }

  hip::Status step(const hip::AddressTable& addresses) override {
    hip::Status status = parts_.empty() ? build(addresses) : hand_over(addresses);
    addresses_ = addresses;
    for (const Part& part : parts_) {
      if (!status) return status;
      status = launch(part.exec);
    }
    return status;
  }

 private:
  struct Part {
    Commands commands;
    hip::RecordedGraph graph;
    hipGraphExec_t exec = nullptr;
  };

  hip::Status build(const hip::AddressTable& addresses) {
    for (Commands left = commands(); !left.empty();) {
      Part part{left.first(std::min(left.size(), kMaxChildren)), {}, nullptr};
      left = left.subspan(part.commands.size());
      hip::Recording recording;
      for (std::size_t i = 0; i < part.commands.size(); ++i) {
        const Commands one = part.commands.subspan(i, 1);
        hip::RecordedNode node = hip::captured_command(
            bed_.capturing(), one[0].buffers,
            [this, one](hipStream_t on, std::span<const hip::DeviceAddress> at) { return enqueue(one, on, at); });
        if (i != 0) node.dependencies = {static_cast<hip::NodeIndex>(i - 1)};
        recording.add(std::move(node));
      }
      hip::Result<hip::RecordedGraph> recorded = hip::record_graph(api_, recording, addresses);
      if (!recorded) return recorded.error();
      part.graph = std::move(recorded).value();
      const hip::Status status =
          hip::call<&hip::Api::hipGraphInstantiate>(api_, &part.exec, part.graph.graph, nullptr, nullptr, 0);
      if (!status) return status;
      parts_.push_back(std::move(part));
    }
    return {};
  }
  hip::Status hand_over(const hip::AddressTable& addresses) {
    for (const Part& part : parts_) {
      for (std::size_t i = 0; i < part.commands.size(); ++i) {
        const std::vector<hip::BufferIndex>& held = part.commands[i].buffers;
        const bool moved =
            std::ranges::any_of(held, [&](hip::BufferIndex buffer) { return addresses[buffer] != addresses_[buffer]; });
        if (!moved) continue;
        const hip::Result<hip::CapturedGraph> fresh = capture(part.commands.subspan(i, 1), addresses);
        if (!fresh) return fresh.error();
        const hip::Status status = hip::call<&hip::Api::hipGraphExecChildGraphNodeSetParams>(
            api_, part.exec, part.graph.nodes[i], fresh.value().graph());
        if (!status) return status;
      }
    }
    return {};
  }

  std::vector<Part> parts_;
  hip::AddressTable addresses_;
};

hip::CommandBufferOptions options_of(StepWay way, const hip::Api& api) {
  hip::CommandBufferOptions options{.patch = way != StepWay::kRecordNodes};
  if (way != StepWay::kCareful) return options;
  const hip::Result<int> version = hip::version_of_release(api);
  // Where the runtime does not say, that of no release: every quirk that AMD's releases have.
  options.quirks = hip::ReleaseQuirks::of_version(version ? version.value() : 0);
  options.memory = [](hip::BufferIndex) { return hip::BufferMemory::kDevice; };
  return options;
}

// record_nodes, patch and careful: a command buffer of all of it.
class Buffered final : public StepWayBase {
 public:
  Buffered(const StepOptions& options, StepBed& bed, const hip::Api& api)
      : StepWayBase(options, bed, api), buffer_(api, options_of(options.way, api)) {}
  hip::Status prepare() {
    hip::Result<hip::Recording> known = bed_.known_commands(api_, commands());
    if (!known) return known.error();
    buffer_.set(std::move(known).value());
    return {};
  }
  hip::Status step(const hip::AddressTable& addresses) override {
    const hip::Result<hip::CommandStep> done = buffer_.step(addresses, stream_);
    return done ? hip::Status() : hip::Status(done.error());
  }

 private:
  hip::CommandBuffer buffer_;
};

// capture and cache: a run of collectives is a trace, a run of other commands is a command buffer.
class Traced final : public StepWayBase {
 public:
  Traced(const StepOptions& options, StepBed& bed, const hip::Api& api)
      : StepWayBase(options, bed, api), alone_({.ranks = 1}), cache_({.max_traces = kTraces, .ranks = &alone_}) {}

  hip::Status prepare() {
    for (Commands left = commands(); !left.empty();) {
      const bool collective = left[0].collective;
      const auto other =
          std::ranges::find_if(left, [collective](const StepCommand& one) { return one.collective != collective; });
      auto run = std::make_unique<Run>();
      run->commands = left.first(static_cast<std::size_t>(other - left.begin()));
      left = left.subspan(run->commands.size());
      if (collective) {
        name_buffers(*run);
      } else {
        hip::Result<hip::Recording> known = bed_.known_commands(api_, run->commands);
        if (!known) return known.error();
        run->patched.emplace(api_);
        run->patched->set(std::move(known).value());
      }
      runs_.push_back(std::move(run));
    }
    return {};
  }

  hip::Status step(const hip::AddressTable& addresses) override {
    for (const std::unique_ptr<Run>& run : runs_) {
      hip::Status status = run->patched                      ? patch(*run, addresses)
                           : options_.way == StepWay::kCache ? execute(*run, addresses)
                                                             : capture_and_launch(*run, addresses);
      if (!status) return status;
    }
    return {};
  }

 private:
  static constexpr std::size_t kTraces = 128;  // more than any workload has

  struct Run {
    Commands commands;
    std::optional<hip::CommandBuffer> patched;  // not of collectives
    std::vector<hip::BufferIndex> buffers;      // that collectives hold, each once
    std::vector<hip::TraceBuffer> now;          // where they are; kept, so that a step allocates nothing
    std::unique_ptr<hip::Trace> captured;       // at the last step
  };

  static void name_buffers(Run& run) {
    for (const StepCommand& command : run.commands) {
      run.buffers.insert(run.buffers.end(), command.buffers.begin(), command.buffers.end());
    }
    std::ranges::sort(run.buffers);
    run.buffers.erase(std::unique(run.buffers.begin(), run.buffers.end()), run.buffers.end());
    run.now.resize(run.buffers.size());
  }
  hip::Status patch(Run& run, const hip::AddressTable& addresses) {
    const hip::Result<hip::CommandStep> done = run.patched->step(addresses, stream_);
    return done ? hip::Status() : hip::Status(done.error());
  }
  hip::Result<std::unique_ptr<hip::Trace>> trace(const Run& run, const hip::AddressTable& addresses) {
    return hip::capture_trace(api_, bed_.capturing(),
                              [&](hipStream_t on) { return enqueue(run.commands, on, addresses); });
  }
  // The trace of the step before goes once the new one is there.
  hip::Status capture_and_launch(Run& run, const hip::AddressTable& addresses) {
    hip::Result<std::unique_ptr<hip::Trace>> fresh = trace(run, addresses);
    if (!fresh) return fresh.error();
    run.captured = std::move(fresh).value();
    return run.captured->launch(stream_);
  }
  // The bed has two places for a buffer that moves, both of them live: two buffers that take turns.
  hip::Status execute(Run& run, const hip::AddressTable& addresses) {
    for (std::size_t i = 0; i < run.buffers.size(); ++i) {
      const hip::DeviceAddress at = addresses[run.buffers[i]];
      run.now[i] = {bed_.place_of(at), at};
    }
    const struct {
      Traced& self;
      const Run& run;
      const hip::AddressTable& addresses;
    } here{*this, run, addresses};
    const hip::Result<hip::TraceOutcome> done = cache_.execute(
        reinterpret_cast<std::uintptr_t>(&run), run.now, stream_,
        [&here](std::span<const hip::TraceBuffer>) { return here.self.trace(here.run, here.addresses); });
    return done ? hip::Status() : hip::Status(done.error());
  }

  hip::ThreadRanks alone_;
  hip::TraceCache cache_;
  std::vector<std::unique_ptr<Run>> runs_;
};

class Stabilised final : public StepWayBase {
 public:
  Stabilised(const StepOptions& options, StepBed& bed, const hip::Api& api)
      : StepWayBase(options, bed, api), work_(*this, api), stabilizer_(api) {}

  hip::Status prepare() {
    const StepWorkload& workload = bed_.workload();
    for (hip::BufferIndex i = 0; i < workload.buffers.size(); ++i) {
      if (workload.buffers[i] != BufferRole::kInput && workload.buffers[i] != BufferRole::kOutput) continue;
      const bool in = workload.buffers[i] == BufferRole::kInput;
      outside_.push_back(i);
      buffers_.push_back({nullptr, bed_.workload().buffer_bytes, in ? hip::BufferUse::kIn : hip::BufferUse::kOut});
    }
    return work_.prepare();
  }
  hip::Status step(const hip::AddressTable& addresses) override {
    for (std::size_t i = 0; i < outside_.size(); ++i) {
      buffers_[i].address = reinterpret_cast<void*>(addresses[outside_[i]]);
    }
    const hip::Result<hip::StableStep> done = stabilizer_.step(0, buffers_, stream_, work_);
    return done ? hip::Status() : hip::Status(done.error());
  }
  std::uint64_t bytes_copied() const override {
    const hip::AddressStabilizerCounts counts = stabilizer_.counts();
    return counts.bytes_in + counts.bytes_back;
  }
  bool keeps_temporaries() const override { return false; }

 private:
  // All commands, with the outwardly visible buffers at the stabiliser's addresses and the rest where it never moves.
  class Work final : public hip::StableWork {
   public:
    Work(Stabilised& session, const hip::Api& api)
        : session_(session), buffer_(api), addresses_(session.bed_.addresses(false)) {}
    hip::Status prepare() {
      hip::Result<hip::Recording> known = session_.bed_.known_commands(session_.api_, session_.commands());
      if (!known) return known.error();
      buffer_.set(std::move(known).value());
      return {};
    }
    hip::Status record(std::span<void* const> addresses) override {
      for (std::size_t i = 0; i < addresses.size(); ++i) {
        addresses_[session_.outside_[i]] = reinterpret_cast<hip::DeviceAddress>(addresses[i]);
      }
      return {};
    }
    hip::Status launch(const hip::StreamRef& stream) override {
      const hip::Result<hip::CommandStep> done = buffer_.step(addresses_, stream);
      return done ? hip::Status() : hip::Status(done.error());
    }

   private:
    Stabilised& session_;
    hip::CommandBuffer buffer_;
    hip::AddressTable addresses_;
  };

  Work work_;  // goes behind the stabiliser, which waits for it
  std::vector<hip::BufferIndex> outside_;
  std::vector<hip::StepBuffer> buffers_;
  hip::AddressStabilizer stabilizer_;
};

bool always(BufferRole) {
  return true;
}
bool seen_outside(BufferRole role) {
  return role != BufferRole::kTemporary;
}

}  // namespace

std::string_view name_of(StepWay way) {
  constexpr std::string_view kNames[] = {"eager",   "record",  "record_nodes", "update",    "retrace", "patch",
                                         "careful", "capture", "cache",        "stabilise", "remap"};
  static_assert(std::size(kNames) == std::size(kStepWays));
  return kNames[static_cast<std::size_t>(way)];
}

hip::Result<std::unique_ptr<StepSession>> StepSession::make(const StepOptions& options, StepBed& bed,
                                                            const hip::Api& api) {
  switch (options.way) {
    case StepWay::kEager:
      return std::unique_ptr<StepSession>(std::make_unique<Eager>(options, bed, api));
    case StepWay::kRecord:
    case StepWay::kUpdate:
      return std::unique_ptr<StepSession>(std::make_unique<Recorded>(options, bed, api));
    case StepWay::kRetrace:
      return std::unique_ptr<StepSession>(std::make_unique<Retrace>(options, bed, api));
    case StepWay::kRecordNodes:
    case StepWay::kPatch:
    case StepWay::kCareful:
      return prepared<Buffered>(options, bed, api);
    case StepWay::kCapture:
    case StepWay::kCache:
      return prepared<Traced>(options, bed, api);
    case StepWay::kStabilise:
      return prepared<Stabilised>(options, bed, api);
    case StepWay::kRemap:
      return make_remapped(options, bed, api);
  }
  return hip::Error{hipErrorInvalidValue, "there is no such way"};
}

hip::Status check_steps(const StepOptions& options, StepBed& bed) {
  hip::Result<std::unique_ptr<StepSession>> session = StepSession::make(options, bed, bed.api());
  if (!session) return session.error();
  hip::Result<std::unique_ptr<StepSession>> eager =
      StepSession::make({.way = StepWay::kEager, .collective_capture_us = 0}, bed, bed.api());
  if (!eager) return eager.error();
  const StepBed::Counts counts = session.value()->keeps_temporaries() ? always : seen_outside;
  for (std::size_t n = 0; n < 2 * kStepsOfATurn; ++n) {
    const bool away = session.value()->away_at(n);
    std::array<std::vector<std::byte>, 2> left;
    for (StepSession* one : {eager.value().get(), session.value().get()}) {
      hip::Status status = bed.fill(away);
      if (status) status = one->step(bed.addresses(away));
      if (!status) return status;
      hip::Result<std::vector<std::byte>> bytes = bed.read(away, counts);
      if (!bytes) return bytes.error();
      left[one == session.value().get() ? 1 : 0] = std::move(bytes).value();
    }
    if (left[0] != left[1]) return hip::Error{hipErrorUnknown, "a step left other bytes than without a graph"};
  }
  return {};
}

hip::Result<StepCounts> count_step(const StepOptions& options, StepBed& bed) {
  CountingApi counting(bed.api());
  hip::Result<std::unique_ptr<StepSession>> session = StepSession::make(options, bed, counting.table());
  if (!session) return session.error();
  ApiCounts before;
  StepCounts counted;
  // The first steps set up the session, and the other place.
  for (std::size_t n = 0; n < 2 * kStepsOfATurn; ++n) {
    const bool away = session.value()->away_at(n);
    before = counting.counts();
    const std::uint64_t allocated = verify::heap_use().allocations, copied = session.value()->bytes_copied();
    hip::Status status = session.value()->step(bed.addresses(away));
    counted.allocations = verify::heap_use().allocations - allocated;
    counted.bytes_copied = session.value()->bytes_copied() - copied;
    const ApiCounts after = counting.counts();
    counted.calls = after.calls - before.calls;
    counted.setters = after.setters - before.setters;
    counted.launches = after.launches - before.launches;
    counted.allocations -= after.allocations - before.allocations;
    if (status) status = bed.synchronize();
    if (!status) return status.error();
  }
  return counted;
}

}  // namespace bench
