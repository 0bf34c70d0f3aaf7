#include "verify/quirks/event.h"

#include <algorithm>

namespace verify {

namespace {

using enum Attribute;

struct AttributeText {
  std::string_view name, words;
};
constexpr std::array<AttributeText, kAttributes> kTexts = {{
#define ATTRIBUTE(name, words) {#name, words},
#include "verify/quirks/attributes.inc"
#undef ATTRIBUTE
}};

enum Op : std::uint8_t { kAdd, kSet, kInstantiate, kLaunch, kUpdate, kPatch, kDestroy };

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

std::uint64_t most_dependents(const GraphState& graph) {
  std::vector<std::uint64_t> dependents(graph.nodes.size(), 0);
  for (const NodeState& node : graph.nodes) {
    for (const std::uint32_t before : node.after) dependents[before] += node.fan;
  }
  return dependents.empty() ? 0 : *std::max_element(dependents.begin(), dependents.end());
}

std::uint64_t hosts_in(const GraphState& graph) {
  std::uint64_t hosts = 0;
  for (const NodeState& node : graph.nodes) {
    if (std::holds_alternative<HostParams>(node.params)) hosts += node.fan;
    if (node.child) hosts += hosts_in(*node.child);
  }
  return hosts;
}

std::uint64_t empties_in(const GraphState& graph) {
  std::uint64_t empties = graph.nodes.empty() ? 1 : 0;
  for (const NodeState& node : graph.nodes) {
    if (node.child) empties += empties_in(*node.child);
  }
  return empties;
}

std::uint64_t offset_of(const CopyEnd& end) {
  return end.position.x + end.pitch * (end.position.y + end.rows * end.position.z);
}

class Describer {
 public:
  Describer(const State& state, int strategy, const std::function<bool(const Event&)>& visit)
      : state_(state), visit_(visit) {
    base_.set(k_strategy, strategy);
    base_.set(k_busy, state.idle() ? 0 : 1);
  }

  bool operator()(const AddNode& c) {
    const GraphState* graph = state_.graph(c.graph);
    if (graph == nullptr) return false;
    base_.set(k_op, kAdd);
    about(*graph);
    base_.set(k_fan, c.fan);
    base_.set(k_deps, c.after.size());
    const auto* child = std::get_if<ChildParams>(&c.params);
    return node(c.params, child == nullptr ? nullptr : state_.graph(child->graph), nullptr, 0);
  }
  bool operator()(const SetNode& c) {
    const GraphState* graph = target(c.target, c.id);
    const NodeState* before = graph == nullptr ? nullptr : graph->find(c.node);
    if (before == nullptr) return false;
    const auto* child = std::get_if<ChildParams>(&c.params);
    const GraphState* inner = child == nullptr ? nullptr : state_.graph(child->graph);
    about(*graph);
    return in_each_way(kSet, [&](Op op) {
      if (node(c.params, inner, before, 0)) return true;
      return op != kSet ? inside(*graph, 0) : inner != nullptr && inside(*inner, 1);
    });
  }
  bool operator()(const Instantiate& c) {
    const GraphState* graph = state_.graph(c.graph);
    base_.set(k_op, kInstantiate);
    return graph != nullptr && whole(*graph);
  }
  bool operator()(const Launch& c) {
    const ExecState* exec = state_.exec(c.exec);
    base_.set(k_op, kLaunch);
    base_.set(k_stream, c.stream);
    return exec != nullptr && whole(exec->graph);
  }
  bool operator()(const Patch& c) {
    const GraphState* graph = target(c.target, c.id);
    return graph != nullptr && in_each_way(kPatch, [&](Op) { return whole(*graph); });
  }
  bool operator()(const Update& c) {
    const ExecState* exec = state_.exec(c.exec);
    const GraphState* graph = state_.graph(c.graph);
    if (exec == nullptr || graph == nullptr) return false;
    base_.set(k_target, Target::kExec);
    base_.set(k_outcome, update_outcome(exec->graph, *graph));
    about(*graph);
    return in_each_way(kUpdate, [&](Op) { return visit_(base_) || pairs(*graph, exec->graph); });
  }
  bool operator()(const Destroy& c) {
    base_.set(k_op, kDestroy);
    const GraphState* graph = target(c.target, c.id);
    return graph != nullptr && whole(*graph);
  }
  template <class Other>
  bool operator()(const Other&) {
    return false;
  }

 private:
  // What a command that changes an object comes to: by itself under `patch`; recording again under the others, which
  // then instantiate or update.
  template <class Visit>
  bool in_each_way(Op op, const Visit& visit) {
    const bool exec = base_[k_target] == static_cast<std::int64_t>(Target::kExec);
    const std::int64_t strategy = base_[k_strategy];
    const auto way = [&](Op now) {
      base_.set(k_op, now);
      return visit(now);
    };
    if (strategy == 0) return way(op);
    if (way(kAdd)) return true;
    return exec && way(strategy == 1 ? kInstantiate : kUpdate);
  }
  bool pairs(const GraphState& graph, const GraphState& exec) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const NodeState* before = i < exec.nodes.size() ? &exec.nodes[i] : nullptr;
      if (node(graph.nodes[i].params, graph.nodes[i].child.get(), before, 0)) return true;
      if (graph.nodes[i].child && inside(*graph.nodes[i].child, 1)) return true;
    }
    return false;
  }
  const GraphState* target(Target target, Id id) {
    base_.set(k_target, target);
    if (target == Target::kGraph) return state_.graph(id);
    if (target != Target::kExec) return nullptr;
    const ExecState* exec = state_.exec(id);
    return exec == nullptr ? nullptr : &exec->graph;
  }
  void about(const GraphState& graph) {
    base_.set(k_nodes, nodes_of(graph));
    base_.set(k_roots, roots_of(graph));
    base_.set(k_dependents, most_dependents(graph));
    base_.set(k_hosts, hosts_in(graph));
    base_.set(k_topageable, copies_to_pageable(graph));
    base_.set(k_total, graph.instances);
    base_.set(k_depth, graph.depth);
    base_.set(k_empties, empties_in(graph));
  }
  bool whole(const GraphState& graph) {
    about(graph);
    return visit_(base_) || inside(graph, 0);
  }
  bool inside(const GraphState& graph, int level) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const NodeState& n) {
      base_.set(k_fan, n.fan);
      base_.set(k_deps, n.after.size());
      if (node(n.params, n.child.get(), nullptr, level)) return true;
      return n.child != nullptr && inside(*n.child, level + 1);
    });
  }

  bool node(const NodeParams& params, const GraphState* child, const NodeState* before, int level) {
    Event event = base_;
    event.set(k_level, level);
    std::visit([&](const auto& p) { describe(p, event); }, params);
    if (const auto* p = std::get_if<ChildParams>(&params)) {
      event.set(k_inner, child == nullptr ? 0 : nodes_of(*child));
      event.set(k_below, p->nest - 1 + (child == nullptr ? 1 : child->depth));
    }
    if (before != nullptr) {
      event.set(k_was, before->params == params ? 1 : 0);
      if (before->params.index() == params.index()) was(*before, event);
      const auto *old = std::get_if<KernelParams>(&before->params), *now = std::get_if<KernelParams>(&params);
      if (old != nullptr && now != nullptr) event.set(k_samekernel, old->kernel == now->kernel ? 1 : 0);
    }
    return visit_(event);
  }
  void was(const NodeState& before, Event& event) const {
    event.set(k_neighbours, event[k_nodes] - 1);
    if (const auto* copy = std::get_if<CopyParams>(&before.params)) {
      event.set(k_waskind, copy->kind);
      event.set(k_waspageable, pageable(*copy) ? 1 : 0);
      event.set(k_waslinear, copy->linear ? 1 : 0);
      event.set(k_waswidth, copy->width);
      event.set(k_washeight, copy->height);
    }
    if (const auto* memset = std::get_if<MemsetParams>(&before.params)) {
      event.set(k_waselement, memset->element);
      event.set(k_washeight, memset->height);
      event.set(k_waswidth, memset->width);
    }
    if (before.child) event.set(k_wasinner, nodes_of(*before.child));
  }
  [[nodiscard]] std::uint64_t copies_to_pageable(const GraphState& graph) const {
    std::uint64_t copies = 0;
    for (const NodeState& node : graph.nodes) {
      if (const auto* copy = std::get_if<CopyParams>(&node.params)) {
        const BufferState* dst = state_.buffer(copy->dst.ref.buffer);
        copies += dst != nullptr && dst->memory == MemoryKind::kPageable ? node.fan : 0;
      }
      if (node.child) copies += copies_to_pageable(*node.child);
    }
    return copies;
  }
  [[nodiscard]] bool pageable(const CopyParams& p) const {
    const BufferState *dst = state_.buffer(p.dst.ref.buffer), *src = state_.buffer(p.src.ref.buffer);
    return (dst != nullptr && dst->memory == MemoryKind::kPageable) ||
           (src != nullptr && src->memory == MemoryKind::kPageable);
  }
  void memory(Attribute attribute, const BufferRef& ref, Event& event) const {
    if (const BufferState* buffer = state_.buffer(ref.buffer)) event.set(attribute, buffer->memory);
  }

  void describe(const KernelParams& p, Event& event) const {
    event.set(k_node, 0);
    event.set(k_extra, p.style == ArgumentStyle::kExtra ? 1 : 0);
    event.set(k_opaque, p.opaque ? 1 : 0);
    event.set(k_grid, p.grid);
    event.set(k_block, p.block);
  }
  void describe(const CopyParams& p, Event& event) const {
    event.set(k_node, 1);
    event.set(k_kind, p.kind);
    event.set(k_pageable, pageable(p) ? 1 : 0);
    event.set(k_linear, p.linear ? 1 : 0);
    event.set(k_width, p.width);
    event.set(k_height, p.height);
    event.set(k_slices, p.depth);
    memory(k_dmem, p.dst.ref, event);
    memory(k_smem, p.src.ref, event);
    event.set(k_same, p.dst.ref.buffer == p.src.ref.buffer ? 1 : 0);
    event.set(k_dpitch, p.dst.pitch);
    event.set(k_spitch, p.src.pitch);
    event.set(k_drows, p.dst.rows);
    event.set(k_srows, p.src.rows);
    event.set(k_doffset, offset_of(p.dst));
    event.set(k_soffset, offset_of(p.src));
  }
  void describe(const MemsetParams& p, Event& event) const {
    event.set(k_node, 2);
    event.set(k_element, p.element);
    event.set(k_width, p.width);
    event.set(k_height, p.height);
    event.set(k_pitch, p.pitch);
    event.set(k_padded, p.height > 1 && p.pitch > p.width * p.element ? 1 : 0);
    memory(k_memory, p.dst, event);
  }
  void describe(const HostParams&, Event& event) const { event.set(k_node, 3); }
  void describe(const EmptyParams&, Event& event) const { event.set(k_node, 4); }
  void describe(const ChildParams& p, Event& event) const {
    event.set(k_node, 5);
    event.set(k_nest, p.nest);
  }

  const State& state_;
  const std::function<bool(const Event&)>& visit_;
  Event base_;
};

}  // namespace

std::string_view attribute_name(Attribute attribute) {
  return kTexts[static_cast<std::size_t>(attribute)].name;
}

std::optional<Attribute> find_attribute(std::string_view name) {
  for (std::size_t i = 0; i < kAttributes; ++i) {
    if (kTexts[i].name == name) return static_cast<Attribute>(i);
  }
  return {};
}

std::optional<std::int64_t> find_word(Attribute attribute, std::string_view word) {
  std::string_view words = kTexts[static_cast<std::size_t>(attribute)].words;
  for (std::int64_t number = 0; !words.empty(); ++number) {
    const std::size_t space = std::min(words.find(' '), words.size());
    if (words.substr(0, space) == word) return number;
    words.remove_prefix(std::min(space + 1, words.size()));
  }
  return {};
}

bool any_event(const State& state, const Command& command, int strategy,
               const std::function<bool(const Event&)>& visit) {
  return std::visit(Describer(state, strategy, visit), command);
}

}  // namespace verify
