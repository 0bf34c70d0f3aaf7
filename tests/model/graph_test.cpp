// model::Graph: calls that change a graph, and calls that leave it unchanged.
#include "model/graph.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "model/fixture.h"

namespace model {
namespace {

using GraphTest = WithGraph;

using Pairs = std::set<std::pair<ObjectId, ObjectId>>;

Pairs edges_of(const Graph& graph) {
  Pairs pairs;
  for (const auto& [from, to] : graph.edges()) pairs.emplace(from->id(), to->id());
  return pairs;
}

TEST_F(GraphTest, NodesKeepTheOrderInWhichTheyWereAdded) {
  std::vector<Node*> nodes;
  for (int i = 0; i < 5; ++i) nodes.push_back(m.node(graph, EmptyParams{}));
  graph.remove(*nodes[1]);
  nodes.erase(nodes.begin() + 1);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    EXPECT_EQ(graph.nodes()[i].get(), nodes[i]);
    EXPECT_EQ(nodes[i]->index(), i);
  }
}

TEST_F(GraphTest, EdgesKeepTheirOrderWhenMostNodesAreRemoved) {
  Node* root = m.node(graph, EmptyParams{});
  std::vector<Node*> fan;
  for (int i = 0; i < 9; ++i) fan.push_back(m.node(graph, EmptyParams{}, {root}));
  Node* last = m.node(graph, EmptyParams{}, {fan[8], fan[2], root});
  for (const int i : {0, 1, 3, 4, 5, 6, 7}) graph.remove(*fan[static_cast<std::size_t>(i)]);
  Node* added = m.node(graph, EmptyParams{}, {last});
  const std::unique_ptr<Graph> clone = graph.clone();
  for (const Graph* each : {static_cast<const Graph*>(&graph), static_cast<const Graph*>(clone.get())}) {
    const auto nodes = each->nodes();
    ASSERT_EQ(nodes.size(), 5u);
    const auto indices = [](const std::vector<Node*>& of) {
      std::vector<std::uint32_t> found;
      for (const Node* node : of) found.push_back(node->index());
      return found;
    };
    EXPECT_EQ(indices(each->dependents(*nodes[0])), (std::vector<std::uint32_t>{1, 2, 3}));
    EXPECT_EQ(indices(each->dependencies(*nodes[3])), (std::vector<std::uint32_t>{2, 1, 0}));
    EXPECT_EQ(indices(each->dependencies(*nodes[4])), std::vector<std::uint32_t>{3});
    EXPECT_EQ(indices(each->roots()), std::vector<std::uint32_t>{0});
  }
  EXPECT_EQ(graph.nodes()[4].get(), added);
}

TEST_F(GraphTest, DependenciesMustBeNodesOfTheGraphEachOnce) {
  Graph& other = m.runtime.create_graph();
  Node* first = m.node(graph, EmptyParams{});
  Node* foreign = m.node(other, EmptyParams{});
  Node* out = nullptr;
  for (const auto& bad : {std::vector<Node*>{foreign}, {nullptr}, {first, first}}) {
    EXPECT_EQ(graph.add(EmptyParams{}, bad, &out), Status::kInvalidValue);
    EXPECT_EQ(graph.add_child(other, bad, &out), Status::kInvalidValue);
  }
  EXPECT_EQ(graph.nodes().size(), 1u);
  EXPECT_EQ(out, nullptr);
}

TEST_F(GraphTest, ChangingEdgesIsAllOrNothing) {
  Node* a = m.node(graph, EmptyParams{});
  Node* b = m.node(graph, EmptyParams{}, {a});
  Node* c = m.node(graph, EmptyParams{});
  const Pairs before = edges_of(graph);
  const auto refused = [&](std::vector<Node*> from, std::vector<Node*> to) {
    return graph.add_edges(from, to) == Status::kInvalidValue && edges_of(graph) == before;
  };
  EXPECT_TRUE(refused({b, a}, {c, b}));  // the second is there already
  EXPECT_TRUE(refused({b, c}, {c, c}));
  EXPECT_TRUE(refused({b, b}, {c, c}));
  EXPECT_TRUE(refused({b}, {nullptr}));
  std::vector<Node*> from{a, b}, to{b, c};
  EXPECT_EQ(graph.remove_edges(from, to), Status::kInvalidValue);
  EXPECT_EQ(edges_of(graph), before);
  from = {b}, to = {c};
  EXPECT_EQ(graph.add_edges(from, to), Status::kSuccess);
  EXPECT_EQ(graph.remove_edges(from, to), Status::kSuccess);
  EXPECT_EQ(edges_of(graph), before);
}

TEST_F(GraphTest, RemovingANodeRemovesItsEdgesOnly) {
  Node* a = m.node(graph, EmptyParams{});
  Node* b = m.node(graph, EmptyParams{}, {a});
  Node* c = m.node(graph, EmptyParams{}, {a, b});
  Node* d = m.node(graph, EmptyParams{}, {c});
  const Pairs kept{{a->id(), c->id()}, {c->id(), d->id()}};
  const ObjectId gone = b->id();
  graph.remove(*b);
  EXPECT_EQ(edges_of(graph), kept);
  EXPECT_EQ(graph.edges().size(), 2u);  // none is left hanging on a neighbour
  EXPECT_EQ(m.runtime.find_node(gone), nullptr);
  EXPECT_EQ(graph.roots(), std::vector<Node*>{a});
}

TEST_F(GraphTest, AChildIsClonedWhenItIsAdded) {
  Graph& inner = m.runtime.create_graph();
  Node* set = m.node(inner, Machine::set(at, 1));
  Graph& outer = m.runtime.create_graph();
  Node* child = m.child(outer, inner);
  ASSERT_EQ(inner.set_params(*set, Machine::set(at, 2)), Status::kSuccess);
  m.node(inner, EmptyParams{});
  ASSERT_EQ(child->child()->nodes().size(), 1u);
  EXPECT_EQ(std::get<MemsetParams>(child->child()->nodes()[0]->params()).value, 1u);
  ASSERT_EQ(m.runtime.destroy_graph(inner), Status::kSuccess);
  m.run(m.exec(outer));
  EXPECT_EQ(m.word(at), 1u);
}

TEST_F(GraphTest, AGraphMayBeAddedToItselfAsItIsNow) {
  m.node(graph, EmptyParams{});
  EXPECT_EQ(m.child(graph, graph)->child()->nodes().size(), 1u);
  EXPECT_EQ(graph.nodes().size(), 2u);
}

TEST(Graph, ChildrenAreNotNestedWithoutBound) {
  Machine m;
  Graph* inner = &m.runtime.create_graph();
  for (int depth = 0; depth < kMaxChildDepth; ++depth) {
    Graph& outer = m.runtime.create_graph();
    m.child(outer, *inner);
    inner = &outer;
  }
  EXPECT_EQ(inner->height(), kMaxChildDepth);
  Graph& outer = m.runtime.create_graph();
  Node* out = nullptr;
  EXPECT_EQ(outer.add_child(*inner, {}, &out), Status::kInvalidValue);
  EXPECT_EQ(outer.nodes().size(), 0u);
}

TEST(Graph, AChildGraphDiesWithItsNodeAndNotBefore) {
  Machine m;
  Graph& inner = m.runtime.create_graph();
  Graph& outer = m.runtime.create_graph();
  Node* child = m.child(outer, inner);
  const ObjectId id = child->child()->id();
  EXPECT_EQ(m.runtime.destroy_graph(*child->child()), Status::kInvalidValue);
  EXPECT_NE(m.runtime.find_graph(id), nullptr);
  outer.remove(*child);
  EXPECT_EQ(m.runtime.find_graph(id), nullptr);
}

RC_GTEST_PROP(GraphProperty, ACloneIsEqualAndIndependent, ()) {
  Machine m;
  const Address at = m.allocate();
  Graph& graph = m.runtime.create_graph();
  std::vector<Node*> nodes;
  const auto count = *rc::gen::inRange(1, 12);
  for (int i = 0; i < count; ++i) {
    std::vector<Node*> after;
    for (Node* earlier : nodes) {
      if (*rc::gen::inRange(0, 3) == 0) after.push_back(earlier);
    }
    nodes.push_back(*rc::gen::inRange(0, 4) == 0
                        ? m.child(graph, graph, after)
                        : m.node(graph, Machine::set(at, static_cast<std::uint32_t>(i)), after));
    if (graph.height() > 3) break;
  }
  Graph& clone = m.runtime.clone_graph(graph);
  const auto original = inspect(graph), copy = inspect(clone);
  RC_ASSERT(original.size() == copy.size());
  for (std::size_t i = 0; i < copy.size(); ++i) {
    RC_ASSERT(*original[i].params == *copy[i].params);
    RC_ASSERT(original[i].dependencies == copy[i].dependencies);
    RC_ASSERT(original[i].children.size() == copy[i].children.size());
    RC_ASSERT(clone.find_clone_of(original[i].id)->id() == copy[i].id);
  }
  const std::size_t edges = graph.edges().size();
  clone.remove(*clone.nodes()[0]);
  RC_ASSERT(graph.nodes().size() == nodes.size());
  RC_ASSERT(graph.edges().size() == edges);
}

TEST_F(GraphTest, ParametersAreReplacedByOnesOfTheSameTypeOnly) {
  Node* set = m.node(graph, Machine::set(at, 1));
  EXPECT_EQ(graph.set_params(*set, EmptyParams{}), Status::kInvalidValue);
  EXPECT_EQ(graph.set_params(*set, Machine::set(at, 1, 17)), Status::kInvalidValue);
  EXPECT_EQ(std::get<MemsetParams>(set->params()), Machine::set(at, 1));
  EXPECT_EQ(graph.set_params(*set, Machine::set(at, 2, 16)), Status::kSuccess);
  EXPECT_EQ(std::get<MemsetParams>(set->params()), Machine::set(at, 2, 16));
}

}  // namespace
}  // namespace model
