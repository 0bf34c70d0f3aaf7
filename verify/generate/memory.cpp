#include "verify/generate/memory.h"

#include <algorithm>
#include <array>

namespace verify {

static Id next_node(const GraphState& graph) {
  return static_cast<Id>(graph.nodes.size() + graph.removed.size());
}

std::vector<Id> GraphMemoryDraft::there(const GraphState* graph) const {
  std::vector<Id> ids;
  for (const auto& [id, buffer] : state_.buffers()) {
    if (buffer.unfreed && (graph == nullptr || graph->addresses.contains(id))) ids.push_back(id);
  }
  return ids;
}

bool GraphMemoryDraft::allocate(Id graph) {
  static constexpr std::array<std::uint64_t, 5> kSizes = {64, 256, 512, 1000, 4096};
  const std::uint64_t bytes = kSizes[choices_.below(kSizes.size())];
  const Id buffer = next_.buffer;
  AddNode node;
  node.graph = graph;
  node.node = next_node(*state_.graph(graph));
  MemoryAllocParams memory{buffer, bytes};
  if (swarm_.devices) memory.access = static_cast<std::uint32_t>(choices_.below(4));
  node.params = memory;
  const std::vector<NodeState>& nodes = state_.graph(graph)->nodes;
  if (!nodes.empty() && choices_.percent(50)) node.after = {nodes[choices_.below(nodes.size())].id};
  if (!take(node)) return false;
  ++next_.buffer;
  MemsetParams memset;
  memset.dst = {buffer, 0};
  memset.value = static_cast<std::uint32_t>(choices_.below(1 << 16));
  memset.element = choices_.percent(50) ? 1 : choices_.percent(50) ? 2 : 4;
  memset.width = bytes / memset.element;
  node.node = next_node(*state_.graph(graph));
  node.params = memset;
  node.after.clear();
  return add_ordered(node);
}

void GraphMemoryDraft::carry_out(Id graph, Id buffer) {
  std::vector<Id> targets;
  for (const auto& [id, other] : state_.buffers()) {
    const auto known = state_.graph(graph)->addresses.find(id);
    const bool here = known == state_.graph(graph)->addresses.end() || known->second == other.version;
    if (other.usable() && !other.graph && other.memory == MemoryKind::kDevice && here) targets.push_back(id);
  }
  if (targets.empty()) return;
  AddNode node;
  node.graph = graph;
  node.node = next_node(*state_.graph(graph));
  CopyParams copy;
  copy.dst.ref = {pick(targets), 0};
  copy.src.ref = {buffer, 0};
  copy.width = std::min(state_.buffer(buffer)->bytes, state_.buffer(copy.dst.ref.buffer)->bytes);
  copy.kind = choices_.percent(70) ? CopyKind::kDeviceToDevice : CopyKind::kDefault;
  node.params = copy;
  add_ordered(node);
}

void GraphMemoryDraft::instantiate_family(Id graph) {
  Instantiate command{next_.exec, graph, InstantiateForm::kPlain, 0};
  if (choices_.percent(45)) {
    command.form = choices_.percent(70) ? InstantiateForm::kFlags : InstantiateForm::kParams;
    command.flags = kAutoFreeOnLaunch;
  }
  if (!state_.current(*state_.graph(graph)) && choices_.percent(80)) take(Patch{Target::kGraph, graph});
  if (!take(command)) return;
  launch_exec(next_.exec++);
}

void GraphMemoryDraft::memory_family() {
  std::vector<Id> graphs;
  for (const auto& [id, graph] : state_.graphs()) {
    if (graph.alive && !graph.cyclic) graphs.push_back(id);
  }
  Id graph = next_.graph;
  if (!graphs.empty() && choices_.percent(50)) {
    graph = pick(graphs);
  } else {
    ++next_.graph;
    if (!take(DeclareGraph{graph})) return;
    if (choices_.percent(40)) add_node(graph);
  }
  std::vector<Id> buffers;
  for (std::uint64_t i = choices_.percent(30) ? 2 : 1; i > 0; --i) {
    const Id buffer = next_.buffer;
    if (!allocate(graph)) return;
    buffers.push_back(buffer);
  }
  for (std::uint64_t i = choices_.below(4); i > 0; --i) add_node(graph);
  for (const Id buffer : buffers) {
    if (choices_.percent(80)) carry_out(graph, buffer);
    if (!choices_.percent(55)) continue;
    AddNode node;
    node.graph = graph;
    node.node = next_node(*state_.graph(graph));
    node.params = MemoryFreeParams{buffer};
    if (!order(node)) continue;
    draw_form(node);
    take(node);
  }
  instantiate_family(graph);
}

// Frees the memory by a node of another graph: of a new one, or of one that is there, instantiated or not.
void GraphMemoryDraft::free_elsewhere(Id buffer) {
  const auto add_to = [&](Id graph) {
    AddNode node;
    node.graph = graph;
    node.params = MemoryFreeParams{buffer};
    node.node = next_node(*state_.graph(graph));
    return take(node);
  };
  const std::vector<Id> graphs = alive(state_.graphs());
  Id graph = graphs.empty() ? next_.graph : pick(graphs);
  const bool there = !graphs.empty() && graph != *state_.buffer(buffer)->graph && choices_.percent(40) && add_to(graph);
  if (!there) {
    graph = next_.graph;
    if (!take(DeclareGraph{graph})) return;
    ++next_.graph;
    if (choices_.percent(30)) add_node(graph);
    if (!add_to(graph)) return;
  }
  if (!take(Instantiate{next_.exec, graph})) return;
  launch_exec(next_.exec++);
}

void GraphMemoryDraft::free(Id buffer) {
  const bool room = alive(state_.graphs()).size() < kMaxGraphs && alive(state_.execs()).size() < kMaxExecs;
  if (room && !state_.has_free_node(buffer) && choices_.percent(25)) return free_elsewhere(buffer);
  if (choices_.percent(45)) {
    take(Free{buffer});
    return;
  }
  const std::vector<Id> streams = state_.live_streams();
  const FreeAsync command{buffer, pick(streams)};
  if (state_.check(command)) return;
  // A free after work of another stream is a race inside of 7.2.4, even where the streams are ordered.
  bool elsewhere = state_.work_races({{buffer, 0, kToTheEnd, true}}, command.stream);
  for (const Id stream : streams) {
    elsewhere = elsewhere || (stream != command.stream && state_.buffer_in_use(buffer) && state_.stream_busy(stream));
  }
  if (elsewhere) take(Synchronize{Target::kDevice, 0});
  take(command);
}

// Destroys the executable graph that allocated the memory, and sometimes its graph.
void GraphMemoryDraft::outlive_graph(Id buffer) {
  const Id graph = *state_.buffer(buffer)->graph;
  for (const auto& [id, exec] : state_.execs()) {
    if (!exec.alive || exec.origin != graph) continue;
    if (!take(Destroy{Target::kExec, id})) return;
    break;
  }
  if (choices_.percent(40)) take(Destroy{Target::kGraph, graph});
}

void GraphMemoryDraft::use_what_is_there() {
  const std::vector<Id> buffers = there(nullptr);
  if (buffers.empty()) return;
  const Id buffer = pick(buffers);
  if (choices_.percent(15)) outlive_graph(buffer);
  if (choices_.percent(40)) {
    take(Read{buffer});
  } else {
    free(buffer);
  }
}

void GraphMemoryDraft::before_launch(Id exec) {
  if ((state_.exec(exec)->flags & kAutoFreeOnLaunch) != 0 && choices_.percent(80)) return;
  for (const Id buffer : there(&state_.exec(exec)->graph)) {
    if (choices_.percent(75)) free(buffer);
  }
}

}  // namespace verify
