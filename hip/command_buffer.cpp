#include "hip/command_buffer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "hip/captured_graph.h"
#include "hip/device_scope.h"
#include "hip/flatten.h"

namespace hip {
namespace {

constexpr std::uint64_t kNextIdentity = std::uint64_t{1} << 32;  // of the same number; buffers have fewer bits

void add(TraceUse& sum, const TraceUse& use) {
  sum.hits += use.hits;
  sum.patched += use.patched;
  sum.captured += use.captured;
  sum.overruled += use.overruled;
  sum.handed_over += use.handed_over;
}

}  // namespace

// A graph of a traced command as its cache keeps it. Each change of what it holds has a version of its own. Launched,
// it goes to the traced command that asks for it: the buffer's graph is what runs.
class CommandBuffer::KeptTrace final : public Trace {
 public:
  KeptTrace(std::shared_ptr<TracedGraph> graph, CommandBuffer& buffer)
      : graph_(std::move(graph)), buffer_(buffer), version_(++buffer.versions_) {}

  Status patch(std::span<const TraceBuffer> buffers) override {
    Status status = graph_->patch(buffers);
    version_ = ++buffer_.versions_;
    return status;
  }
  Status launch(const StreamRef&) override {
    buffer_.asking_->graph = graph_;
    buffer_.asking_->version = version_;
    return {};
  }

 private:
  const std::shared_ptr<TracedGraph> graph_;
  CommandBuffer& buffer_;
  std::uint64_t version_;
};

Result<std::unique_ptr<Trace>> CommandBuffer::capture(std::span<const DeviceAddress> addresses) {
  Result<std::shared_ptr<TracedGraph>> graph = TracedGraph::capture(api_, asking_->work, addresses, asking_->known);
  if (!graph) return graph.error();
  if (graph.value() == nullptr) return std::unique_ptr<Trace>();
  return std::unique_ptr<Trace>(std::make_unique<KeptTrace>(std::move(graph).value(), *this));
}

CommandBuffer::CommandBuffer(const Api& api, const CommandBufferOptions& options)
    : api_(api),
      options_(options),
      traces_({.max_traces = options.max_traces}),
      collectives_({.max_traces = options.max_traces, .ranks = options.ranks, .agree_to_launch = false}),
      last_launch_(api, options.quirks, options.device, options.errors) {
  set({});
}

CommandBuffer::~CommandBuffer() {
  options_.errors(drop());
}

void CommandBuffer::set(Recording commands) {
  commands_ = options_.flatten ? flattened(commands) : std::move(commands);
  // A graph without nodes is nothing that HIP documents.
  if (commands_.nodes().empty()) commands_.add({EmptyRecord{}, {}, {}});
  buffers_ = commands_.buffer_count();
  for (std::uint64_t next = identities_.size(); next < buffers_; ++next) identities_.push_back(next);
  commands_ = options_.quirks.as_added(std::move(commands_), quirk_context());
  make_launchable();
  take_traced();
  other_commands_ = true;
}

// Flattens and chains the commands where the release launches them wrongly as they are.
void CommandBuffer::make_launchable() {
  const QuirkContext context = quirk_context();
  launched_by_ = nullptr;
  unlaunchable_ = options_.quirks.of_launch(commands_, context);
  const auto now = [&](Recording changed) {
    launched_by_ = launched_by_ == nullptr ? unlaunchable_ : launched_by_;
    commands_ = std::move(changed);
    unlaunchable_ = options_.quirks.of_launch(commands_, context);
  };
  // A quirk may be one of a child's own nodes, so children go first.
  const bool by_others = unlaunchable_ != nullptr && others_stand_for(unlaunchable_->way);
  Places places;
  if (by_others || (unlaunchable_ != nullptr && commands_.child_depth() > 0)) {
    now(flattened(commands_, places, options_.quirks.spelling(context, options_.errors)));
  }
  if (unlaunchable_ != nullptr && unlaunchable_->way == QuirkWay::kChain) now(chained(commands_));
}

// Their nodes become ones that put the step's trace into the graph, and whose buffers are nobody else's to look after.
void CommandBuffer::take_traced() {
  traced_.clear();
  for (NodeIndex i = 0; i < commands_.nodes().size(); ++i) {
    std::shared_ptr<const TracedWork> work = traced_work_of(commands_.nodes()[i]);
    if (work == nullptr) continue;
    traced_.push_back({i, std::move(work)});
    OpaqueRecord record;
    record.reason = "its trace is handed over";
    record.record = [this, place = traced_.size() - 1](
                        const Api& api, hipGraph_t graph, std::span<const hipGraphNode_t> dependencies,
                        std::span<const DeviceAddress>, Kept&) -> Result<hipGraphNode_t> {
      const std::shared_ptr<TracedGraph>& trace = traced_[place].graph;
      return add_child(api, graph, dependencies, trace ? trace->graph() : nullptr);
    };
    commands_.replace(i, std::move(record), {});
  }
}

void CommandBuffer::forget(BufferIndex buffer) {
  if (buffer >= identities_.size()) return;  // no trace can hold it
  traces_.forget(identities_[buffer]);
  collectives_.forget(identities_[buffer]);
  identities_[buffer] += kNextIdentity;
}

Status CommandBuffer::drop() {
  patcher_.reset();
  if (exec_ == nullptr) return {};
  Status status = last_launch_.wait();
  status = both(std::move(status), destroy_exec(api_, std::exchange(exec_, nullptr)));
  return both(std::move(status), destroy_graph(api_, std::exchange(recorded_, {}).graph));
}

void CommandBuffer::count(const CommandStep& step) {
  ++counts_.decisions[static_cast<std::size_t>(step.decision)];
  ++counts_.reasons[static_cast<std::size_t>(step.reason)];
}

Result<CommandStep> CommandBuffer::step(std::span<const DeviceAddress> addresses, const StreamRef& stream) {
  assert(addresses.size() >= buffers_);
  use_ = {};
  const Result<DeviceScope> scope = DeviceScope::enter(api_, options_.device, options_.errors);
  Status status = ask_collectives(addresses, scope ? Status() : Status(scope.error()));
  Result<CommandStep> step = status ? bring(addresses) : Result<CommandStep>(status.error());
  if (!step) broken_ = true;
  status = agree_to_launch(step ? Status() : Status(step.error()));
  if (status) {
    status = last_launch_.launch(exec_, stream);
    broken_ = broken_ || !status;
  }
  for (Traced& traced : traced_) {
    traced.graph.reset();  // the cache's, which is bounded
    traced.asked = false;
  }
  add(counts_.traces, use_);
  if (!status) {
    ++counts_.failed;
    return status.error();
  }
  step.value().traces = use_;
  count(step.value());
  return step;
}

// ---- traces

bool CommandBuffer::moved(const Traced& traced, std::span<const DeviceAddress> addresses) const {
  if (traced.buffers.empty()) return !traced.work->buffers.empty();
  const std::vector<BufferIndex>& named = traced.work->buffers;
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (traced.buffers[i] != TraceBuffer{identities_[named[i]], addresses[named[i]]}) return true;
  }
  return false;
}

Status CommandBuffer::ask(Traced& traced, std::span<const DeviceAddress> addresses) {
  traced.buffers.clear();
  for (const BufferIndex buffer : traced.work->buffers) {
    traced.buffers.push_back({identities_[buffer], addresses[buffer]});
  }
  asking_ = &traced;
  traced.graph.reset();
  traced.version = kNothing;
  TraceCache& cache = traced.work->collective ? collectives_ : traces_;
  // Two words, so that asking for a trace that is there allocates nothing.
  const TraceCache::Recorder record = [this, at = &addresses](std::span<const TraceBuffer>) { return capture(*at); };
  const Result<TraceOutcome> outcome =
      cache.execute(traced.work->command, traced.buffers, StreamRef::of_default(api_), record);
  if (!outcome) {
    traced.buffers.clear();
    return outcome.error();
  }
  traced.asked = true;
  ++(outcome.value() == TraceOutcome::kHit       ? use_.hits
     : outcome.value() == TraceOutcome::kPatched ? use_.patched
                                                 : use_.captured);
  return {};
}

// Comes to one round for each collective, whatever happens: peers count them.
Status CommandBuffer::ask_collectives(std::span<const DeviceAddress> addresses, Status status) {
  const auto overruled = [this] { return options_.ranks == nullptr ? 0 : collectives_.counts().overruled; };
  const std::uint64_t before = overruled();
  for (Traced& traced : traced_) {
    if (!traced.work->collective) continue;
    if (status) {
      status = ask(traced, addresses);
    } else if (options_.ranks != nullptr) {
      static_cast<void>(options_.ranks->all(false));  // an error is on its way already
    }
  }
  use_.overruled = overruled() - before;
  return status;
}

Status CommandBuffer::agree_to_launch(Status status) {
  const bool together =
      options_.ranks != nullptr &&
      std::any_of(traced_.begin(), traced_.end(), [](const Traced& each) { return each.work->collective; });
  if (!together) return status;
  const Result<bool> all = options_.ranks->all(status.ok());
  if (!status) return status;
  if (!all) return all.error();
  if (!all.value()) return Error{hipErrorNotReady, "a peer could not get ready: no rank launches; try again together"};
  return {};
}

// ---- ways

Result<CommandStep> CommandBuffer::bring(std::span<const DeviceAddress> addresses) {
  if (unlaunchable_ != nullptr) {
    return Error{hipErrorNotSupported, "this release launches such commands wrongly (" +
                                           std::string(unlaunchable_->id) + ", docs/findings.md): set others"};
  }
  if (exec_ == nullptr) return record(addresses, broken_ ? StepReason::kEarlierFailure : StepReason::kFirst);
  if (broken_) return record(addresses, StepReason::kEarlierFailure);
  if (other_commands_) return record(addresses, StepReason::kOtherCommands);
  moves_.clear();
  for (BufferIndex i = 0; i < buffers_; ++i) {
    if (addresses[i] != addresses_[i]) moves_.push_back({i, addresses_[i], addresses[i]});
  }
  bool same = moves_.empty();
  for (Traced& traced : traced_) {
    if (!traced.asked && moved(traced, addresses)) {
      if (Status status = ask(traced, addresses); !status) return status.error();
    }
    same = same && (!traced.asked || traced.version == traced.held);
  }
  if (same) return CommandStep{};
  if (!options_.patch) return record(addresses, StepReason::kPatchingIsOff);
  return patch(addresses);
}

Result<CommandStep> CommandBuffer::patch(std::span<const DeviceAddress> addresses) {
  CommandStep step{StepDecision::kPatch, StepReason::kTraces};
  if (const ReleaseQuirk* quirk = quirk_of_patch()) return record(addresses, StepReason::kQuirk, quirk);
  if (!moves_.empty()) {
    step.reason = StepReason::kMoved;
    if (const std::optional<StepReason> otherwise = patch_nodes(step.patched)) return record(addresses, *otherwise);
  }
  if (!hand_over()) return record(addresses, StepReason::kTraceRefused);
  is_now(addresses);
  return step;
}

// The quirk that a setter of this patch or a trace that is handed over would meet, or null.
const ReleaseQuirk* CommandBuffer::quirk_of_patch() const {
  const QuirkContext context = quirk_context();
  const ReleaseQuirk* quirk = options_.quirks.of_patch(QuirkyUse::kSetInExec, commands_, moves_, context);
  for (const Traced& traced : traced_) {
    if (quirk != nullptr) break;
    if (!traced.asked || traced.version == traced.held) continue;
    const RecordedNode& node = traced.known ? *traced.known : commands_.nodes()[traced.node];
    quirk = options_.quirks.of_set(QuirkyUse::kSetInExec, node, node, traced.node, context);
  }
  return quirk;
}

// Why the nodes that are no traces cannot be brought to where the buffers are, if so.
std::optional<StepReason> CommandBuffer::patch_nodes(PatchReport& report) {
  if (!patcher_) {
    PatcherOptions options;
    options.on_teardown_error = [this](int code, const char* what) { options_.errors(Error{code, what}); };
    patcher_ = GraphPatcher::of_exec(api_, commands_, recorded_, exec_, addresses_, std::move(options));
  }
  const PatchResult patched = patcher_->patch(moves_);
  if (patched.ok()) {
    report = patched.report();
    return std::nullopt;
  }
  if (patched.error().failure == PatchFailure::kRecordAgain) return StepReason::kOpaque;
  options_.errors(Error{patched.error().code, patched.error().message});
  return StepReason::kPatchFailed;
}

// Whether every child is its trace now. A node cannot become empty, or cease to be.
bool CommandBuffer::hand_over() {
  for (Traced& traced : traced_) {
    if (!traced.asked || traced.version == traced.held) continue;
    if (traced.version == kNothing || traced.held == kNothing) return false;
    const hipError_t status =
        api_.hipGraphExecChildGraphNodeSetParams(exec_, recorded_.nodes[traced.node], traced.graph->graph());
    if (status != hipSuccess) {
      // That its shape is another is an answer; anything else, an error.
      const bool answers = status == hipErrorInvalidValue || status == hipErrorUnknown ||
                           status == hipErrorGraphExecUpdateFailure;  // which, no documentation says
      if (!answers) {
        options_.errors(called(status, "hipGraphExecChildGraphNodeSetParams"));
      }
      return false;
    }
    traced.held = traced.version;
    ++use_.handed_over;
  }
  return true;
}

void CommandBuffer::is_now(std::span<const DeviceAddress> addresses) {
  addresses_.assign(addresses.begin(), addresses.end());
}

// Whether the executable graph is what `fresh` is now. A patch that failed half-way is no place to go on from.
bool CommandBuffer::update(const RecordedGraph& fresh) {
  if (fresh.nodes.size() != recorded_.nodes.size() || (patcher_ && !patcher_->usable())) return false;
  hipGraphNode_t node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateError;
  const hipError_t updated = api_.hipGraphExecUpdate(exec_, fresh.graph, &node, &result);
  // That the shape is another is an answer; anything else, an error.
  if (updated != hipErrorGraphExecUpdateFailure) options_.errors(called(updated, "hipGraphExecUpdate"));
  if (updated != hipSuccess || result != hipGraphExecUpdateSuccess) return false;
  patcher_.reset();  // it knew the other commands
  return true;
}

Result<CommandStep> CommandBuffer::record(std::span<const DeviceAddress> addresses, StepReason reason,
                                          const ReleaseQuirk* quirk) {
  for (Traced& traced : traced_) {
    if (traced.asked) continue;
    if (Status status = ask(traced, addresses); !status) return status.error();
  }
  Result<RecordedGraph> fresh = record_graph(api_, commands_, addresses);
  if (!fresh) return fresh.error();
  bool may_update = options_.update && exec_ != nullptr && !broken_ && reason != StepReason::kTraceRefused;
  if (may_update && quirk == nullptr) {
    quirk = options_.quirks.of_update(before_, commands_, quirk_context());
    if (quirk != nullptr) reason = StepReason::kQuirk;
  }
  const bool keeps = !fresh.value().kept.empty() || !recorded_.kept.empty();  // which goes with its own graph
  may_update = may_update && quirk == nullptr && !keeps && !recorded_otherwise(before_, commands_);
  const bool updated = may_update && update(fresh.value());
  if (updated) {
    options_.errors(destroy_graph(api_, fresh.value().graph));
  } else {
    if (Status status = replace(std::move(fresh).value()); !status) return status.error();
    if (may_update) reason = StepReason::kUpdateRefused;
  }
  is_now(addresses);
  for (Traced& traced : traced_) traced.held = traced.version;
  if (options_.update && !options_.quirks.empty()) before_ = commands_;
  other_commands_ = broken_ = false;
  CommandStep step{updated ? StepDecision::kUpdate : StepDecision::kRecord, reason};
  step.quirk = quirk != nullptr ? quirk : launched_by_;
  return step;
}

// What is launched from now on comes from `fresh`.
Status CommandBuffer::replace(RecordedGraph fresh) {
  hipGraphExec_t exec = nullptr;
  Status status = called(api_.hipGraphInstantiate(&exec, fresh.graph, nullptr, nullptr, 0), "hipGraphInstantiate");
  if (!status) {
    options_.errors(destroy_graph(api_, fresh.graph));
    return status;
  }
  // The new graph is there; that the old one could not go is told, and no reason not to launch.
  options_.errors(drop());
  exec_ = exec;
  recorded_ = std::move(fresh);
  return {};
}

}  // namespace hip
