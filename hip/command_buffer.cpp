#include "hip/command_buffer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "hip/device_scope.h"
#include "hip/flatten.h"
#include "hip/node_order.h"

namespace hip {
namespace {

// Whether the node, at any depth of its children, is a traced command.
bool holds_traced(const RecordedNode& node, bool only_collectives) {
  if (const std::shared_ptr<const TracedWork> work = traced_work_of(node)) return work->collective || !only_collectives;
  const auto* child = std::get_if<ChildRecord>(&node.record);
  if (child == nullptr) return false;
  const auto inner = child->graph->nodes();
  return std::ranges::any_of(inner, [&](const RecordedNode& each) { return holds_traced(each, only_collectives); });
}
bool in_a_child(const Recording& commands, bool only_collectives) {
  return std::ranges::any_of(commands.nodes(), [&](const RecordedNode& node) {
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

// Appends these nodes to a chain, and returns whether one of them is opaque.
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

// Names the device in the nodes of a child that were captured on its stream: where there are several devices, each node
// names its own.
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

// Refuses a step on a capturing stream if the release would launch at once instead of capturing the launch.
Status refuse_capture(const StreamRef& stream, const ReleaseQuirks& quirks) {
  if (quirks.of_captured_launch() == nullptr) return {};
  const Result<bool> captures = stream.capturing();
  // The null stream beside a capture of a stream that is ordered with it: it does not capture, and the launch is
  // refused and makes that capture invalid.
  if (!captures && captures.error().code == hipErrorStreamCaptureImplicit) return {};
  if (!captures) return captures.error();
  if (!captures.value()) return {};
  return Error{hipErrorStreamCaptureUnsupported, "this release launches into captures: hip/captured_launch.h does not"};
}

std::size_t count_traced(const Recording& commands, bool collective) {
  return static_cast<std::size_t>(std::ranges::count_if(commands.nodes(), [&](const RecordedNode& node) {
    const std::shared_ptr<const TracedWork> work = traced_work_of(node);
    return work != nullptr && work->collective == collective;
  }));
}

// Flattens and chains the commands where the release launches them wrongly as they are.
LaunchableCommands made_launchable(Recording commands, const CommandBufferOptions& options) {
  const QuirkContext context = quirk_context(options);
  LaunchableCommands made{std::move(commands)};
  made.unlaunchable = options.quirks.of_launch(made.commands, context);
  const auto now = [&](Recording changed) {
    made.launched_by = made.launched_by == nullptr ? made.unlaunchable : made.launched_by;
    made.commands = std::move(changed);
    made.unlaunchable = options.quirks.of_launch(made.commands, context);
  };
  // The quirk may be that of a node in a child graph, so child graphs are flattened first.
  const bool by_others = made.unlaunchable != nullptr && others_stand_for(made.unlaunchable->way);
  Places places;
  if (by_others || (made.unlaunchable != nullptr && made.commands.child_depth() > 0)) {
    now(flattened(made.commands, places, options.quirks.spelling(context, options.errors)));
  }
  if (made.unlaunchable != nullptr && made.unlaunchable->way == QuirkWay::kChain) now(chained(made.commands));
  return made;
}

// Splits the commands, in an order that honours their dependencies, into chains that the release launches rightly.
// Empty if there is no such order (a circle), or if the release launches even a part of a single command wrongly.
std::vector<Recording> parts_of(const Recording& commands, const CommandBufferOptions& options) {
  std::vector<Recording> parts(1);
  const std::vector<NodeIndex> order = node_order(commands);
  if (order.size() != commands.nodes().size()) return {};  // a circle: the runtime refuses it
  const auto launched_wrongly = [&](const Recording& part) {
    return options.quirks.of_launch(part, quirk_context(options)) != nullptr;
  };
  bool opaque = false;  // in the last part: every release launches a chain of other nodes rightly
  for (std::size_t place = 0; place < order.size();) {
    std::vector<NodeIndex> together{order[place]};
    while (++place < order.size() && with_the_one_before(commands.nodes()[order[place]])) {
      together.push_back(order[place]);
    }
    const std::size_t before = parts.back().nodes().size();
    const bool has_opaque = append(parts.back(), commands, together);
    opaque = opaque || has_opaque;
    if (before == 0 || !opaque || !launched_wrongly(parts.back())) continue;
    while (parts.back().nodes().size() > before)
      parts.back().erase(static_cast<NodeIndex>(parts.back().nodes().size() - 1));
    opaque = append(parts.emplace_back(), commands, together);
  }
  if (std::ranges::any_of(parts, launched_wrongly)) return {};
  return parts;
}

// Adds the outcome of one part to the outcome of all: the slowest decision of the parts is the decision of the step.
void add(CommandStep& all, const CommandStep& one) {
  if (one.decision > all.decision) {
    all.decision = one.decision;
    all.reason = one.reason;
  }
  if (one.quirk != nullptr) all.quirk = one.quirk;
  all.patched.nodes += one.patched.nodes;
  all.patched.relocations += one.patched.relocations;
  all.patched.calls += one.patched.calls;
  all.patched.prepared += one.patched.prepared;
}

}  // namespace

CommandBuffer::CommandBuffer(const Api& api, const CommandBufferOptions& options)
    : api_(api), options_(options), traces_(options_), whole_(api, options_, traces_, counts_.transitions.ways) {
  set({});
}

// ---- the commands

void CommandBuffer::set(Recording commands) {
  given_ = options_.flatten || nests_traced(commands) ? flattened(commands) : std::move(commands);
  // HIP does not document graphs without nodes.
  if (given_.nodes().empty()) given_.add({EmptyRecord{}, {}, {}});
  buffers_ = given_.buffer_count();
  collective_count_ = count_traced(given_, true);
  whole_.expect(buffers_, count_traced(given_, false), collective_count_);
  unsupported_ = given_.has_memory_nodes()  ? "a command buffer cannot keep memory that its graph allocates"
                 : nests_collective(given_) ? "a collective in a child graph that cannot be flattened"
                                            : nullptr;
  take(unsupported_ == nullptr ? CommandsEvent::kSet : CommandsEvent::kSetUnsupported);
  take(graph_, GraphEvent::kOtherCommands);
}

bool CommandBuffer::ready() const {
  return commands_.state() == CommandsState::kReady || commands_.state() == CommandsState::kReadyOpaque;
}

// Makes the commands to record from the given commands, with the buffers at these addresses.
Status CommandBuffer::prepare(std::span<const DeviceAddress> addresses) {
  Recording commands = given_;
  if (Status looked = look_into_traced(addresses, commands); !looked) return looked;
  LaunchableCommands made =
      made_launchable(options_.quirks.as_added(std::move(commands), quirk_context(options_)), options_);
  parts_.clear();
  last_part_ = 0;
  if (made.unlaunchable != nullptr) split(made);
  if (!parts_.empty()) options_.errors(whole_.drop());  // it was launched until now: drop() waits for it
  whole_.take(std::move(made));
  take(CommandsEvent::kPrepared);
  return {};
}

// Replaces each traced command by its nodes if differential capture knows every node. The other traced commands are
// opaque until the commands are prepared again.
Status CommandBuffer::look_into_traced(std::span<const DeviceAddress> addresses, Recording& commands) {
  inlined_.clear();
  for (NodeIndex i = 0; i < commands.nodes().size() && !options_.quirks.empty(); ++i) {
    std::shared_ptr<const TracedWork> work = traced_work_of(commands.nodes()[i]);
    if (work == nullptr || !work->shadows) continue;
    TracedWork opaque = *work;
    opaque.shadows.reset();
    RecordedNode becomes = traced_command(std::move(opaque));
    if (commands_.state() == CommandsState::kGiven) {
      Result<RecordedNode> known = looked_into(*work, addresses);
      if (!known) return known.error();
      if (!std::holds_alternative<OpaqueRecord>(known.value().record)) {
        becomes = std::move(known).value();
        inlined_.push_back({std::move(work), AddressTable(addresses.begin(), addresses.end())});
      }
    }
    commands.replace(i, std::move(becomes.record), {});
  }
  return {};
}

// The node that replaces the traced command; an opaque node if differential capture does not know all of its work.
Result<RecordedNode> CommandBuffer::looked_into(const TracedWork& work, std::span<const DeviceAddress> addresses) {
  Result<RecordedNode> known = known_command(api_, work, addresses, options_.quirks);
  if (!known) {
    // The second failure in a row: capturing at the shadow addresses may be what fails.
    if (has_failed(graph_.state())) take(CommandsEvent::kGivenUp);
    return known;
  }
  if (std::holds_alternative<OpaqueRecord>(known.value().record) || !options_.several_devices) return known;
  const Result<int> device = device_of(api_, work);
  if (!device) return device.error();
  name_device(known.value().record, device.value());
  return known;
}

// Whether known commands may become other nodes with their buffers at these addresses.
bool CommandBuffer::stands_otherwise(std::span<const DeviceAddress> addresses) const {
  return std::ranges::any_of(inlined_,
                             [&](const Inlined& each) { return !same_footing(*each.work, each.at, addresses); });
}

// Splits the commands into parts, if the release launches the parts rightly.
void CommandBuffer::split(LaunchableCommands& commands) {
  for (Recording& part : parts_of(commands.commands, options_)) {
    auto traces = std::make_unique<CommandTraces>(options_);
    auto graph = std::make_unique<CommandGraph>(api_, options_, *traces, counts_.transitions.ways);
    graph->expect(part.buffer_count(), count_traced(part, false), count_traced(part, true));
    // Flattening may have made nodes that as_added() has not seen.
    graph->take({options_.quirks.as_added(std::move(part), quirk_context(options_))});
    parts_.push_back({std::move(traces), std::move(graph)});
  }
  if (parts_.empty()) return;
  commands.launched_by = commands.launched_by == nullptr ? commands.unlaunchable : commands.launched_by;
  commands.unlaunchable = nullptr;
}

void CommandBuffer::forget(BufferIndex buffer) {
  for (const Part& part : parts_) part.graph->forget(buffer);
  whole_.forget(buffer);
}

// ---- a step

Result<CommandStep> CommandBuffer::step(std::span<const DeviceAddress> addresses, const StreamRef& stream) {
  assert(addresses.size() >= buffers_);
  const Result<DeviceScope> scope = DeviceScope::enter(api_, options_.device, options_.errors);
  Status status = scope ? refuse_capture(stream, options_.quirks) : Status(scope.error());
  Step step{addresses};
  Result<CommandStep> ready = get_ready(step, std::move(status));
  take(graph_, ready ? GraphEvent::kBrought : GraphEvent::kFailed);
  status = agree_to_launch(ready ? Status() : Status(ready.error()));
  if (status) {
    status = launch(stream);
    if (!status) take(graph_, GraphEvent::kFailed);
  }
  finish();
  add(counts_.traces, step.use);
  if (!status) {
    ++counts_.failed;
    if (step.thrown) std::rethrow_exception(std::move(step.thrown));
    return status.error();
  }
  count(ready.value());
  return ready;
}

// Everything but the launch. Comes to one round for each collective, whatever `status` is.
Result<CommandStep> CommandBuffer::get_ready(Step& step, Status status) {
  if (status && commands_.state() == CommandsState::kUnsupported) status = Error{hipErrorNotSupported, unsupported_};
  const bool otherwise = status && ready() && stands_otherwise(step.addresses);
  if (otherwise) take(CommandsEvent::kFootingMoved);
  if (status && !ready()) status = step.caught([&] { return prepare(step.addresses); });
  if (!ready()) {
    for (std::size_t i = 0; i < collective_count_ && options_.ranks != nullptr; ++i) {
      static_cast<void>(options_.ranks->all(false));  // `status` is an error already
    }
    return status.error();
  }
  if (otherwise) take(graph_, GraphEvent::kOtherCommands);
  if (!parts_.empty()) return get_parts_ready(step, std::move(status));
  step.begins = graph_.state();
  Result<CommandStep> ready = whole_.get_ready(step, std::move(status));
  if (!ready) give_up_after(step);
  return ready;
}

Result<CommandStep> CommandBuffer::get_parts_ready(Step& step, Status status) {
  CommandStep all;
  for (Part& part : parts_) {
    Step one{step.addresses, part.state.state()};
    const Result<CommandStep> ready = part.graph->get_ready(one, status);
    take(part.state, ready ? GraphEvent::kBrought : GraphEvent::kFailed);
    add(step.use, one.use);
    if (one.thrown) step.thrown = std::move(one.thrown);
    if (ready) {
      add(all, ready.value());
    } else if (status) {
      status = ready.error();
      give_up_after(one);
    }
  }
  if (!status) return status.error();
  all.traces = step.use;
  if (all.reason == StepReason::kFirst) {
    // The parts are new, but the command buffer may have had an executable graph before.
    if (graph_.state() == GraphState::kFailed) all.reason = StepReason::kEarlierFailure;
    if (graph_.state() == GraphState::kCurrent || graph_.state() == GraphState::kOutdated) {
      all.reason = StepReason::kOtherCommands;
    }
  }
  if (all.decision >= StepDecision::kUpdate && all.quirk == nullptr) all.quirk = whole_.launched_by();
  return all;
}

// The second failure in a row: nodes of known traced commands may be what cannot be recorded.
void CommandBuffer::give_up_after(const Step& failed) {
  if (failed.unrecorded && has_failed(graph_.state()) && !inlined_.empty()) take(CommandsEvent::kGivenUp);
}

Status CommandBuffer::agree_to_launch(Status status) {
  if (options_.ranks == nullptr || collective_count_ == 0) return status;
  const Result<bool> all = options_.ranks->all(status.ok());
  if (!status) return status;
  if (!all) return all.error();
  if (!all.value()) return Error{hipErrorNotReady, "a peer could not get ready: no rank launches; try again together"};
  return {};
}

Status CommandBuffer::launch(const StreamRef& stream) {
  if (parts_.empty()) return whole_.launch(stream);
  // The first part comes behind the part that was launched last, also after a step that failed half-way.
  Status status = parts_[last_part_].graph->follow(stream);
  for (std::size_t i = 0; status && i < parts_.size(); ++i) {
    status = parts_[i].graph->launch(stream);
    if (status) last_part_ = i;
    if (!status) take(parts_[i].state, GraphEvent::kFailed);
  }
  return status;
}

void CommandBuffer::finish() {
  whole_.finish();
  for (const Part& part : parts_) part.graph->finish();
}

void CommandBuffer::count(const CommandStep& step) {
  ++counts_.decisions[static_cast<std::size_t>(step.decision)];
  ++counts_.reasons[static_cast<std::size_t>(step.reason)];
}

}  // namespace hip
