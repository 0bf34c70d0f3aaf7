// F18 to F22: trace caches and command buffers, right in all but one point each.
//
//   F18  a trace goes into the command buffer as a child, even when it is empty.
//   F19  a body is finished when its commands are in it: a body without commands is instantiated as it is.
//   F20  a trace is looked up by the addresses that it was captured for: memory that was freed and allocated again is
//        taken for the earlier buffer at that address.
//   F21  a collective is captured at every step: its author's cache holds traces that one rank can decide about alone.
//   F22  a rank of a collective decides by its own cache alone: its author's ranks always agreed.
#include <optional>
#include <utility>
#include <vector>

#include "fuzz/faults/lists.h"
#include "hip/captured_graph.h"
#include "hip/device_scope.h"
#include "hip/graph_patcher.h"

namespace fuzz {
namespace {

enum class Habit : std::uint8_t {
  kTakesEmptyTraces,
  kFinishesEmptyBodies,
  kKeysByAddress,
  kCapturesCollectives,
  kDecidesAlone
};

constexpr std::uint64_t kCollective = 2;        // the command that is a collective
constexpr std::size_t kTracesByAddress = 1024;  // each address that a buffer may have needs a trace of its own

// An executable graph of its own, and the graph that it was instantiated from.
struct Instance {
  hipGraph_t graph = nullptr;
  hipGraphExec_t exec = nullptr;
};

hip::Status give_back(const hip::Api& api, Instance& instance) {
  if (instance.exec == nullptr) return {};
  hip::Status status = hip::call<&hip::Api::hipDeviceSynchronize>(api);
  status = hip::both(std::move(status), hip::destroy_exec(api, instance.exec));
  return hip::both(std::move(status), hip::destroy_graph(api, std::exchange(instance, {}).graph));
}

// A trace whose graph has the captured graph as its child.
class ChildTrace final : public hip::Trace {
 public:
  ChildTrace(const hip::Api& api, Instance instance, hip::ErrorSink errors)
      : api_(api), instance_(instance), errors_(errors) {}
  ~ChildTrace() override { errors_(give_back(api_, instance_)); }
  hip::Status patch(std::span<const hip::TraceBuffer>) override {
    return hip::Error{hipErrorNotSupported, "a trace is captured again"};
  }
  hip::Status launch(const hip::StreamRef& stream) override {
    return hip::call<&hip::Api::hipGraphLaunch>(api_, instance_.exec, stream.handle());
  }

  static hip::Result<std::unique_ptr<hip::Trace>> make(const hip::Api& api, hipStream_t stream,
                                                       const hip::Enqueue& work, hip::ErrorSink errors) {
    const hip::Result<hip::CapturedGraph> captured = hip::CapturedGraph::capture(api, stream, work, errors);
    if (!captured) return captured.error();
    Instance made;
    hip::Status status = hip::call<&hip::Api::hipGraphCreate>(api, &made.graph, 0);
    if (!status) return status.error();
    hipGraphNode_t node = nullptr;
    status =
        hip::call<&hip::Api::hipGraphAddChildGraphNode>(api, &node, made.graph, nullptr, 0, captured.value().graph());
    if (status) {
      status = hip::call<&hip::Api::hipGraphInstantiate>(api, &made.exec, made.graph, nullptr, nullptr, 0);
    }
    if (!status) {
      errors(hip::destroy_graph(api, made.graph));
      return status.error();
    }
    return std::unique_ptr<hip::Trace>(std::make_unique<ChildTrace>(api, made, errors));
  }

 private:
  const hip::Api& api_;
  Instance instance_;
  hip::ErrorSink errors_;
};

// A command buffer that is made only from its body's commands. Each step waits for it at its end.
class PlainBody {
 public:
  PlainBody(const hip::Api& api, hip::ErrorSink errors) : api_(api), errors_(errors) {}
  PlainBody(const PlainBody&) = delete;
  PlainBody& operator=(const PlainBody&) = delete;
  ~PlainBody() {
    patcher_.reset();
    errors_(give_back(api_, instance_));
  }

  hip::Status step(const verify::TracesPart::Body& body, const hip::StreamRef& stream) {
    const bool same = instance_.exec != nullptr && version_ == body.version;
    if (!same || !patch(body)) {
      if (hip::Status status = record(body); !status) return status;
    }
    hip::Status status = hip::call<&hip::Api::hipGraphLaunch>(api_, instance_.exec, stream.handle());
    status = hip::both(std::move(status), stream.synchronize());
    if (!status) version_ = 0;
    return status;
  }
  [[nodiscard]] hipGraph_t graph() const { return instance_.graph; }

 private:
  bool patch(const verify::TracesPart::Body& body) {
    std::vector<hip::Move> moves;
    for (hip::BufferIndex i = 0; i < commands_.buffer_count(); ++i) {
      if (addresses_[i] != body.addresses[i]) moves.push_back({i, addresses_[i], body.addresses[i]});
    }
    if (!patcher_->patch(moves).ok()) return false;
    addresses_.assign(body.addresses.begin(), body.addresses.end());
    return true;
  }
  hip::Status record(const verify::TracesPart::Body& body) {
    hip::Result<hip::RecordedGraph> recorded = hip::record_graph(api_, body.commands, body.addresses);
    if (!recorded) return recorded.error();
    Instance fresh{recorded.value().graph, nullptr};
    const hip::Status status =
        hip::call<&hip::Api::hipGraphInstantiate>(api_, &fresh.exec, fresh.graph, nullptr, nullptr, 0);
    if (!status) {
      errors_(hip::destroy_graph(api_, fresh.graph));
      return status;
    }
    patcher_.reset();
    errors_(give_back(api_, instance_));
    instance_ = fresh;
    version_ = body.version;
    commands_ = body.commands;
    addresses_.assign(body.addresses.begin(), body.addresses.end());
    patcher_ = hip::GraphPatcher::of_exec(api_, commands_, recorded.value(), instance_.exec, addresses_);
    return {};
  }

  const hip::Api& api_;
  hip::ErrorSink errors_;
  Instance instance_;
  std::uint64_t version_ = 0;
  hip::Recording commands_;
  hip::AddressTable addresses_;
  std::optional<hip::GraphPatcher> patcher_;
};

class PatchedTraces final : public verify::TracesPart {
 public:
  PatchedTraces(const hip::Api& api, hip::ErrorSink errors, Habit habit)
      : api_(api),
        errors_(errors),
        habit_(habit),
        real_(verify::real_parts().traces(api, errors)),
        alone_(verify::real_parts().traces(api, errors)),
        cache_({.max_traces = habit == Habit::kKeysByAddress ? kTracesByAddress : verify::kScenarioTraces}) {}

  hip::Status step(std::uint64_t command, std::span<const hip::TraceBuffer> buffers, const hip::StreamRef& stream,
                   const Work& work) override {
    if (habit_ == Habit::kFinishesEmptyBodies || habit_ == Habit::kDecidesAlone) {
      return real_->step(command, buffers, stream, work);
    }
    const hip::Result<hip::DeviceScope> scope = hip::DeviceScope::enter(api_, 0, errors_);
    if (!scope) return scope.error();
    if (!capturing_) {
      hip::Result<hip::Stream> made = hip::Stream::create(api_, {.flags = hipStreamNonBlocking}, errors_);
      if (!made) return made.error();
      capturing_.emplace(std::move(made).value());
    }
    std::vector<hip::TraceBuffer> named(buffers.begin(), buffers.end());
    if (habit_ == Habit::kKeysByAddress) {
      for (hip::TraceBuffer& buffer : named) buffer.identity = buffer.address;
    }
    const auto record = [&](std::span<const hip::TraceBuffer> now) {
      const hip::Enqueue enqueue = [&](hipStream_t on) { return work(on, now); };
      const hipStream_t on = capturing_->ref().handle();
      return habit_ == Habit::kTakesEmptyTraces ? ChildTrace::make(api_, on, enqueue, errors_)
                                                : hip::capture_trace(api_, on, enqueue, errors_);
    };
    const bool collective = habit_ == Habit::kCapturesCollectives && command == kCollective;
    if (collective) collective_.clear();
    const hip::Result<hip::TraceOutcome> outcome =
        (collective ? collective_ : cache_).execute(command, named, stream, record);
    return outcome ? hip::Status() : outcome.error();
  }

  hip::Status rank(std::uint64_t command, std::span<const hip::TraceBuffer> buffers, const hip::StreamRef& stream,
                   const Work& work, hip::RankAgreement& peers) override {
    if (habit_ == Habit::kDecidesAlone) return alone_->step(command, buffers, stream, work);
    return real_->rank(command, buffers, stream, work, peers);
  }
  hip::Status body(const Body& body, const hip::StreamRef& stream,
                   const std::function<void(hipGraph_t)>& look) override {
    // The author had only opaque commands and one rank.
    const bool theirs = body.number < verify::kTraceBodies / verify::kTraceForms;
    if (habit_ != Habit::kFinishesEmptyBodies || !theirs) return real_->body(body, stream, look);
    const hip::Result<hip::DeviceScope> scope = hip::DeviceScope::enter(api_, 0, errors_);
    if (!scope) return scope.error();
    std::unique_ptr<PlainBody>& plain = bodies_[body.number];
    if (plain == nullptr) plain = std::make_unique<PlainBody>(api_, errors_);
    if (const hip::Status status = plain->step(body, stream); !status) return status;
    look(plain->graph());
    return {};
  }

 private:
  const hip::Api& api_;
  hip::ErrorSink errors_;
  const Habit habit_;
  std::unique_ptr<verify::TracesPart> real_, alone_;  // alone_: with a cache of its own, for ranks
  std::optional<hip::Stream> capturing_;
  hip::TraceCache cache_;
  hip::TraceCache collective_;  // the one that runs
  std::array<std::unique_ptr<PlainBody>, verify::kTraceBodies> bodies_;
};

verify::Parts with(Habit habit) {
  verify::Parts parts = verify::real_parts();
  parts.traces = [habit](const hip::Api& api, hip::ErrorSink errors) {
    return std::make_unique<PatchedTraces>(api, errors, habit);
  };
  return parts;
}

}  // namespace

std::vector<Fault> trace_faults() {
  using enum verify::PropertyId;
  using enum verify::System;
  return {system_fault("F18", "command buffer", "accepts an empty traced graph and instantiates it as a child", kP11,
                       kTraces, with(Habit::kTakesEmptyTraces)),
          system_fault("F19", "command buffer", "finalises an empty body graph without a node", kP11, kTraces,
                       with(Habit::kFinishesEmptyBodies)),
          system_fault("F20", "trace cache", "keyed by address only: freed and reused addresses hit a stale trace", kA3,
                       kTraces, with(Habit::kKeysByAddress)),
          system_fault("F21", "trace cache", "collectives are recorded on every call", kP10, kTraces,
                       with(Habit::kCapturesCollectives)),
          system_fault("F22", "trace cache", "ranks decide hit or miss on their own", kC6, kTraces,
                       with(Habit::kDecidesAlone))};
}

}  // namespace fuzz
