// Graphs as text of Graphviz.
#include "model/dot.h"

#include "model/fixture.h"

namespace model {
namespace {

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST(Dot, EveryNodeEdgeAndGraphStandsInItOnce) {
  Runtime runtime;
  Graph &inner = runtime.create_graph(), &outer = runtime.create_graph();
  Node *first = nullptr, *second = nullptr, *child = nullptr;
  ASSERT_EQ(inner.add(EmptyParams{}, {}, &first), Status::kSuccess);
  ASSERT_EQ(outer.add(EmptyParams{}, {}, &first), Status::kSuccess);
  Node* const behind[] = {first};
  ASSERT_EQ(outer.add(HostParams{[](void*) {}, nullptr}, behind, &second), Status::kSuccess);
  ASSERT_EQ(outer.add_child(inner, behind, &child), Status::kSuccess);
  for (const unsigned flags : {0u, kDotVerbose, kDotHandles, ~0u}) {
    const std::string text = to_dot(outer, flags);
    EXPECT_EQ(count(text, "EMPTY"), 2u);
    EXPECT_EQ(count(text, "HOST"), 1u);
    EXPECT_EQ(count(text, "CHILD_GRAPH"), 1u);
    EXPECT_EQ(count(text, "->"), 2u);
    EXPECT_EQ(count(text, "subgraph"), 2u);
    EXPECT_EQ(count(text, "{"), count(text, "}"));
  }
}

TEST(Dot, NodesOfEventsNameTheEventWhereTheFlagAsksForIt) {
  Runtime runtime;
  Graph& graph = runtime.create_graph();
  Node* node = nullptr;
  ASSERT_EQ(graph.add(EventRecordParams{runtime.create_event({}).id()}, {}, &node), Status::kSuccess);
  ASSERT_EQ(graph.add(EventWaitParams{runtime.create_event({}).id()}, {}, &node), Status::kSuccess);
  EXPECT_EQ(count(to_dot(graph, kDotMemsetParams), "\\nevent "), 0u);
  EXPECT_EQ(count(to_dot(graph, kDotEventParams), "\\nevent "), 2u);
  EXPECT_EQ(count(to_dot(graph, kDotVerbose), "\\nevent "), 2u);
}

TEST(Dot, ANameThatHoldsQuotesStaysWithinItsLabel) {
  Runtime runtime;
  Graph& graph = runtime.create_graph();
  auto kernel = std::make_shared<Kernel>();
  kernel->name = "a\"b\\c";
  Module& module = runtime.load_module({kernel});
  KernelParams params;
  params.function = module.find("a\"b\\c")->kernel();
  Node* node = nullptr;
  ASSERT_EQ(graph.add(params, {}, &node), Status::kSuccess);
  EXPECT_NE(to_dot(graph, 0).find("KERNEL\\na\\\"b\\\\c\""), std::string::npos);
}

}  // namespace
}  // namespace model
