#include "verify/quirks/graph_facts.h"

#include <algorithm>
#include <vector>

#include "hip/spread/stream_spread.h"
#include "verify/program/state_devices.h"

namespace verify {

namespace {

// The number of nodes at any depth for which `holds` is true, fans counted.
template <class Holds>
std::uint64_t count_in(const GraphState& graph, const Holds& holds) {
  std::uint64_t count = 0;
  for (const NodeState& node : graph.nodes) {
    if (holds(node)) count += node.fan;
    if (node.child) count += count_in(*node.child, holds);
  }
  return count;
}

struct Fact {
  Attribute attribute;
  std::int64_t (*count)(const State&, const GraphState&);
};
template <auto kCount>
std::int64_t of_graph(const State&, const GraphState& graph) {
  return static_cast<std::int64_t>(kCount(graph));
}
template <auto kCount>
std::int64_t of_state(const State& state, const GraphState& graph) {
  return static_cast<std::int64_t>(kCount(state, graph));
}
std::int64_t disabled_nodes_of(const GraphState& graph) {
  return std::ranges::count_if(graph.nodes, [](const NodeState& node) { return !node.enabled; });
}
std::int64_t disabled_work_of(const GraphState& graph) {
  return std::ranges::count_if(graph.nodes, [](const NodeState& node) {
    const bool work =
        std::holds_alternative<KernelParams>(node.params) || std::holds_alternative<CopyParams>(node.params);
    return !node.enabled && work;
  });
}
constexpr Fact kFacts[] = {
    {Attribute::k_nodes, of_graph<nodes_of>},
    {Attribute::k_roots, of_graph<roots_of>},
    {Attribute::k_leaves, of_graph<leaves_of>},
    {Attribute::k_most_dependents, of_graph<most_dependents_of>},
    {Attribute::k_most_joined_dependents, of_graph<most_joined_dependents_of>},
    {Attribute::k_host_nodes, of_graph<host_nodes_in>},
    {Attribute::k_copies_moved, of_state<copies_moved_in>},
    {Attribute::k_copies_to_pageable, of_state<copies_to_pageable_in>},
    {Attribute::k_memory_nodes, of_graph<memory_nodes_in>},
    {Attribute::k_allocation_nodes, of_graph<allocation_nodes_in>},
    {Attribute::k_frees_for_another, of_graph<frees_for_another>},
    {Attribute::k_freed_by_program, of_state<freed_by_program_in>},
    {Attribute::k_nodes_off_first_device, of_graph<nodes_off_first_device_in>},
    {Attribute::k_disabled_nodes, of_graph<disabled_nodes_of>},
    {Attribute::k_disabled_work, of_graph<disabled_work_of>},
};
constexpr auto kWalks = [] {
  std::array<Attribute, std::size(kFacts)> all{};
  std::ranges::transform(kFacts, all.begin(), &Fact::attribute);
  return all;
}();

// Whether an end of a copy is host memory that the device reaches.
bool on_locked_host(const State& state, const CopyEnd& end) {
  const BufferState* buffer = state.buffer(end.ref.buffer);
  return buffer != nullptr && buffer->memory != MemoryKind::kDevice && buffer->memory != MemoryKind::kPageable;
}

// Fans counted.
std::vector<std::uint64_t> dependents_of_each(const GraphState& graph) {
  std::vector<std::uint64_t> dependents(graph.nodes.size(), 0);
  for (const NodeState& node : graph.nodes) {
    for (const std::uint32_t before : node.after) dependents[before] += node.fan;
  }
  return dependents;
}

bool branches(const GraphState& graph) {
  return roots_of(graph) > 1 || most_dependents_of(graph) > 1;
}

}  // namespace

bool on_device(const State& state, const CopyEnd& end) {
  const BufferState* buffer = state.buffer(end.ref.buffer);
  return buffer != nullptr && buffer->memory == MemoryKind::kDevice;
}

std::uint64_t nodes_of(const GraphState& graph) {
  std::uint64_t nodes = 0;
  for (const NodeState& node : graph.nodes) nodes += node.fan;
  return nodes;
}

std::uint64_t roots_of(const GraphState& graph) {
  std::uint64_t roots = 0;
  for (const NodeState& node : graph.nodes) roots += node.after.empty() ? node.fan : 0;
  return roots;
}

std::uint64_t leaves_of(const GraphState& graph) {
  std::vector<bool> followed(graph.nodes.size(), false);
  for (const NodeState& node : graph.nodes) {
    for (const std::uint32_t before : node.after) followed[before] = true;
  }
  std::uint64_t leaves = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) leaves += followed[i] ? 0 : graph.nodes[i].fan;
  return leaves;
}

// Whether each node has as many dependencies in both graphs, whichever nodes these are.
bool same_counts(const GraphState& a, const GraphState& b) {
  return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                    [](const NodeState& x, const NodeState& y) { return x.after.size() == y.after.size(); });
}

std::uint64_t most_dependents_of(const GraphState& graph) {
  const std::vector<std::uint64_t> dependents = dependents_of_each(graph);
  return dependents.empty() ? 0 : *std::ranges::max_element(dependents);
}

std::uint64_t most_joined_dependents_of(const GraphState& graph) {
  const std::vector<std::uint64_t> dependents = dependents_of_each(graph);
  std::uint64_t most = 0;
  for (const NodeState& node : graph.nodes) {
    std::uint64_t dependencies = 0;
    for (const std::uint32_t before : node.after) dependencies += graph.nodes[before].fan;
    if (dependencies < 2) continue;
    for (const std::uint32_t before : node.after) most = std::max(most, dependents[before]);
  }
  return most;
}

// See hip/spread/stream_spread.h; only for graphs that are spread.
bool leaves_stream_out(const GraphState& graph) {
  if (nodes_of(graph) < hip::kSpreadNodes) return false;  // not spread: its edges are not needed
  std::vector<std::uint32_t> first;                       // of each node and its fans
  std::vector<std::vector<std::uint32_t>> dependencies;
  for (const NodeState& node : graph.nodes) {
    first.push_back(static_cast<std::uint32_t>(dependencies.size()));
    for (std::uint32_t k = 0; k < node.fan; ++k) dependencies.emplace_back();
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::uint32_t before : graph.nodes[i].after) {
      for (std::uint32_t k = 0; k < graph.nodes[i].fan; ++k) {
        for (std::uint32_t b = 0; b < graph.nodes[before].fan; ++b)
          dependencies[first[i] + k].push_back(first[before] + b);
      }
    }
  }
  return hip::leaves_stream_out(dependencies);
}

std::uint64_t host_nodes_in(const GraphState& graph) {
  return count_in(graph, [](const NodeState& node) { return std::holds_alternative<HostParams>(node.params); });
}

// Nodes for which no packet is recorded when the graph is instantiated: a copy from one device to another has none.
std::uint64_t nodes_without_packets_in(const State& state, const GraphState& graph) {
  std::uint64_t idle = 0;
  for (const NodeState& node : graph.nodes) {
    const auto* copy = std::get_if<CopyParams>(&node.params);
    const auto pageable = [&](const CopyEnd& end) { return !on_device(state, end) && !on_locked_host(state, end); };
    const bool packets = std::holds_alternative<KernelParams>(node.params) ||
                         std::holds_alternative<MemsetParams>(node.params) ||
                         (copy != nullptr && !pageable(copy->dst) && !pageable(copy->src) &&
                          node.devices.front() == node.devices.back());
    if (!packets) idle += node.fan;
  }
  return idle;
}

// Copies of rows to, from or within a device other than the first, at any depth, in graphs with branches or children.
std::uint64_t rows_off_first_device_in(const State& state, const GraphState& graph) {
  const bool beside = branches(graph) || graph.depth > 1;
  std::uint64_t rows = 0;
  for (const NodeState& node : graph.nodes) {
    if (node.child) rows += rows_off_first_device_in(state, *node.child);
    const auto* copy = std::get_if<CopyParams>(&node.params);
    if (!beside || copy == nullptr || copy->linear) continue;
    if (std::ranges::any_of(node.devices, [](Id device) { return device != 0; })) rows += node.fan;
  }
  return rows;
}

// Copies of rows to or from the memory of a device other than `device`, at any depth.
std::uint64_t rows_off_stream_device_in(const State& state, const GraphState& graph, Id device) {
  return count_in(graph, [&](const NodeState& node) {
    const auto* copy = std::get_if<CopyParams>(&node.params);
    if (copy == nullptr || copy->linear) return false;
    const bool to = on_device(state, copy->dst) && node.devices.front() != device;
    return to || (on_device(state, copy->src) && node.devices.back() != device);
  });
}

// Counts kernels and memsets of other devices than `device`, and copies that the runtime makes with kernels: copies
// within a device that is not `device` or not `home`; copies of rows between devices with a kind for one device, in a
// graph with a home other than device 0 or captured on another device than the launching one; in a graph with branches,
// copies of rows within a device other than 0, because they may go to another stream of the runtime. Counts copies
// with symbols too where `device` is not 0, because the runtime looks symbols up on the launching device, and 1D copies
// between pinned, registered or managed memory and a device that is neither `device` nor `home` (host memory counts as
// device 0's). `stabilised`: host memory has a buffer on its device that stands for it.
std::uint64_t nodes_off_device_in(const State& state, const GraphState& graph, Id device, Id home, bool stabilised) {
  std::uint64_t astray = 0;
  for (const NodeState& node : graph.nodes) {
    // A child in a graph with branches runs on the device where its own nodes were added.
    if (node.child) {
      astray +=
          nodes_off_device_in(state, *node.child, device, branches(graph) ? home_of(*node.child) : home, stabilised);
    }
    if (node.devices.empty()) continue;
    const Id own = node.devices.front();
    const auto* copy = std::get_if<CopyParams>(&node.params);
    bool strays = own != device || node.added_on != own;
    if (copy != nullptr) {
      const bool in_one = own == node.devices.back(),
                 on_devices = stabilised || (on_device(state, copy->dst) && on_device(state, copy->src));
      const bool rows = !copy->linear && copy->kind == CopyKind::kDeviceToDevice;
      const bool within = own != device || own != home || (rows && own != 0 && branches(graph));
      const bool of_one = home != 0 || (node.added_on != 0 && node.added_on != device);
      strays = on_devices && (in_one ? within : rows && of_one);
      const bool to_host = on_locked_host(state, copy->dst), from_host = on_locked_host(state, copy->src);
      const Id other = to_host ? node.devices.back() : own;
      strays = strays || (copy->linear && (to_host || from_host) && other != device && other != home);
      strays = strays || (copy->symbol != CopySymbol::kNone && device != 0);
    }
    if (strays) astray += node.fan;
  }
  return astray;
}

// Copies of rows within a device that has no kernel or memset of the graph and is not `home`, or that a stream of
// another device captured.
std::uint64_t rows_off_current_device_in(const GraphState& whole, Id home) {
  return count_in(whole, [&](const NodeState& node) {
    const auto* copy = std::get_if<CopyParams>(&node.params);
    if (copy == nullptr || copy->linear || copy->kind != CopyKind::kDeviceToDevice) return false;
    const Id own = node.devices.front();
    const bool away = own != home || (node.captured && node.added_on != own);
    return own == node.devices.back() && away && !runs_on(whole, own);
  });
}

std::uint64_t nodes_off_first_device_in(const GraphState& graph) {
  return count_in(graph, [](const NodeState& node) {
    return std::ranges::any_of(node.devices, [](Id device) { return device != 0; });
  });
}

const NodeState* allocation_of(const GraphState& graph, Id buffer) {
  const auto at = std::ranges::find_if(graph.nodes, [buffer](const NodeState& node) {
    const auto* allocated = std::get_if<MemoryAllocParams>(&node.params);
    return allocated != nullptr && allocated->buffer == buffer;
  });
  return at == graph.nodes.end() ? nullptr : &*at;
}

bool frees_for_another(const GraphState& graph) {
  return graph.has_memory && std::ranges::any_of(graph.nodes, [&graph](const NodeState& node) {
           const auto* freed = std::get_if<MemoryFreeParams>(&node.params);
           return freed != nullptr && allocation_of(graph, freed->buffer) == nullptr;
         });
}

template <class... Params>
static std::int64_t nodes_with(const GraphState& graph) {
  return std::ranges::count_if(
      graph.nodes, [](const NodeState& node) { return (std::holds_alternative<Params>(node.params) || ...); });
}

std::int64_t memory_nodes_in(const GraphState& graph) {
  return nodes_with<MemoryAllocParams, MemoryFreeParams>(graph);
}

std::int64_t allocation_nodes_in(const GraphState& graph) {
  return nodes_with<MemoryAllocParams>(graph);
}

std::uint64_t copies_to_pageable_in(const State& state, const GraphState& graph) {
  std::uint64_t copies = 0;
  for (const NodeState& node : graph.nodes) {
    if (const auto* copy = std::get_if<CopyParams>(&node.params)) {
      const BufferState* dst = state.buffer(copy->dst.ref.buffer);
      copies += dst != nullptr && dst->memory == MemoryKind::kPageable ? node.fan : 0;
    }
    if (node.child) copies += copies_to_pageable_in(state, *node.child);
  }
  return copies;
}

std::uint32_t copies_moved_in(const State& state, const GraphState& graph) {
  std::uint32_t most = 0;
  const bool any = std::ranges::any_of(graph.addresses, [&](const auto& known) {
    const BufferState* buffer = state.buffer(known.first);
    return buffer != nullptr && buffer->version != known.second;
  });
  if (!any && graph.depth == 1) return most;
  for (const NodeState& node : graph.nodes) {
    if (node.child) most = std::max(most, copies_moved_in(state, *node.child));
    if (!std::holds_alternative<CopyParams>(node.params)) continue;
    for_each_ref(node.params, [&](const BufferRef& ref) {
      const auto known = graph.addresses.find(ref.buffer);
      const BufferState* buffer = state.buffer(ref.buffer);
      if (known != graph.addresses.end() && buffer != nullptr) most = std::max(most, buffer->version - known->second);
    });
  }
  return most;
}

std::int64_t freed_by_program_in(const State& state, const GraphState& graph) {
  if (!graph.has_memory) return 0;
  return std::ranges::count_if(graph.nodes, [&](const NodeState& node) {
    const auto* memory = std::get_if<MemoryAllocParams>(&node.params);
    return memory != nullptr && state.buffer(memory->buffer)->freed_by_program;
  });
}

// ---- FactsOfGraph

std::span<const Attribute> FactsOfGraph::attributes() {
  return kWalks;
}

void FactsOfGraph::begin(const State& state, const GraphState& graph) {
  state_ = &state;
  graph_ = &graph;
  known_.fill(kNotCounted);
}

std::int64_t FactsOfGraph::count(Attribute attribute) {
  std::int64_t& known = known_[static_cast<std::size_t>(attribute)];
  if (known == kNotCounted) known = std::ranges::find(kFacts, attribute, &Fact::attribute)->count(*state_, *graph_);
  return known;
}

std::int64_t Event::count(Attribute a) const {
  return facts_->count(a);
}

bool takes_a_walk(Attribute attribute) {
  return std::ranges::find(kWalks, attribute) != kWalks.end();
}

}  // namespace verify
