#include "hip/command_graph.h"

#include <cassert>
#include <string>
#include <utility>

#include "hip/captured_graph.h"

namespace hip {

void add(TraceUse& sum, const TraceUse& use) {
  sum.hits += use.hits;
  sum.patched += use.patched;
  sum.captured += use.captured;
  sum.overruled += use.overruled;
  sum.handed_over += use.handed_over;
}

QuirkContext quirk_context(const CommandBufferOptions& options) {
  return {options.memory, {}, options.several_devices};
}

namespace {

constexpr std::uint64_t kNextIdentity = std::uint64_t{1} << 32;  // between an index's identities; an index is smaller

}  // namespace

// A graph of a traced command as its cache keeps it. Each change of its content gets a new version. launch() only hands
// the graph to the traced command that asks for it: the executable graph is launched later.
class CommandGraph::KeptTrace final : public Trace {
 public:
  KeptTrace(std::shared_ptr<TracedGraph> graph, CommandGraph& owner)
      : graph_(std::move(graph)), owner_(owner), version_(++owner.versions_) {}

  Status patch(std::span<const TraceBuffer> buffers) override {
    Status status = graph_->patch(buffers);
    version_ = ++owner_.versions_;
    return status;
  }
  Status launch(const StreamRef&) override {
    owner_.asking_->now.graph = graph_;
    owner_.asking_->now.version = version_;
    return {};
  }

 private:
  const std::shared_ptr<TracedGraph> graph_;
  CommandGraph& owner_;
  std::uint64_t version_;
};

CommandTraces::CommandTraces(const CommandBufferOptions& options)
    : traces({.max_traces = options.max_traces}),
      collectives({.max_traces = options.max_traces, .ranks = options.ranks, .agree_to_launch = false}) {}

CommandGraph::CommandGraph(const Api& api, const CommandBufferOptions& options, CommandTraces& traces,
                           TakenRows<WayTable>& taken)
    : api_(api),
      options_(options),
      traces_(traces),
      taken_(taken),
      last_launch_(api, options.quirks, options.device, options.errors) {}

CommandGraph::~CommandGraph() {
  options_.errors(drop());
}

void CommandGraph::expect(BufferIndex buffers, std::size_t traced, std::size_t collectives) {
  buffers_ = buffers;
  for (std::uint64_t next = identities_.size(); next < buffers_; ++next) identities_.push_back(next);
  // One step asks for all of them: in a smaller cache, each trace would evict another that the next step needs.
  traces_.traces.keep_at_least(traced);
  traces_.collectives.keep_at_least(collectives);
}

// Takes the commands. The node of each traced command is replaced by an opaque node that adds the step's trace to the
// graph and names no buffers.
void CommandGraph::take(LaunchableCommands commands) {
  commands_ = std::move(commands.commands);
  launched_by_ = commands.launched_by;
  unlaunchable_ = commands.unlaunchable;
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
      const std::shared_ptr<TracedGraph>& trace = traced_[place].now.graph;
      return add_child(api, graph, dependencies, trace ? trace->graph() : nullptr);
    };
    commands_.replace(i, std::move(record), {});
  }
  patch_quirks_ = options_.quirks.of_buffers(QuirkyUse::kSetInExec, commands_, quirk_context(options_));
}

void CommandGraph::forget(BufferIndex buffer) {
  if (buffer >= identities_.size()) return;  // no trace can hold it
  traces_.traces.forget(identities_[buffer]);
  traces_.collectives.forget(identities_[buffer]);
  identities_[buffer] += kNextIdentity;
}

Status CommandGraph::drop() {
  patcher_.reset();
  set_calls_ = 0;
  if (exec_ == nullptr) return {};
  Status status = last_launch_.wait();
  status = both(std::move(status), destroy_exec(api_, std::exchange(exec_, nullptr)));
  return both(std::move(status), destroy_graph(api_, std::exchange(recorded_, {}).graph));
}

void CommandGraph::finish() {
  for (Traced& traced : traced_) traced.now = {};  // the cache, which is bounded, owns the graph
}

// ---- traces

bool CommandGraph::moved(const Traced& traced, std::span<const DeviceAddress> addresses) const {
  if (traced.buffers.empty()) return !traced.work->buffers.empty();
  const std::vector<BufferIndex>& named = traced.work->buffers;
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (traced.buffers[i] != TraceBuffer{identities_[named[i]], addresses[named[i]]}) return true;
  }
  return false;
}

Result<std::unique_ptr<Trace>> CommandGraph::capture(std::span<const DeviceAddress> addresses) {
  Result<std::shared_ptr<TracedGraph>> graph = TracedGraph::capture(api_, asking_->work, addresses, asking_->known);
  if (!graph) return graph.error();
  if (graph.value() == nullptr) return std::unique_ptr<Trace>();
  return std::unique_ptr<Trace>(std::make_unique<KeptTrace>(std::move(graph).value(), *this));
}

Status CommandGraph::ask(Traced& traced, Step& step) {
  traced.buffers.clear();
  for (const BufferIndex buffer : traced.work->buffers) {
    traced.buffers.push_back({identities_[buffer], step.addresses[buffer]});
  }
  asking_ = &traced;
  traced.now.graph.reset();
  traced.now.version = kNothing;
  TraceCache& cache = traced.work->collective ? traces_.collectives : traces_.traces;
  // The closure holds two pointers, so that asking for a trace that the cache has allocates nothing.
  const TraceCache::Recorder record = [this, at = &step.addresses](std::span<const TraceBuffer>) {
    return capture(*at);
  };
  const Result<TraceOutcome> outcome =
      cache.execute(traced.work->command, traced.buffers, StreamRef::of_default(api_), record);
  asking_ = nullptr;
  if (!outcome) {
    traced.buffers.clear();
    return outcome.error();
  }
  traced.now.asked = true;
  ++(outcome.value() == TraceOutcome::kHit       ? step.use.hits
     : outcome.value() == TraceOutcome::kPatched ? step.use.patched
                                                 : step.use.captured);
  return {};
}

// Comes to one round for each collective, also after an error: peers count the rounds.
Status CommandGraph::ask_collectives(Step& step, Status status) {
  const auto overruled = [this] { return options_.ranks == nullptr ? 0 : traces_.collectives.counts().overruled; };
  const std::uint64_t before = overruled();
  for (Traced& traced : traced_) {
    if (!traced.work->collective) continue;
    if (status) {
      status = step.caught([&] { return ask(traced, step); });
    } else if (options_.ranks != nullptr) {
      static_cast<void>(options_.ranks->all(false));  // `status` is an error already
    }
  }
  step.use.overruled = overruled() - before;
  return status;
}

// ---- ways

Result<CommandStep> CommandGraph::get_ready(Step& step, Status status) {
  status = ask_collectives(step, std::move(status));
  if (!status) return status.error();
  return step.caught([&] { return bring(step); });
}

Result<CommandStep> CommandGraph::bring(Step& step) {
  StateMachine<WayTable> way;
  while (way.state() != Way::kReady && way.state() != Way::kFailed) way.take(act(way.state(), step), taken_);
  if (way.state() == Way::kFailed) return step.error.error();
  step.answer.traces = step.use;
  return step.answer;
}

WayEvent CommandGraph::act(Way way, Step& step) {
  switch (way) {
    case Way::kChoose:
      return choose(step);
    case Way::kCompare:
      return compare(step);
    case Way::kPatch:
      return patch(step);
    case Way::kHandOver:
      return hand_over(step);
    case Way::kRecord:
      return record(step);
    case Way::kUpdate:
      return update(step);
    case Way::kReplace:
      return replace(step);
    case Way::kReady:
    case Way::kFailed:
      break;
  }
  assert(false && "nothing is done behind the end");
  return WayEvent::kFails;
}

namespace {

WayEvent fails(CommandGraph::Step& step, Status error) {
  step.error = std::move(error);
  return WayEvent::kFails;
}

// A slower way is taken, for this reason.
WayEvent gives_way(CommandGraph::Step& step, StepReason reason, const ReleaseQuirk* quirk = nullptr) {
  step.answer.reason = reason;
  step.answer.quirk = quirk;
  return WayEvent::kGivesWay;
}

}  // namespace

WayEvent CommandGraph::choose(Step& step) const {
  if (unlaunchable_ != nullptr) {
    return fails(step,
                 Error{hipErrorNotSupported, "this release launches such commands wrongly (" +
                                                 std::string(unlaunchable_->id) + ", docs/findings.md): set others"});
  }
  switch (step.begins) {
    case GraphState::kFailedFirst:
    case GraphState::kFailed:
      return gives_way(step, StepReason::kEarlierFailure);
    case GraphState::kNone:
      return gives_way(step, StepReason::kFirst);
    case GraphState::kOutdated:
      return gives_way(step, StepReason::kOtherCommands);
    case GraphState::kCurrent:
      break;
  }
  assert(exec_ != nullptr);
  return WayEvent::kGoesOn;
}

WayEvent CommandGraph::compare(Step& step) {
  moves_.clear();
  for (BufferIndex i = 0; i < buffers_; ++i) {
    if (step.addresses[i] != addresses_[i]) moves_.push_back({i, addresses_[i], step.addresses[i]});
  }
  bool same = moves_.empty();
  for (Traced& traced : traced_) {
    if (!traced.now.asked && moved(traced, step.addresses)) {
      if (Status status = ask(traced, step); !status) return fails(step, std::move(status));
    }
    same = same && traced.is_held();
  }
  if (same) return WayEvent::kArrived;
  if (const ReleaseQuirk* const grown = grown_by()) return gives_way(step, StepReason::kRenewed, grown);
  if (!options_.patch) return gives_way(step, StepReason::kPatchingIsOff);
  return WayEvent::kGoesOn;
}

WayEvent CommandGraph::patch(Step& step) {
  step.answer.decision = StepDecision::kPatch;
  step.answer.reason = StepReason::kTraces;
  if (const ReleaseQuirk* quirk = quirk_of_patch()) return gives_way(step, StepReason::kQuirk, quirk);
  if (!moves_.empty()) {
    step.answer.reason = StepReason::kMoved;
    if (const std::optional<StepReason> otherwise = patch_nodes(step.answer.patched))
      return gives_way(step, *otherwise);
  }
  return WayEvent::kGoesOn;
}

// Replaces the child graph of each traced command that has another trace. A child cannot become an empty node, nor an
// empty node a child.
WayEvent CommandGraph::hand_over(Step& step) {
  for (Traced& traced : traced_) {
    if (traced.is_held()) continue;
    if (!replace_child(traced)) return gives_way(step, StepReason::kTraceRefused);
    traced.held = traced.now.version;
    ++step.use.handed_over;
  }
  set_calls_ += step.answer.patched.calls + step.use.handed_over;
  is_at(step.addresses);
  return WayEvent::kArrived;
}

WayEvent CommandGraph::record(Step& step) {
  for (Traced& traced : traced_) {
    if (traced.now.asked) continue;
    if (Status status = ask(traced, step); !status) return fails(step, std::move(status));
  }
  Result<RecordedGraph> fresh = record_nodes(step.addresses);
  step.unrecorded = !fresh;
  if (!fresh) return fails(step, fresh.error());
  step.fresh = std::move(fresh).value();
  return may_update(step) ? WayEvent::kGoesOn : WayEvent::kGivesWay;
}

WayEvent CommandGraph::update(Step& step) {
  if (!updated_to(*step.fresh)) return gives_way(step, StepReason::kUpdateRefused);
  set_calls_ += commands_.nodes().size();
  options_.errors(destroy_graph(api_, step.fresh->graph));
  step.fresh.reset();
  return is_recorded(step, StepDecision::kUpdate);
}

WayEvent CommandGraph::replace(Step& step) {
  RecordedGraph fresh = std::move(*step.fresh);
  step.fresh.reset();
  hipGraphExec_t exec = nullptr;
  Status status = call<&Api::hipGraphInstantiate>(api_, &exec, fresh.graph, nullptr, nullptr, 0);
  if (!status) {
    options_.errors(destroy_graph(api_, fresh.graph));
    return fails(step, std::move(status));
  }
  // The new executable graph is ready: a failure to destroy the old one is reported, and the step goes on.
  options_.errors(drop());
  exec_ = exec;
  recorded_ = std::move(fresh);
  return is_recorded(step, StepDecision::kRecord);
}

WayEvent CommandGraph::is_recorded(Step& step, StepDecision decision) {
  is_at(step.addresses);
  for (Traced& traced : traced_) traced.held = traced.now.version;
  if (options_.update && !options_.quirks.empty()) before_ = commands_;
  step.answer.decision = decision;
  step.answer.patched = {};
  if (step.answer.quirk == nullptr) step.answer.quirk = launched_by_;
  return WayEvent::kArrived;
}

// ---- parts of the ways

// The quirk by which setter calls make the release's memory grow, if this graph was set often enough; otherwise null.
const ReleaseQuirk* CommandGraph::grown_by() const {
  return set_calls_ >= options_.renew_after ? options_.quirks.of_set_often() : nullptr;
}

// The quirk that a setter of this patch or a trace that is handed over would meet, or null.
const ReleaseQuirk* CommandGraph::quirk_of_patch() const {
  const ReleaseQuirk* quirk = first_of(patch_quirks_, moves_);
  for (const Traced& traced : traced_) {
    if (quirk != nullptr) break;
    if (traced.is_held()) continue;
    const RecordedNode& node = commands_.nodes()[traced.node];
    quirk = options_.quirks.of_set(QuirkyUse::kSetInExec, node, node, traced.node, quirk_context(options_));
  }
  return quirk;
}

// Brings the nodes other than traces to the buffers' present addresses. Returns the reason if that fails.
std::optional<StepReason> CommandGraph::patch_nodes(PatchReport& report) {
  if (!patcher_) {
    PatcherOptions options;
    options.on_teardown_error = [this](int code, const char* what) { options_.errors(Error{code, what}); };
    patcher_ = GraphPatcher::of_exec(api_, commands_, recorded_, exec_, addresses_, std::move(options));
  }
  const Result<DeviceScope> scope = nodes_device();
  if (!scope) {
    options_.errors(scope.error());
    return StepReason::kPatchFailed;
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

// Replaces the child in the executable graph by the trace of this step. Returns whether that succeeded.
bool CommandGraph::replace_child(const Traced& traced) const {
  if (traced.now.version == kNothing || traced.held == kNothing) return false;
  const hipError_t status =
      api_.hipGraphExecChildGraphNodeSetParams(exec_, recorded_.nodes[traced.node], traced.now.graph->graph());
  if (status == hipSuccess) return true;
  // A refusal because the trace has another shape is no error; any other failure is. HIP does not document which status
  // says that the shape is another.
  const bool answers =
      status == hipErrorInvalidValue || status == hipErrorUnknown || status == hipErrorGraphExecUpdateFailure;
  if (!answers) options_.errors(called(status, "hipGraphExecChildGraphNodeSetParams"));
  return false;
}

// Makes a device current for the nodes that are recorded or set and name none: the command buffer's own device, which
// is current already, or device 0 where each node names its device.
Result<DeviceScope> CommandGraph::nodes_device() const {
  return DeviceScope::enter_if(api_, options_.several_devices ? std::optional(0) : std::nullopt, options_.errors);
}

Result<RecordedGraph> CommandGraph::record_nodes(std::span<const DeviceAddress> addresses) const {
  const Result<DeviceScope> scope = nodes_device();
  return scope ? record_graph(api_, commands_, addresses) : Result<RecordedGraph>(scope.error());
}

// Whether an update to the recorded graph is tried. Notes the quirk that the update would meet.
bool CommandGraph::may_update(Step& step) const {
  if (!options_.update || exec_ == nullptr || has_failed(step.begins)) return false;
  if (step.answer.reason == StepReason::kTraceRefused || step.answer.quirk != nullptr) return false;
  if (const ReleaseQuirk* const grown = grown_by()) {
    gives_way(step, StepReason::kRenewed, grown);
    return false;
  }
  if (const ReleaseQuirk* quirk = options_.quirks.of_update(before_, commands_, quirk_context(options_))) {
    gives_way(step, StepReason::kQuirk, quirk);
    return false;
  }
  const bool keeps = !step.fresh->kept.empty() || !recorded_.kept.empty();  // memory that is freed with its own graph
  return !keeps && !recorded_otherwise(before_, commands_);
}

// Updates the executable graph to `fresh` and returns whether that succeeded. Not tried after a patch failed half-way.
bool CommandGraph::updated_to(const RecordedGraph& fresh) {
  if (fresh.nodes.size() != recorded_.nodes.size() || (patcher_ && !patcher_->usable())) return false;
  hipGraphNode_t node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateError;
  const hipError_t updated = api_.hipGraphExecUpdate(exec_, fresh.graph, &node, &result);
  // This status says that the shape is another, which is no error; any other failure is.
  if (updated != hipErrorGraphExecUpdateFailure) options_.errors(called(updated, "hipGraphExecUpdate"));
  if (updated != hipSuccess || result != hipGraphExecUpdateSuccess) return false;
  patcher_.reset();  // it was made for the former commands
  return true;
}

}  // namespace hip
