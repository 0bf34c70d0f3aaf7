#include "hip/command_buffer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "hip/captured_graph.h"
#include "hip/device_scope.h"
#include "hip/flatten.h"
#include "hip/node_order.h"

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

// A node, at any depth of its children, that is one.
bool holds_traced(const RecordedNode& node, bool only_collectives) {
  if (const std::shared_ptr<const TracedWork> work = traced_work_of(node)) return work->collective || !only_collectives;
  const auto* child = std::get_if<ChildRecord>(&node.record);
  if (child == nullptr) return false;
  const auto inner = child->graph->nodes();
  return std::any_of(inner.begin(), inner.end(),
                     [&](const RecordedNode& each) { return holds_traced(each, only_collectives); });
}
bool in_a_child(const Recording& commands, bool only_collectives) {
  return std::any_of(commands.nodes().begin(), commands.nodes().end(), [&](const RecordedNode& node) {
    return std::holds_alternative<ChildRecord>(node.record) && holds_traced(node, only_collectives);
  });
}
bool nests_traced(const Recording& commands) {
  return in_a_child(commands, false);
}
bool nests_collective(const Recording& commands) {
  return in_a_child(commands, true);
}

bool with_the_one_before(const RecordedNode& node) {
  const auto* opaque = std::get_if<OpaqueRecord>(&node.record);
  return opaque != nullptr && opaque->with_the_one_before;
}

// These nodes as the end of a chain, and whether one of them is opaque.
bool append(Recording& chain, const Recording& from, const std::vector<NodeIndex>& nodes) {
  bool opaque = false;
  for (const NodeIndex index : nodes) {
    RecordedNode node = from.nodes()[index];
    opaque = opaque || std::holds_alternative<OpaqueRecord>(node.record);
    node.dependencies.clear();
    if (!chain.nodes().empty()) node.dependencies.push_back(static_cast<NodeIndex>(chain.nodes().size() - 1));
    chain.add(std::move(node));
  }
  return opaque;
}

// What was captured on a stream of the device names it, as each node does where they are of several.
void name_device(NodeRecord& record, int device) {
  auto* child = std::get_if<ChildRecord>(&record);
  if (child == nullptr || device == 0) return;
  Recording named;
  for (RecordedNode node : child->graph->nodes()) {
    if (auto* kernel = std::get_if<KernelRecord>(&node.record)) kernel->device = device;
    if (auto* memset = std::get_if<MemsetRecord>(&node.record)) memset->device = device;
    named.add(std::move(node));
  }
  child->graph = std::make_shared<const Recording>(std::move(named));
}

// Releases launch at once what should become part of a graph.
Status refuse_capture(const StreamRef& stream, const ReleaseQuirks& quirks) {
  if (quirks.of_captured_launch() == nullptr) return {};
  const Result<bool> captures = stream.capturing();
  if (!captures) return captures.error();
  if (!captures.value()) return {};
  return Error{hipErrorStreamCaptureUnsupported, "this release launches into captures: hip/captured_launch.h does not"};
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
  given_ = options_.flatten || nests_traced(commands) ? flattened(commands) : std::move(commands);
  // A graph without nodes is nothing that HIP documents.
  if (given_.nodes().empty()) given_.add({EmptyRecord{}, {}, {}});
  buffers_ = given_.buffer_count();
  for (std::uint64_t next = identities_.size(); next < buffers_; ++next) identities_.push_back(next);
  std::size_t traced = 0;
  collective_count_ = 0;
  for (const RecordedNode& node : given_.nodes()) {
    const std::shared_ptr<const TracedWork> work = traced_work_of(node);
    if (work != nullptr) ++(work->collective ? collective_count_ : traced);
  }
  // All are asked about in one step: with fewer places each would take that of the next.
  traces_.keep_at_least(traced);
  collectives_.keep_at_least(collective_count_);
  unsupported_ = given_.has_memory_nodes()  ? "a command buffer cannot keep memory that its graph allocates"
                 : nests_collective(given_) ? "a collective in a child graph that cannot be flattened"
                                            : nullptr;
  prepared_ = false;
  looks_into_ = !options_.quirks.empty();
  other_commands_ = true;
}

// What is recorded for the commands, with the buffers at these addresses.
Status CommandBuffer::prepare(std::span<const DeviceAddress> addresses) {
  Recording commands = given_;
  if (Status looked = look_into_traced(addresses, commands); !looked) return looked;
  commands_ = options_.quirks.as_added(std::move(commands), quirk_context());
  make_launchable();
  parts_.clear();
  last_part_ = 0;
  if (unlaunchable_ != nullptr) split();
  if (!parts_.empty()) options_.errors(drop());  // what was launched until now, which is waited for
  take_traced();
  patch_quirks_ = options_.quirks.of_buffers(QuirkyUse::kSetInExec, commands_, quirk_context());
  prepared_ = true;
  return {};
}

// Traced commands of which every node is known become these; the others are opaque until the commands are prepared
// again.
Status CommandBuffer::look_into_traced(std::span<const DeviceAddress> addresses, Recording& commands) {
  inlined_.clear();
  for (NodeIndex i = 0; i < commands.nodes().size() && !options_.quirks.empty(); ++i) {
    std::shared_ptr<const TracedWork> work = traced_work_of(commands.nodes()[i]);
    if (work == nullptr || !work->shadows) continue;
    TracedWork opaque = *work;
    opaque.shadows.reset();
    RecordedNode becomes = traced_command(std::move(opaque));
    if (looks_into_) {
      Result<RecordedNode> known = known_command(api_, *work, addresses, options_.quirks);
      if (!known) {
        if (broken_) looks_into_ = false;  // twice in a row: it may be their shadows that they cannot be captured at
        return known.error();
      }
      if (!std::holds_alternative<OpaqueRecord>(known.value().record)) {
        becomes = std::move(known).value();
        if (options_.several_devices) {
          const Result<int> device = device_of(api_, *work);
          if (!device) return device.error();
          name_device(becomes.record, device.value());
        }
        inlined_.push_back({std::move(work), AddressTable(addresses.begin(), addresses.end())});
      }
    }
    commands.replace(i, std::move(becomes.record), {});
  }
  return {};
}

// Whether what became nodes may be something else with the buffers there.
bool CommandBuffer::stands_otherwise(std::span<const DeviceAddress> addresses) const {
  return std::any_of(inlined_.begin(), inlined_.end(),
                     [&](const Inlined& each) { return !same_footing(*each.work, each.at, addresses); });
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

// The commands in an order of theirs, as many in each executable graph as the release launches rightly as a chain. None
// where it launches one by itself wrongly: what has no order, say, is in no chain.
void CommandBuffer::split() {
  std::vector<Recording> parts(1);
  const std::vector<NodeIndex> order = node_order(commands_);
  if (order.size() != commands_.nodes().size()) return;  // a circle: the runtime refuses it
  const auto launched_wrongly = [this](const Recording& part) {
    return options_.quirks.of_launch(part, quirk_context()) != nullptr;
  };
  bool opaque = false;  // in the last part: no release launches a chain of other nodes wrongly
  for (std::size_t place = 0; place < order.size();) {
    std::vector<NodeIndex> together{order[place]};
    while (++place < order.size() && with_the_one_before(commands_.nodes()[order[place]])) {
      together.push_back(order[place]);
    }
    const std::size_t before = parts.back().nodes().size();
    const bool has_opaque = append(parts.back(), commands_, together);
    opaque = opaque || has_opaque;
    if (before == 0 || !opaque || !launched_wrongly(parts.back())) continue;
    while (parts.back().nodes().size() > before)
      parts.back().erase(static_cast<NodeIndex>(parts.back().nodes().size() - 1));
    opaque = append(parts.emplace_back(), commands_, together);
  }
  if (std::any_of(parts.begin(), parts.end(), launched_wrongly)) return;
  CommandBufferOptions options = options_;
  options.flatten = false;
  for (Recording& part : parts) {
    parts_.push_back(std::make_unique<CommandBuffer>(api_, options));
    parts_.back()->set(std::move(part));
    parts_.back()->looks_into_ = false;  // what is left of them is opaque
  }
  launched_by_ = launched_by_ == nullptr ? unlaunchable_ : launched_by_;
  unlaunchable_ = nullptr;
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
  for (const std::unique_ptr<CommandBuffer>& part : parts_) part->forget(buffer);
  if (buffer >= identities_.size()) return;  // no trace can hold it
  traces_.forget(identities_[buffer]);
  collectives_.forget(identities_[buffer]);
  identities_[buffer] += kNextIdentity;
}

Status CommandBuffer::drop() {
  patcher_.reset();
  set_calls_ = 0;
  if (exec_ == nullptr) return {};
  Status status = last_launch_.wait();
  status = both(std::move(status), destroy_exec(api_, std::exchange(exec_, nullptr)));
  return both(std::move(status), destroy_graph(api_, std::exchange(recorded_, {}).graph));
}

void CommandBuffer::count(const CommandStep& step) {
  ++counts_.decisions[static_cast<std::size_t>(step.decision)];
  ++counts_.reasons[static_cast<std::size_t>(step.reason)];
}

// What a command's work throws is an error of the step until that is over: peers count its rounds, and nothing of it
// may be taken for the next one's.
template <class Body>
auto CommandBuffer::caught(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    thrown_ = std::current_exception();
    return Error{hipErrorUnknown, "the work of a command threw"};
  }
}

Result<CommandStep> CommandBuffer::step(std::span<const DeviceAddress> addresses, const StreamRef& stream) {
  assert(addresses.size() >= buffers_);
  const Result<DeviceScope> scope = DeviceScope::enter(api_, options_.device, options_.errors);
  Status status = scope ? refuse_capture(stream, options_.quirks) : Status(scope.error());
  Result<CommandStep> step = get_ready(addresses, std::move(status));
  if (!step) broken_ = true;
  status = agree_to_launch(step ? Status() : Status(step.error()));
  if (status) {
    status = launch(stream);
    broken_ = broken_ || !status;
  }
  finish();
  add(counts_.traces, use_);
  if (!status) {
    ++counts_.failed;
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    return status.error();
  }
  count(step.value());
  return step;
}

// Everything but the launch. Comes to one round for each collective, whatever `status` is.
Result<CommandStep> CommandBuffer::get_ready(std::span<const DeviceAddress> addresses, Status status) {
  use_ = {};
  unrecorded_ = false;
  if (status && unsupported_ != nullptr) status = Error{hipErrorNotSupported, unsupported_};
  bool otherwise = false;
  if (status && prepared_ && (otherwise = stands_otherwise(addresses))) prepared_ = false;
  if (status && !prepared_) status = caught([&] { return prepare(addresses); });
  if (!prepared_ || unsupported_ != nullptr) {
    for (std::size_t i = 0; i < collective_count_ && options_.ranks != nullptr; ++i) {
      static_cast<void>(options_.ranks->all(false));  // an error is on its way already
    }
    return status.error();
  }
  other_commands_ = other_commands_ || otherwise;
  if (!parts_.empty()) return get_parts_ready(addresses, std::move(status));
  status = ask_collectives(addresses, std::move(status));
  Result<CommandStep> step = status ? caught([&] { return bring(addresses); }) : Result<CommandStep>(status.error());
  if (step) step.value().traces = use_;
  return step;
}

// The slowest way that one of them took is that of all.
Result<CommandStep> CommandBuffer::get_parts_ready(std::span<const DeviceAddress> addresses, Status status) {
  CommandStep all;
  for (const std::unique_ptr<CommandBuffer>& part : parts_) {
    const Result<CommandStep> one = part->get_ready(addresses, status);
    add(use_, part->use_);
    if (std::exception_ptr thrown = std::exchange(part->thrown_, nullptr)) thrown_ = std::move(thrown);
    if (!one) {
      part->broken_ = true;
      if (!status) continue;
      status = one.error();
      if (part->unrecorded_ && broken_ && !inlined_.empty()) looks_into_ = prepared_ = false;
      continue;
    }
    if (one.value().decision > all.decision) {
      all.decision = one.value().decision;
      all.reason = one.value().reason;
    }
    if (one.value().quirk != nullptr) all.quirk = one.value().quirk;
    all.patched.nodes += one.value().patched.nodes;
    all.patched.relocations += one.value().patched.relocations;
    all.patched.calls += one.value().patched.calls;
    all.patched.prepared += one.value().patched.prepared;
  }
  all.traces = use_;
  if (!status) return status.error();
  if (all.reason == StepReason::kFirst && stepped_) {
    all.reason = broken_ ? StepReason::kEarlierFailure : StepReason::kOtherCommands;
  }
  if (all.decision >= StepDecision::kUpdate && all.quirk == nullptr) all.quirk = launched_by_;
  other_commands_ = broken_ = false;
  stepped_ = true;
  return all;
}

Status CommandBuffer::launch(const StreamRef& stream) {
  if (parts_.empty()) return last_launch_.launch(exec_, stream);
  // The first comes behind the last that was launched, of a step that failed half-way as well.
  Status status = parts_[last_part_]->last_launch_.follow(stream);
  for (std::size_t i = 0; status && i < parts_.size(); ++i) {
    CommandBuffer& part = *parts_[i];
    status = part.last_launch_.launch(part.exec_, stream);
    if (status) last_part_ = i;
    part.broken_ = part.broken_ || !status;
  }
  return status;
}

void CommandBuffer::finish() {
  for (Traced& traced : traced_) {
    traced.graph.reset();  // the cache's, which is bounded
    traced.asked = false;
  }
  for (const std::unique_ptr<CommandBuffer>& part : parts_) part->finish();
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
      status = caught([&] { return ask(traced, addresses); });
    } else if (options_.ranks != nullptr) {
      static_cast<void>(options_.ranks->all(false));  // an error is on its way already
    }
  }
  use_.overruled = overruled() - before;
  return status;
}

Status CommandBuffer::agree_to_launch(Status status) {
  if (options_.ranks == nullptr || collective_count_ == 0) return status;
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
  if (broken_) return record(addresses, StepReason::kEarlierFailure);
  if (exec_ == nullptr && !stepped_) return record(addresses, StepReason::kFirst);
  if (exec_ == nullptr || other_commands_) return record(addresses, StepReason::kOtherCommands);
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
  if (const ReleaseQuirk* const grown = grown_by()) return record(addresses, StepReason::kRenewed, grown);
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
  set_calls_ += step.patched.calls + use_.handed_over;
  is_now(addresses);
  return step;
}

// The quirk by which the release has grown, where the graph was set that often.
const ReleaseQuirk* CommandBuffer::grown_by() const {
  return set_calls_ >= options_.renew_after ? options_.quirks.of_set_often() : nullptr;
}

// The quirk that a setter of this patch or a trace that is handed over would meet, or null.
const ReleaseQuirk* CommandBuffer::quirk_of_patch() const {
  const ReleaseQuirk* quirk = first_of(patch_quirks_, moves_);
  for (const Traced& traced : traced_) {
    if (quirk != nullptr) break;
    if (!traced.asked || traced.version == traced.held) continue;
    const RecordedNode& node = commands_.nodes()[traced.node];
    quirk = options_.quirks.of_set(QuirkyUse::kSetInExec, node, node, traced.node, quirk_context());
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

// Current while nodes are recorded or set that name none: the buffer's own, which is current, or the first where each
// node names its own.
Result<DeviceScope> CommandBuffer::nodes_device() const {
  return DeviceScope::enter_if(api_, options_.several_devices ? std::optional(0) : std::nullopt, options_.errors);
}

Result<RecordedGraph> CommandBuffer::record_nodes(std::span<const DeviceAddress> addresses) const {
  const Result<DeviceScope> scope = nodes_device();
  return scope ? record_graph(api_, commands_, addresses) : Result<RecordedGraph>(scope.error());
}

Result<CommandStep> CommandBuffer::record(std::span<const DeviceAddress> addresses, StepReason reason,
                                          const ReleaseQuirk* quirk) {
  for (Traced& traced : traced_) {
    if (traced.asked) continue;
    if (Status status = ask(traced, addresses); !status) return status.error();
  }
  Result<RecordedGraph> fresh = record_nodes(addresses);
  unrecorded_ = !fresh;
  if (!fresh) {
    // Twice in a row: it may be what is known of traced commands that cannot be recorded.
    if (broken_ && !inlined_.empty()) looks_into_ = prepared_ = false;
    return fresh.error();
  }
  bool may_update = options_.update && exec_ != nullptr && !broken_ && reason != StepReason::kTraceRefused;
  if (may_update && quirk == nullptr) {
    if (const ReleaseQuirk* const grown = grown_by()) {
      quirk = grown;
      reason = StepReason::kRenewed;
    } else if ((quirk = options_.quirks.of_update(before_, commands_, quirk_context())) != nullptr) {
      reason = StepReason::kQuirk;
    }
  }
  const bool keeps = !fresh.value().kept.empty() || !recorded_.kept.empty();  // which goes with its own graph
  may_update = may_update && quirk == nullptr && !keeps && !recorded_otherwise(before_, commands_);
  const bool updated = may_update && update(fresh.value());
  if (updated) {
    set_calls_ += commands_.nodes().size();
    options_.errors(destroy_graph(api_, fresh.value().graph));
  } else {
    if (Status status = replace(std::move(fresh).value()); !status) return status.error();
    if (may_update) reason = StepReason::kUpdateRefused;
  }
  is_now(addresses);
  for (Traced& traced : traced_) traced.held = traced.version;
  if (options_.update && !options_.quirks.empty()) before_ = commands_;
  other_commands_ = broken_ = false;
  stepped_ = true;
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
