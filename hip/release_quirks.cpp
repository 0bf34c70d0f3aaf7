#include "hip/release_quirks.h"

#include <algorithm>
#include <optional>

#include "hip/by_host.h"
#include "hip/in_rows.h"
#include "hip/node_order.h"
#include "hip/spread/stream_spread.h"

namespace hip {
namespace {

using Use = QuirkyUse;
using Node = QuirkyNode;
using State = QuirkyState;

constexpr std::size_t kManyDependents = 5;
constexpr std::size_t kManyLeaves = 8, kManyLeavesFrom = 14;

// In the order in which they are tried.
constexpr ReleaseQuirk kQuirks[] = {
#include "findings/ways.inc"
};

bool by_host_itself(const NodeRecord& record) {
  const auto* opaque = std::get_if<OpaqueRecord>(&record);
  return opaque != nullptr && opaque->by_host;
}

bool may_be_child(const NodeRecord& record) {
  const auto* opaque = std::get_if<OpaqueRecord>(&record);
  if (opaque == nullptr) return std::holds_alternative<ChildRecord>(record);
  return !opaque->kernel && !opaque->by_host;
}

QuirkyNode kind_for(const NodeRecord& record) {
  // Work that a library enqueued becomes a child.
  if (may_be_child(record)) return Node::kChild;
  if (by_host_itself(record)) return Node::kHost;
  if (std::holds_alternative<KernelRecord>(record) || std::holds_alternative<OpaqueRecord>(record)) {
    return Node::kKernel;
  }
  if (std::holds_alternative<CopyRecord>(record)) return Node::kCopy;
  if (std::holds_alternative<MemsetRecord>(record)) return Node::kMemset;
  if (std::holds_alternative<EmptyRecord>(record)) return Node::kEmpty;
  if (std::holds_alternative<BatchRecord>(record)) return Node::kBatch;
  return std::holds_alternative<HostRecord>(record) ? Node::kHost : Node::kAny;
}

// Which memory the ends of a copy may be of, and must be of, as far as is known.
struct Ends {
  bool may_be_pageable = false, must_be_pageable = false, must_be_from_pageable = false, may_be_between_hosts = true;
  bool may_be_between_pageable = true, may_be_managed = false, may_be_mixed = false;
};

BufferMemory memory_of(const QuirkContext& context, BufferIndex buffer) {
  return context.memory ? context.memory(buffer) : BufferMemory::kUnknown;
}

Ends ends_of(const RecordedNode& node, const QuirkContext& context) {
  Ends ends;
  std::size_t named = 0;
  bool may_be_other = false;  // an end may be of memory that is not pageable
  for (const Relocation& relocation : node.relocations) {
    ++named;
    const BufferMemory memory = memory_of(context, relocation.buffer);
    const bool unknown = memory == BufferMemory::kUnknown;
    ends.must_be_from_pageable |= relocation.field == Field::kCopySource && memory == BufferMemory::kPageable;
    ends.may_be_pageable |= memory == BufferMemory::kPageable || unknown;
    ends.must_be_pageable |= memory == BufferMemory::kPageable;
    ends.may_be_between_hosts &= memory != BufferMemory::kDevice && memory != BufferMemory::kGraph;
    ends.may_be_between_pageable &= memory == BufferMemory::kPageable || unknown;
    ends.may_be_managed |= memory == BufferMemory::kManaged || unknown;
    may_be_other |= memory != BufferMemory::kPageable;
  }
  const bool unnamed = named < 2;  // an end that no relocation names
  ends.may_be_pageable |= unnamed;
  ends.may_be_managed |= unnamed;
  ends.may_be_mixed = ends.may_be_pageable && (may_be_other || unnamed);
  return ends;
}

void add_copy(const RecordedNode& node, const QuirkContext& context, QuirkyStates& states) {
  const auto& copy = std::get<CopyRecord>(node.record);
  const bool linear = copy.linear, of_symbol = copy.symbol.symbol != nullptr;
  const hipMemcpyKind kind = copy.params.kind;
  const Ends ends = ends_of(node, context);
  states.add(State::kLinear, linear);
  states.add(State::kShaped, !linear);
  states.add(State::kPageable, ends.may_be_pageable);
  states.add(State::kBetweenHosts, ends.may_be_between_hosts);
  states.add(State::kBetweenPageable, ends.may_be_between_pageable);
  const bool mixed = ends.may_be_mixed && ends.may_be_between_hosts && !of_symbol;
  states.add(State::kMixedHosts, kind == hipMemcpyHostToHost && mixed);
  states.add(State::kWithinDevice, kind == hipMemcpyDeviceToDevice);
  states.add(State::kManaged, ends.may_be_managed);
  // kFromPageable does not hold of unknown memory: no direction can be named for it, and the host cannot copy from it.
  // Nor with several devices: the copy from pinned memory may go to another device than the launching stream's, and is
  // wrong there.
  states.add(State::kFromPageable, ends.must_be_from_pageable && host_can_do(node.record) && !context.several_devices);
  states.add(State::kSymbolByDefault, of_symbol && kind == hipMemcpyDefault && ends.must_be_pageable);
}

std::vector<std::vector<NodeIndex>> dependencies_of(const Recording& recording) {
  std::vector<std::vector<NodeIndex>> dependencies;
  for (const RecordedNode& node : recording.nodes()) dependencies.push_back(node.dependencies);
  return dependencies;
}

bool has_other_device(const Recording& recording) {
  return std::ranges::any_of(recording.nodes(), [](const RecordedNode& node) {
    const auto* child = std::get_if<ChildRecord>(&node.record);
    return child != nullptr ? has_other_device(*child->graph) : device_of(node.record) != 0;
  });
}

// The states of a node that do not depend on other nodes.
QuirkyStates states_of(const RecordedNode& node, const QuirkContext& context) {
  QuirkyStates states;
  states.add(State::kSeveralDevices, context.several_devices);
  states.add(State::kDriver, form_of(node) == NodeForm::kDriver);
  states.add(State::kGraphMemory, std::ranges::any_of(node.relocations, [&](const Relocation& relocation) {
               return memory_of(context, relocation.buffer) == BufferMemory::kGraph;
             }));
  if (const auto* memset = std::get_if<MemsetRecord>(&node.record)) {
    states.add(State::kSeveralRows, memset->params.height > 1);
    states.add(State::kLargeElements, memset->params.elementSize > 1);
    states.add(State::kUncutValue, cut_value(memset->params) != memset->params.value);
    states.add(State::kPinned,
               host_can_do(node.record) && std::ranges::any_of(node.relocations, [&](const Relocation& to) {
                 return memory_of(context, to.buffer) == BufferMemory::kPinned;
               }));
  } else if (const auto* copy = std::get_if<CopyRecord>(&node.record)) {
    states.add(State::kToSymbol, copy->symbol.symbol != nullptr && copy->symbol.to);
    add_copy(node, context, states);
  } else if (const auto* child = std::get_if<ChildRecord>(&node.record)) {
    states.add(State::kNested, child->graph->child_depth() > 0);
    states.add(State::kOtherDevice, has_other_device(*child->graph));
  } else if (may_be_child(node.record)) {
    states.add(State::kNested);  // it may be, as far as is known
    states.add(State::kNotKnown);
  }
  return states;
}

bool same_ends(const RecordedNode& was, const RecordedNode& now) {
  return std::ranges::equal(was.relocations, now.relocations, [](const Relocation& a, const Relocation& b) {
    return a.field == b.field && a.buffer == b.buffer;
  });
}

// Adds the states for setting the node `was` to `now`. kOtherFamily: the node was added by the driver's functions and
// is set by others, or the other way round.
void add_change(const RecordedNode& was, const RecordedNode& now, const QuirkContext& context, QuirkyStates& states) {
  states.add(State::kDriver, form_of(was) == NodeForm::kDriver);
  states.add(State::kGeneric, now.form == NodeForm::kGeneric);
  const auto *before = std::get_if<CopyRecord>(&was.record), *after = std::get_if<CopyRecord>(&now.record);
  if (before == nullptr || after == nullptr) return;
  states.add(State::kOtherForm, before->linear != after->linear);
  states.add(State::kOtherFamily, (form_of(was) == NodeForm::kDriver) != (form_of(now) == NodeForm::kDriver));
  const Ends old = ends_of(was, context), fresh = ends_of(now, context);
  const bool known_to_stay = (old.must_be_pageable && fresh.must_be_pageable) ||
                             (!old.may_be_pageable && !fresh.may_be_pageable) || same_ends(was, now);
  states.add(State::kOtherPageable, !known_to_stay);
}

// Whether the edges that connect() added are the same, in the same order: runtimes pair nodes by that order.
bool same_connections(const Recording& from, const Recording& to) {
  return std::ranges::equal(from.connections(), to.connections(), [](const auto& a, const auto& b) {
    return a.from == b.from && a.to == b.to && a.nodes_before == b.nodes_before;
  });
}

bool same_shape(const Recording& from, const Recording& to) {
  const auto same_node = [](const RecordedNode& a, const RecordedNode& b) {
    if (a.record.index() != b.record.index() || a.dependencies != b.dependencies) return false;
    const auto* kernel = std::get_if<KernelRecord>(&a.record);
    if (kernel != nullptr && kernel->function != std::get<KernelRecord>(b.record).function) return false;
    const auto* child = std::get_if<ChildRecord>(&a.record);
    return child == nullptr || same_shape(*child->graph, *std::get<ChildRecord>(b.record).graph);
  };
  return same_connections(from, to) && std::ranges::equal(from.nodes(), to.nodes(), same_node);
}

// Notes the entry for each buffer that the node holds, at any depth, unless the buffer has an entry already.
void note(const ReleaseQuirk* quirk, const RecordedNode& node, std::vector<const ReleaseQuirk*>& of_buffers) {
  for (const Relocation& at : node.relocations) {
    if (of_buffers[at.buffer] == nullptr) of_buffers[at.buffer] = quirk;
  }
  const auto* child = std::get_if<ChildRecord>(&node.record);
  if (child == nullptr) return;
  for (const RecordedNode& each : child->graph->nodes()) note(quirk, each, of_buffers);
}

void add_disabled(NodeIndex node, const QuirkContext& context, QuirkyStates& states) {
  states.add(State::kDisabled, context.disabled.contains(node));
  states.add(State::kBesideDisabled, !context.disabled.empty());
}

// Changes the node so that it is recorded and set in this way, which the release does rightly.
void take_way(QuirkWay way, RecordedNode& node) {
  if (way == QuirkWay::kTyped) {
    node.form = NodeForm::kTyped;
    return;
  }
  if (way == QuirkWay::kCutValue) {
    hipMemsetParams& params = std::get<MemsetRecord>(node.record).params;
    params.value = cut_value(params);
    return;
  }
  auto& copy = std::get<CopyRecord>(node.record);
  copy.asked = kind_asked(copy);
  const hipMemcpyKind direction = copy.symbol.to ? hipMemcpyHostToDevice : hipMemcpyDeviceToHost;
  copy.params.kind = way == QuirkWay::kByDirection ? direction : hipMemcpyDefault;
}

bool is_to_host(const RecordedNode& node, const QuirkContext& context) {
  return std::ranges::any_of(node.relocations, [&](const Relocation& to) {
    const BufferMemory memory = memory_of(context, to.buffer);
    const bool of_host =
        memory == BufferMemory::kPinned || memory == BufferMemory::kPageable || memory == BufferMemory::kManaged;
    return to.field == Field::kCopyDestination && of_host;
  });
}

// The context for the nodes of a child, none of which can be disabled.
QuirkContext inside(const QuirkContext& context) {
  return {context.memory, {}, context.several_devices};
}

}  // namespace

unsigned cut_value(const hipMemsetParams& params) {
  constexpr unsigned kBitsOfByte = 8;
  const bool all = params.elementSize == 0 || params.elementSize >= sizeof params.value;
  return all ? params.value : params.value & ((1U << (params.elementSize * kBitsOfByte)) - 1);
}

bool others_stand_for(QuirkWay way) {
  return way == QuirkWay::kRows || way == QuirkWay::kByHost;
}

std::span<const ReleaseQuirk> release_quirks() {
  return kQuirks;
}

ReleaseQuirks ReleaseQuirks::of_version(int runtime_version) {
  const std::optional<Release> release = find_release(release_name_of(runtime_version));
  const bool nvidia = is_cuda_version(runtime_version);
  ReleaseQuirks quirks;
  for (const ReleaseQuirk& quirk : kQuirks) {
    const bool of_vendor = nvidia ? quirk.releases.has_nvidia() : quirk.releases.has_amd();
    if (release ? quirk.releases.has(*release) : of_vendor) quirks.entries_.push_back(&quirk);
  }
  return quirks;
}

const ReleaseQuirk* ReleaseQuirks::find(QuirkyUse use, QuirkyNode node, QuirkyStates states) const {
  const auto found = std::ranges::find_if(entries_, [&](const ReleaseQuirk* each) {
    return each->use == use && each->node == node && states.includes(each->states);
  });
  return found == entries_.end() ? nullptr : *found;
}

const ReleaseQuirk* ReleaseQuirks::of_set(QuirkyUse use, const RecordedNode& was, const RecordedNode& now,
                                          NodeIndex index, const QuirkContext& context) const {
  QuirkyStates states = states_of(now, context);
  add_change(was, now, context, states);
  add_disabled(index, context, states);
  if (const ReleaseQuirk* quirk = find(use, kind_for(now.record), states)) return quirk;
  return of_set_inside(use, was, now, context);
}

// The quirks of setting a child graph node. That sets the nodes of the old child graph to the nodes of the new one, one
// by one, so the quirks of setting nodes of a graph apply as well.
const ReleaseQuirk* ReleaseQuirks::of_set_inside(QuirkyUse use, const RecordedNode& was, const RecordedNode& now,
                                                 const QuirkContext& context) const {
  const auto *before = std::get_if<ChildRecord>(&was.record), *after = std::get_if<ChildRecord>(&now.record);
  if (after == nullptr || entries_.empty()) return nullptr;
  const QuirkContext inner = inside(context);
  const auto nodes = after->graph->nodes();
  for (NodeIndex i = 0; i < nodes.size(); ++i) {
    const bool paired = before != nullptr && i < before->graph->nodes().size() &&
                        before->graph->nodes()[i].record.index() == nodes[i].record.index();
    const RecordedNode& old = paired ? before->graph->nodes()[i] : nodes[i];
    if (const ReleaseQuirk* quirk = of_set(use, old, nodes[i], i, inner)) return quirk;
    if (const ReleaseQuirk* quirk = of_set(Use::kSetInGraph, old, nodes[i], i, inner)) return quirk;
  }
  return nullptr;
}

const ReleaseQuirk* ReleaseQuirks::of_patch(QuirkyUse use, const Recording& recording, std::span<const Move> moves,
                                            const QuirkContext& context) const {
  return first_of(of_buffers(use, recording, context), moves);
}

std::vector<const ReleaseQuirk*> ReleaseQuirks::of_buffers(QuirkyUse use, const Recording& recording,
                                                           const QuirkContext& context) const {
  std::vector<const ReleaseQuirk*> all;
  if (entries_.empty()) return all;
  all.resize(recording.buffer_count(), nullptr);
  add_of_buffers(use, recording, context, all);
  return all;
}

void ReleaseQuirks::add_of_buffers(QuirkyUse use, const Recording& recording, const QuirkContext& context,
                                   std::vector<const ReleaseQuirk*>& all) const {
  for (NodeIndex i = 0; i < recording.nodes().size(); ++i) {
    const RecordedNode& node = recording.nodes()[i];
    QuirkyStates states = states_of(node, context);
    add_disabled(i, context, states);
    if (const ReleaseQuirk* quirk = find(use, kind_for(node.record), states)) note(quirk, node, all);
    const auto* child = std::get_if<ChildRecord>(&node.record);
    // Nodes of children are set by setters of a graph, also if the parent's nodes are set in an executable graph.
    if (child != nullptr) add_of_buffers(Use::kSetInGraph, *child->graph, inside(context), all);
  }
}

const ReleaseQuirk* first_of(std::span<const ReleaseQuirk* const> of_buffers, std::span<const Move> moves) {
  for (const Move& move : moves) {
    if (move.from == move.to || move.buffer >= of_buffers.size()) continue;
    if (const ReleaseQuirk* quirk = of_buffers[move.buffer]) return quirk;
  }
  return nullptr;
}

const ReleaseQuirk* ReleaseQuirks::of_read(const RecordedNode& node) const {
  return find(Use::kRead, kind_for(node.record), states_of(node, {}));
}

const ReleaseQuirk* ReleaseQuirks::of_update(const Recording& from, const Recording& to,
                                             const QuirkContext& context) const {
  if (entries_.empty()) return nullptr;
  QuirkyStates whole;
  whole.add(State::kOtherShape, !same_shape(from, to));
  whole.add(State::kSeveralDevices, context.several_devices);
  if (const ReleaseQuirk* quirk = find(Use::kUpdate, Node::kAny, whole)) return quirk;
  for (NodeIndex i = 0; i < to.nodes().size(); ++i) {
    const RecordedNode& now = to.nodes()[i];
    QuirkyStates states = states_of(now, context);
    if (i < from.nodes().size()) add_change(from.nodes()[i], now, context, states);
    add_disabled(i, context, states);
    if (const ReleaseQuirk* quirk = find(Use::kUpdate, kind_for(now.record), states)) return quirk;
    const auto* child = std::get_if<ChildRecord>(&now.record);
    if (child == nullptr || child->graph->nodes().empty()) continue;
    const auto* before = i < from.nodes().size() ? std::get_if<ChildRecord>(&from.nodes()[i].record) : nullptr;
    const Recording& old = before != nullptr ? *before->graph : *child->graph;
    if (const ReleaseQuirk* quirk = of_update(old, *child->graph, inside(context))) return quirk;
  }
  return nullptr;
}

const ReleaseQuirk* ReleaseQuirks::of_launch(const Recording& recording, const QuirkContext& context) const {
  if (entries_.empty()) return nullptr;
  const auto nodes = recording.nodes();
  for (const RecordedNode& node : nodes) {
    if (const ReleaseQuirk* quirk = of_node(node, context)) return quirk;
  }
  std::vector<std::size_t> dependents(nodes.size(), 0);
  std::size_t roots = 0;
  for (const RecordedNode& node : nodes) {
    roots += node.dependencies.empty() ? 1 : 0;
    for (const NodeIndex before : node.dependencies) ++dependents[before];
  }
  // The nodes of a chain run one after the other: no release orders them wrongly.
  const auto single = [](const RecordedNode& node) {
    return node.dependencies.size() <= 1 && !may_be_child(node.record);
  };
  const bool chain = roots == 1 && std::ranges::all_of(nodes, single) && *std::ranges::max_element(dependents) <= 1;
  if (chain) return nullptr;
  QuirkyStates whole;
  whole.add(State::kManyNodes, nodes.size() >= kSpreadNodes);
  whole.add(State::kSeveralRoots, roots > 1);
  const std::size_t most = dependents.empty() ? 0 : *std::ranges::max_element(dependents);
  whole.add(State::kManyDependents, most >= kManyDependents);
  const auto leaves = std::ranges::count(dependents, std::size_t{0});
  const bool shared_queues = nodes.size() >= kManyLeavesFrom && nodes.size() < kSpreadNodes;
  whole.add(State::kManyLeaves, shared_queues && static_cast<std::size_t>(leaves) >= kManyLeaves);
  whole.add(State::kBranches, roots > 1 || most > 1);
  whole.add(State::kSeveralDevices, context.several_devices);
  whole.add(State::kStreamLeftOut, leaves_stream_out(dependencies_of(recording)));
  if (const ReleaseQuirk* quirk = find(Use::kLaunch, Node::kAny, whole)) return quirk;
  for (NodeIndex i = 0; i < nodes.size(); ++i) {
    QuirkyStates states = states_of(nodes[i], context);
    states.add(State::kManyNodes, whole.has(State::kManyNodes));
    states.add(State::kFollowed, dependents[i] != 0);
    if (const ReleaseQuirk* quirk = find(Use::kLaunch, kind_for(nodes[i].record), states)) return quirk;
    const auto* child = std::get_if<ChildRecord>(&nodes[i].record);
    if (child == nullptr) continue;
    if (const ReleaseQuirk* quirk = of_launch(*child->graph, context)) return quirk;
  }
  return nullptr;
}

// As of_add(), without the nodes inside the node.
const ReleaseQuirk* ReleaseQuirks::of_add_itself(const RecordedNode& node, const QuirkContext& context) const {
  QuirkyStates states = states_of(node, context);
  states.add(State::kGeneric, node.form == NodeForm::kGeneric);
  return find(Use::kAdd, kind_for(node.record), states);
}

const ReleaseQuirk* ReleaseQuirks::of_add(const RecordedNode& node, const QuirkContext& context) const {
  if (const ReleaseQuirk* quirk = of_add_itself(node, context)) return quirk;
  const auto* child = std::get_if<ChildRecord>(&node.record);
  if (child == nullptr) return nullptr;
  for (const RecordedNode& inner : child->graph->nodes()) {
    if (const ReleaseQuirk* quirk = of_add(inner, context)) return quirk;
  }
  return nullptr;
}

RecordedNode ReleaseQuirks::as_added(RecordedNode node, const QuirkContext& context) const {
  if (of_add(node, context) == nullptr) return node;
  if (const ReleaseQuirk* quirk = of_add_itself(node, context)) take_way(quirk->way, node);
  if (auto* child = std::get_if<ChildRecord>(&node.record)) {
    child->graph = std::make_shared<const Recording>(as_added(*child->graph, context));
  }
  return node;
}

Recording ReleaseQuirks::as_added(Recording recording, const QuirkContext& context) const {
  for (NodeIndex i = 0; i < recording.nodes().size(); ++i) {
    if (of_add(recording.nodes()[i], context) == nullptr) continue;
    RecordedNode node = as_added(recording.nodes()[i], context);
    recording.set_form(i, node.form);
    recording.replace(i, std::move(node.record), std::move(node.relocations));
  }
  return recording;
}

const ReleaseQuirk* ReleaseQuirks::of_follow_capturing() const {
  return find(Use::kFollow, Node::kAny, {State::kLastCaptures});
}

// The entry by which a node has to be replaced by other nodes, which does not depend on the graph around it.
const ReleaseQuirk* ReleaseQuirks::of_node(const RecordedNode& node, const QuirkContext& context) const {
  const ReleaseQuirk* quirk = find(Use::kLaunch, kind_for(node.record), states_of(node, context));
  return quirk != nullptr && others_stand_for(quirk->way) ? quirk : nullptr;
}

Spelling ReleaseQuirks::spelling(const QuirkContext& context, const ErrorSink& errors) const {
  return [this, context, errors](const RecordedNode& node) {
    const ReleaseQuirk* quirk = of_node(node, context);
    if (quirk == nullptr) return std::vector<RecordedNode>();
    return quirk->way == QuirkWay::kRows ? in_rows(node) : by_host(node, is_to_host(node, context), errors);
  };
}

bool recorded_otherwise(const RecordedNode& was, const RecordedNode& now) {
  if (const auto* child = std::get_if<ChildRecord>(&was.record)) {
    const auto* other = std::get_if<ChildRecord>(&now.record);
    return other != nullptr && recorded_otherwise(*child->graph, *other->graph);
  }
  const auto *before = std::get_if<CopyRecord>(&was.record), *after = std::get_if<CopyRecord>(&now.record);
  if (before == nullptr || after == nullptr) return false;
  return kind_asked(*before) == kind_asked(*after) && before->params.kind != after->params.kind;
}

bool recorded_otherwise(const Recording& was, const Recording& now) {
  const std::size_t count = std::min(was.nodes().size(), now.nodes().size());
  for (NodeIndex i = 0; i < count; ++i) {
    if (recorded_otherwise(was.nodes()[i], now.nodes()[i])) return true;
  }
  return false;
}

Recording chained(const Recording& recording) {
  const auto nodes = recording.nodes();
  const std::vector<NodeIndex> order = node_order(recording);
  Recording chain = recording;
  if (order.size() != nodes.size()) return chain;
  for (NodeIndex i = 0; i < nodes.size(); ++i) {
    for (const NodeIndex before : nodes[i].dependencies) chain.disconnect(before, i);
  }
  for (std::size_t place = 1; place < order.size(); ++place) chain.connect(order[place - 1], order[place]);
  return chain;
}

}  // namespace hip
