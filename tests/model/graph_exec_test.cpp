// model::GraphExec: isolation, permitted changes, and the conditions of an update.
#include "model/graph_exec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/fixture.h"

namespace model {
namespace {

using GraphExecTest = WithGraph;
using GraphExecUpdateTest = WithGraph;

TEST_F(GraphExecTest, AChangeOfTheGraphDoesNotReachWhatWasInstantiated) {
  Node* set = m.node(graph, Machine::set(at, 1));
  GraphExec& exec = m.exec(graph);
  ASSERT_EQ(graph.set_params(*set, Machine::set(at, 2)), Status::kSuccess);
  m.run(exec);
  EXPECT_EQ(m.word(at), 1u);
  ASSERT_EQ(m.runtime.destroy_graph(graph), Status::kSuccess);
  m.run(exec);
  EXPECT_EQ(m.word(at), 1u);
}

TEST_F(GraphExecTest, ASetterChangesOneNodeOfOneExecutableGraph) {
  const Address in = m.allocate();
  Node* first = m.node(graph, m.add(at, in, 1));
  Node* second = m.node(graph, m.add(at + 4, in, 1), {first});
  GraphExec& exec = m.exec(graph);
  GraphExec& sibling = m.exec(graph);
  ASSERT_EQ(exec.set_params(first->id(), m.add(at, in, 9)), Status::kSuccess);
  m.run(exec);
  EXPECT_EQ(m.word(at), 9u);
  EXPECT_EQ(m.word(at + 4), 1u);
  m.run(sibling);
  EXPECT_EQ(m.word(at), 1u);
  EXPECT_EQ(std::get<KernelParams>(first->params()), m.add(at, in, 1));
  EXPECT_EQ(second->id(), exec.inspect()[1].id);
}

TEST_F(GraphExecTest, APendingLaunchKeepsWhatItWasLaunchedWith) {
  Node* set = m.node(graph, Machine::set(at, 1));
  GraphExec& exec = m.exec(graph);
  ASSERT_EQ(m.runtime.launch(exec, m.runtime.null_stream()), Status::kSuccess);
  ASSERT_EQ(exec.set_params(set->id(), Machine::set(at + 4, 2)), Status::kSuccess);
  m.runtime.destroy_exec(exec);
  ASSERT_EQ(m.runtime.synchronize_device(), Status::kSuccess);
  EXPECT_EQ(m.word(at), 1u);
  EXPECT_EQ(m.word(at + 4), 0u);
}

TEST(GraphExec, ADisabledNodeDoesNothingAndKeepsItsEdges) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Machine m(seeded(seed));
    const Address at = m.allocate();
    Graph& graph = m.runtime.create_graph();
    Node* last = m.node(graph, m.add(at, at, 1));
    Node* middle = m.node(graph, m.add(at, at, 100));
    Node* first = m.node(graph, Machine::set(at, 5));
    std::vector<Node*> from{first, middle}, to{middle, last};
    ASSERT_EQ(graph.add_edges(from, to), Status::kSuccess);
    GraphExec& exec = m.exec(graph);
    ASSERT_EQ(exec.set_enabled(middle->id(), false), Status::kSuccess);
    bool enabled = true;
    ASSERT_EQ(exec.enabled(middle->id(), &enabled), Status::kSuccess);
    EXPECT_FALSE(enabled);
    m.run(exec);
    EXPECT_EQ(m.word(at), 6u);
    EXPECT_EQ(m.runtime.races_seen(), 0u);
  }
}

// Unit_hipGraphNodeSetEnabled.
TEST_F(GraphExecTest, OnlyKernelsCopiesAndMemsetsCanBeDisabled) {
  Graph& inner = m.runtime.create_graph();
  const Node* nodes[] = {m.node(graph, EmptyParams{}), m.node(graph, HostParams{[](void*) {}, nullptr}),
                         m.child(graph, inner)};
  GraphExec& exec = m.exec(graph);
  for (const Node* node : nodes) {
    bool enabled = false;
    EXPECT_EQ(exec.set_enabled(node->id(), false), Status::kInvalidValue);
    EXPECT_EQ(exec.enabled(node->id(), &enabled), Status::kInvalidValue);
  }
}

TEST(GraphExec, ACycleIsAnErrorAtInstantiationInAChildToo) {
  Machine m;
  Graph& graph = m.runtime.create_graph();
  Node* a = m.node(graph, EmptyParams{});
  Node* b = m.node(graph, EmptyParams{}, {a});
  std::vector<Node*> from{b}, to{a};
  ASSERT_EQ(graph.add_edges(from, to), Status::kSuccess);
  EXPECT_FALSE(graph.acyclic());
  Graph& outer = m.runtime.create_graph();
  m.child(outer, graph);
  GraphExec* exec = nullptr;
  EXPECT_EQ(m.runtime.instantiate(graph, &exec), Status::kInvalidValue);
  EXPECT_EQ(m.runtime.instantiate(outer, &exec), Status::kInvalidValue);
  EXPECT_EQ(m.runtime.live_handles().graph_execs, 0u);
}

TEST(GraphExec, EdgesGoThroughAnEmptyChild) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Machine m(seeded(seed));
    const Address at = m.allocate();
    Graph& graph = m.runtime.create_graph();
    Node* first = m.node(graph, Machine::set(at, 5));
    m.node(graph, m.add(at, at, 1), {m.child(graph, m.runtime.create_graph(), {first})});
    m.run(m.exec(graph));
    EXPECT_EQ(m.word(at), 6u);
    EXPECT_EQ(m.runtime.races_seen(), 0u);
  }
}

TEST(GraphExec, AKernelKeepsItsDevice) {
  Options two;
  two.devices = 2;
  Machine m(two);
  const Address at = m.allocate();
  Graph& graph = m.runtime.create_graph();
  Node* node = m.node(graph, m.add(at, at, 1));
  GraphExec& exec = m.exec(graph);
  KernelParams other = m.add(at, at, 2);
  other.function = m.runtime.load_module({add_kernel()}, 1).find("add")->kernel();
  EXPECT_EQ(exec.set_params(node->id(), other), Status::kInvalidValue);
  Graph& elsewhere = m.runtime.create_graph();
  Node* moved = m.node(elsewhere, other);
  const UpdateOutcome outcome = exec.update(elsewhere);
  EXPECT_EQ(outcome.status, Status::kGraphExecUpdateFailure);
  EXPECT_EQ(outcome.result, UpdateResult::kUnsupportedFunctionChange);
  EXPECT_EQ(outcome.error_node, moved);
  m.run(exec);
  EXPECT_EQ(m.word(at), 1u);  // neither call changed the node
}

TEST(GraphExec, ACopyKeepsItsKindAndItsNumberOfDimensions) {
  Machine m;
  const Address a = m.allocate(1024), b = m.allocate(1024);
  CopyParams flat;
  flat.dst = {a, 64, 64, 4}, flat.src = {b, 64, 64, 4};
  flat.extent = {16, 1, 1};
  CopyParams tall = flat;
  tall.extent.height = 3;
  Graph& graph = m.runtime.create_graph();
  Node* line = m.node(graph, Machine::copy(a, b, 16, CopyKind::kDeviceToDevice));
  Node* shape = m.node(graph, tall);
  GraphExec& exec = m.exec(graph);
  EXPECT_EQ(exec.set_params(line->id(), Machine::copy(a, b, 16, CopyKind::kDefault)), Status::kInvalidValue);
  flat.kind = tall.kind = CopyKind::kDeviceToDevice;
  EXPECT_EQ(exec.set_params(line->id(), tall), Status::kInvalidValue);
  EXPECT_EQ(exec.set_params(line->id(), flat), Status::kSuccess);
  EXPECT_EQ(exec.set_params(line->id(), Machine::copy(b, a, 8, CopyKind::kDeviceToDevice)), Status::kSuccess);
  EXPECT_EQ(exec.set_params(shape->id(), Machine::copy(a, b, 16)), Status::kInvalidValue);
  tall.kind = CopyKind::kDefault;
  tall.extent.height = 2;
  EXPECT_EQ(exec.set_params(shape->id(), tall), Status::kSuccess);
}

TEST(GraphExec, ATwoDimensionalMemsetKeepsWidthAndHeight) {
  Machine m;
  const Address a = m.allocate(1024), b = m.allocate(1024);
  const MemsetParams good{a, 64, 1, 4, 4, 3};
  Graph& graph = m.runtime.create_graph();
  Node* node = m.node(graph, good);
  GraphExec& exec = m.exec(graph);
  MemsetParams wider = good, taller = good, moved = good, elements = good;
  wider.width = 5, taller.height = 4, moved.dst = b, moved.pitch = 32, moved.value = 2;
  elements.element_size = 2, elements.width = 8;
  EXPECT_EQ(exec.set_params(node->id(), wider), Status::kInvalidValue);
  EXPECT_EQ(exec.set_params(node->id(), taller), Status::kInvalidValue);
  EXPECT_EQ(exec.set_params(node->id(), moved), Status::kSuccess);
  EXPECT_EQ(exec.set_params(node->id(), elements), Status::kSuccess);
}

TEST(GraphExec, NodesOfOtherGraphsAndNestedNodesAreUnknown) {
  Machine m;
  const Address at = m.allocate();
  Graph& inner = m.runtime.create_graph();
  Node* nested = m.node(inner, Machine::set(at, 1));
  Graph& graph = m.runtime.create_graph();
  Node* child = m.child(graph, inner);
  GraphExec& exec = m.exec(graph);
  Node* late = m.node(graph, Machine::set(at, 1));
  EXPECT_EQ(exec.set_params(nested->id(), Machine::set(at, 2)), Status::kInvalidValue);
  EXPECT_EQ(exec.set_params(child->child()->nodes()[0]->id(), Machine::set(at, 2)), Status::kInvalidValue);
  EXPECT_EQ(exec.set_params(late->id(), Machine::set(at, 2)), Status::kInvalidValue);
  EXPECT_EQ(exec.set_params(child->id(), ChildParams{}), Status::kInvalidValue);
}

TEST(GraphExec, AChildIsReplacedByAGraphOfTheSameShape) {
  Machine m;
  const Address at = m.allocate();
  Graph& inner = m.runtime.create_graph();
  Node* set = m.node(inner, Machine::set(at, 1));
  m.node(inner, m.add(at, at, 1), {set});
  Graph& graph = m.runtime.create_graph();
  Node* child = m.child(graph, inner);
  GraphExec& exec = m.exec(graph);
  ASSERT_EQ(inner.set_params(*set, Machine::set(at, 10)), Status::kSuccess);
  ASSERT_EQ(exec.set_child(child->id(), inner), Status::kSuccess);
  m.run(exec);
  EXPECT_EQ(m.word(at), 11u);
  Node* extra = m.node(inner, EmptyParams{});
  EXPECT_EQ(exec.set_child(child->id(), inner), Status::kUnknown);
  inner.remove(*extra);
  inner.remove(*inner.nodes()[1]);
  m.node(inner, m.add(at, at, 50));  // the same nodes without the edge
  EXPECT_EQ(exec.set_child(child->id(), inner), Status::kUnknown);
  EXPECT_EQ(exec.set_child(set->id(), inner), Status::kInvalidValue);
  m.run(exec);
  EXPECT_EQ(m.word(at), 11u);
}

// clr counts dependencies only; CUDA documents that they have to be the same ones.
TEST_F(GraphExecUpdateTest, AsManyDependenciesThatAreOtherOnesAreAnotherTopology) {
  Graph& other = m.runtime.create_graph();
  for (Graph* each : {&graph, &other}) {
    Node* nodes[] = {m.node(*each, EmptyParams{}), m.node(*each, EmptyParams{})};
    m.node(*each, EmptyParams{}, {nodes[each == &graph ? 0 : 1]});
  }
  const UpdateOutcome outcome = m.exec(graph).update(other);
  EXPECT_EQ(outcome.result, UpdateResult::kTopologyChanged);
  EXPECT_EQ(outcome.error_node, other.nodes()[2].get());
}

TEST_F(GraphExecUpdateTest, AnotherFunctionIsFine) {
  Node* node = m.node(graph, m.add(at, at, 1));
  GraphExec& exec = m.exec(graph);
  KernelParams twin = m.add(at, at, 7);
  twin.function = m.module->find("add_twin")->kernel();
  ASSERT_EQ(graph.set_params(*node, twin), Status::kSuccess);
  EXPECT_EQ(exec.update(graph).status, Status::kSuccess);
  m.run(exec);
  EXPECT_EQ(m.word(at), 7u);
}

// Each test of hipGraphExecUpdate.cc, one difference at a time.
TEST(GraphExecUpdate, ResultsAndErrorNodesAreTheDocumentedOnes) {
  Machine m;
  const Address at = m.allocate();
  const auto build = [&](auto change) -> Graph& {
    Graph& graph = m.runtime.create_graph();
    Node* a = m.node(graph, Machine::set(at, 1));
    Node* b = m.node(graph, Machine::copy(at + 8, at, 4, CopyKind::kDeviceToDevice), {a});
    change(graph, a, b);
    return graph;
  };
  GraphExec& exec = m.exec(build([](Graph&, Node*, Node*) {}));
  const auto outcome = [&](Graph& graph) { return exec.update(graph); };
  Graph& more = build([&](Graph& graph, Node*, Node*) { m.node(graph, EmptyParams{}); });
  EXPECT_EQ(outcome(more).result, UpdateResult::kTopologyChanged);
  EXPECT_EQ(outcome(more).error_node, nullptr);
  Graph& unordered = build([&](Graph& graph, Node* a, Node* b) {
    std::vector<Node*> from{a}, to{b};
    EXPECT_EQ(graph.remove_edges(from, to), Status::kSuccess);
  });
  EXPECT_EQ(outcome(unordered).result, UpdateResult::kTopologyChanged);
  EXPECT_EQ(outcome(unordered).error_node, unordered.nodes()[1].get());
  Graph& type = build([&](Graph& graph, Node* a, Node* b) {
    graph.remove(*b);
    m.node(graph, Machine::set(at, 1), {a});
  });
  EXPECT_EQ(outcome(type).result, UpdateResult::kNodeTypeChanged);
  EXPECT_EQ(outcome(type).error_node, type.nodes()[1].get());
  Graph& kind = build([&](Graph& graph, Node* a, Node* b) {
    EXPECT_EQ(graph.set_params(*a, Machine::set(at, 99)), Status::kSuccess);
    EXPECT_EQ(graph.set_params(*b, Machine::copy(at + 8, at, 4, CopyKind::kDefault)), Status::kSuccess);
  });
  EXPECT_EQ(outcome(kind).result, UpdateResult::kParametersChanged);
  EXPECT_EQ(outcome(kind).error_node, kind.nodes()[1].get());
  EXPECT_EQ(outcome(kind).status, Status::kGraphExecUpdateFailure);
  m.run(exec);
  EXPECT_EQ(m.word(at), 1u);  // the failing update did not change the node that it could have
}

// A random graph of memsets on the words of one buffer, with children.
void fill(Machine& m, Graph& graph, Address at, int depth) {
  const auto count = *rc::gen::inRange(0, 5);
  std::vector<Node*> nodes;
  for (int i = 0; i < count; ++i) {
    std::vector<Node*> after;
    for (Node* earlier : nodes) {
      if (*rc::gen::inRange(0, 2) == 0) after.push_back(earlier);
    }
    if (depth > 0 && *rc::gen::inRange(0, 4) == 0) {
      Graph& inner = m.runtime.create_graph();
      fill(m, inner, at, depth - 1);
      nodes.push_back(m.child(graph, inner, after));
    } else if (*rc::gen::inRange(0, 3) == 0) {
      nodes.push_back(m.node(graph, EmptyParams{}, after));
    } else {
      nodes.push_back(
          m.node(graph, Machine::set(at + *rc::gen::inRange<Address>(0, 16) * 4, *rc::gen::inRange(1u, 9u)), after));
    }
  }
}

bool same_structure(const std::vector<NodeView>& a, const std::vector<NodeView>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].type != b[i].type || a[i].dependencies != b[i].dependencies ||
        !same_structure(a[i].children, b[i].children)) {
      return false;
    }
  }
  return true;
}

bool same_params(const std::vector<NodeView>& a, const std::vector<NodeView>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (*a[i].params != *b[i].params || !same_params(a[i].children, b[i].children)) return false;
  }
  return true;
}

// As many dependencies as before, one of them another one; or an edge more where there is none to move.
void move_an_edge(Graph& graph) {
  if (graph.nodes().size() < 2) return;
  std::vector<Node*> from{graph.nodes()[0].get()}, to{graph.nodes().back().get()};
  if (graph.add_edges(from, to) != Status::kSuccess) RC_ASSERT(graph.remove_edges(from, to) == Status::kSuccess);
  const std::vector<Node*> dependencies = graph.dependencies(*to[0]);
  if (dependencies.size() < 2) return;
  from[0] = dependencies[0] == from[0] ? dependencies[1] : dependencies[0];
  RC_ASSERT(graph.remove_edges(from, to) == Status::kSuccess);
}

RC_GTEST_PROP(GraphExecUpdateProperty, AnUpdateIsAcceptedExactlyWhenTheStructuresAreEqual, ()) {
  Machine m;
  const Address at = m.allocate();
  Graph& first = m.runtime.create_graph();
  fill(m, first, at, 2);
  GraphExec& exec = m.exec(first);
  Graph* second = &m.runtime.create_graph();
  if (*rc::gen::arbitrary<bool>()) {
    fill(m, *second, at, 2);
  } else {  // nearly the same: other values, perhaps an edge more
    second = &m.runtime.clone_graph(first);
    for (const auto& node : second->nodes()) {
      if (node->type() == NodeType::kMemset) {
        RC_ASSERT(second->set_params(*node, Machine::set(at, *rc::gen::inRange(1u, 9u))) == Status::kSuccess);
      }
    }
    if (*rc::gen::arbitrary<bool>()) move_an_edge(*second);
  }
  const auto before = exec.plan();  // kept: the update may not touch it
  const bool equal = same_structure(inspect(first), inspect(*second));
  const UpdateOutcome outcome = exec.update(*second);
  RC_CLASSIFY(equal);
  RC_ASSERT((outcome.status == Status::kSuccess) == equal);
  RC_ASSERT((outcome.result == UpdateResult::kSuccess) == equal);
  RC_ASSERT(same_structure(exec.inspect(), inspect(first)));
  RC_ASSERT(same_params(exec.inspect(), inspect(equal ? *second : first)));
  RC_ASSERT(equal || exec.plan() == before);
}

RC_GTEST_PROP(GraphExecProperty, AnInstantiationHoldsWhatTheGraphHolds, ()) {
  Machine m;
  Graph& graph = m.runtime.create_graph();
  fill(m, graph, m.allocate(), 3);
  GraphExec& exec = m.exec(graph);
  RC_ASSERT(same_structure(exec.inspect(), inspect(graph)));
  RC_ASSERT(same_params(exec.inspect(), inspect(graph)));
}

}  // namespace
}  // namespace model
