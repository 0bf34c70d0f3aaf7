// P5, order: every dependency edge is honoured in every legal schedule: a disabled node counts as an empty one, an
// unsupported node type never drops an edge, a copy waits for its producer.
//
// Detectors: the edges of every graph are read back; and the program is run in other legal orders than its baseline and
// has to observe the same. Where there are few orders, the program is run in each (on the model, because its scheduler
// takes an order), else in some. Orders among streams are not counted. A runtime that takes the same wrong order each
// time is told by a chain of the graph's nodes, on which it is right (verify/oracle/cause.cpp).
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "verify/program/state.h"
#include "verify/properties/orders.h"

namespace verify {

bool detect_p5(const EdgesEvidence& evidence, Violations& found) {
  const std::span<const hip::RecordedNode> nodes = evidence.recording.nodes();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> expected;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    for (const hip::NodeIndex dependency : nodes[i].dependencies) expected.emplace_back(dependency, i);
  }
  std::ranges::sort(expected);
  if (expected == evidence.seen.edges && evidence.seen.types.size() == nodes.size()) return true;
  found.push_back({PropertyId::kP5, evidence.step, fmt::format("edges of g{}", evidence.graph),
                   fmt::format("{} nodes, {} edges", nodes.size(), expected.size()),
                   fmt::format("{} nodes, {} edges", evidence.seen.types.size(), evidence.seen.edges.size())});
  return true;
}

namespace {

// The steps that a scheduler chooses among: a child graph has one step before its nodes and one after them. The mask of
// a step has a bit for each step that it waits for.
class Steps {
 public:
  // False when there are too many.
  bool add(const GraphState& graph) { return add(graph, 0).has_value(); }

  // The largest product of the numbers of ready steps at each choice. Counting has to reach this product.
  std::uint64_t orders() {
    std::map<std::uint32_t, std::uint64_t> known;
    return orders_from(0, known);
  }

 private:
  using Mask = std::uint32_t;

  std::optional<std::uint32_t> step(Mask before) {
    if (before_.size() == kMaxOrderedSteps) return {};
    before_.push_back(before);
    return static_cast<std::uint32_t>(before_.size() - 1);
  }
  // Adds the steps of `graph`; its first steps wait for `before`. Returns the steps that end the graph.
  std::optional<Mask> add(const GraphState& graph, Mask before) {
    std::vector<Mask> exits(graph.nodes.size(), 0);
    Mask last = 0;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const NodeState& node = graph.nodes[i];
      Mask wait = node.after.empty() ? before : 0;
      for (const std::uint32_t index : node.after) {
        if (index >= i) return {};  // a dependency on a later node; rare, and left to random orders
        wait |= exits[index];
      }
      for (std::uint32_t k = 0; k < node.fan; ++k) {
        const std::optional<Mask> exit = node.child ? add_child(node, wait) : bit(step(wait));
        if (!exit) return {};
        exits[i] |= *exit;
      }
      last |= exits[i];
    }
    return last == 0 ? before : last;
  }
  std::optional<Mask> add_child(const NodeState& node, Mask wait) {
    const std::uint32_t nest = std::get<ChildParams>(node.params).nest;
    for (std::uint32_t level = 0; level < nest; ++level) {
      const std::optional<Mask> entry = bit(step(wait));
      if (!entry) return {};
      wait = *entry;
    }
    std::optional<Mask> inside = add(*node.child, wait);
    for (std::uint32_t level = 0; level < nest && inside; ++level) inside = bit(step(*inside | wait));
    return inside;
  }
  static std::optional<Mask> bit(std::optional<std::uint32_t> step) {
    if (!step) return {};
    return Mask{1} << *step;
  }
  std::uint64_t orders_from(Mask done, std::map<Mask, std::uint64_t>& known) {
    const auto found = known.find(done);
    if (found != known.end()) return found->second;
    std::uint64_t ready = 0, most = 1;
    for (std::uint32_t i = 0; i < before_.size(); ++i) {
      if ((done >> i & 1U) != 0 || (before_[i] & ~done) != 0) continue;
      ++ready;
      most = std::max(most, orders_from(done | Mask{1} << i, known));
    }
    const std::uint64_t product = std::max<std::uint64_t>(ready, 1) * most;
    known[done] = product;
    return product;
  }

  std::vector<Mask> before_;
};

}  // namespace

std::optional<std::uint64_t> orders_to_count(const Program& program) {
  State state;
  std::uint64_t orders = 1;
  for (const Step& step : program.steps) {
    const auto* launch = std::get_if<Launch>(&step.command);
    if (launch != nullptr) {
      if (launch->stream != kNullStream) return {};
      Steps steps;
      if (!steps.add(state.exec(launch->exec)->graph)) return {};
      const std::uint64_t one = steps.orders();
      for (std::uint32_t k = 0; k < step.repeat; ++k) {
        orders *= one;
        if (orders > kMaxOrders) return {};
      }
    }
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) state.apply(step.command);
  }
  return orders;
}

}  // namespace verify
