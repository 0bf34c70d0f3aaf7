// Texts of Graphviz, read as graphs and compared with recorded graphs. On made-up texts: graph_ops_test.cpp has what
// the model prints.
#include "verify/execute/dot_graph.h"

#include <gtest/gtest.h>

namespace verify {
namespace {

TEST(DotGraph, TheLanguageOfGraphvizIsRead) {
  const std::optional<DotGraph> graph = read_dot(
      "strict digraph dot {\nrankdir=LR; graph[style=\"dashed\"]\nsubgraph cluster_1 {\nlabel=\"a { -> \\\" }\"\n"
      "\"n 0\"[label=\"one\ntwo\" shape=box];\nn1 [a=b, c=\"d\"; e=f]\n}\n\"n 0\" -> n1 -> n2 [x=y]\n}\n");
  ASSERT_TRUE(graph.has_value());
  ASSERT_EQ(graph->nodes.size(), 3u);
  EXPECT_EQ(graph->nodes[0].name, "n 0");
  EXPECT_EQ(graph->nodes[0].text, std::string("one\ntwobox").size());
  EXPECT_EQ(graph->nodes[1].text, 3u);
  EXPECT_EQ(graph->nodes[2].text, 0u) << "an edge's attributes are not the node's";
  EXPECT_EQ(graph->edges, (DotEdges{{0, 1}, {1, 2}}));
  EXPECT_TRUE(read_dot("digraph {}").has_value());
}

TEST(DotGraph, TextThatIsNotInTheLanguageIsRefused) {
  for (const char* wrong :
       {"", "graph {}", "digraph {", "digraph {} x", "digraph { a -> }", "digraph { a [b] }", "digraph { a [b=\"c] }",
        "digraph { \"a }", "digraph { [a=b] }", "digraph { a[style=\"bold\nshape=\"box\" label=\"x\"]; }"}) {
    EXPECT_FALSE(read_dot(wrong).has_value()) << wrong;
  }
}

TEST(DotGraph, SubgraphsNestUpToABound) {
  const auto nested = [](int levels) {
    std::string text = "digraph {";
    for (int i = 0; i < levels; ++i) text += "subgraph {";
    return text + std::string(static_cast<std::size_t>(levels) + 1, '}');
  };
  EXPECT_TRUE(read_dot(nested(128)).has_value());
  EXPECT_FALSE(read_dot(nested(129)).has_value());
}

TEST(DotGraph, ANodeWhoseNameBeginsWithAWordOfTheLanguageIsANode) {
  for (const char* text :
       {"digraph { subgraph_1 -> b }", "digraph { \"subgraph\" -> b }", "digraph { \"node\" -> b }"}) {
    const std::optional<DotGraph> graph = read_dot(text);
    ASSERT_TRUE(graph.has_value()) << text;
    EXPECT_EQ(graph->nodes.size(), 2u) << text;
  }
}

TEST(DotGraph, TheOrderOfNodesDoesNotMatterAndEachEdgeDoes) {
  const DotEdges chain = {{0, 1}, {1, 2}, {2, 3}};
  EXPECT_TRUE(same_structure(4, chain, {{3, 2}, {2, 0}, {0, 1}}));
  EXPECT_FALSE(same_structure(4, chain, {{0, 1}, {1, 2}, {1, 3}}));
  EXPECT_FALSE(same_structure(4, chain, {{0, 1}, {1, 2}}));
  EXPECT_FALSE(same_structure(4, {{0, 1}, {0, 2}, {0, 3}}, {{1, 0}, {2, 0}, {3, 0}})) << "the other direction";
  EXPECT_TRUE(same_structure(0, {}, {}));
}

hip::Recording memset_and_empty() {
  hip::Recording recording;
  recording.add({hip::MemsetRecord{}, {}, {}});
  recording.add({hip::EmptyRecord{}, {0}, {}});
  return recording;
}

TEST(DotGraph, FlawsOfATextAreSaid) {
  const hip::Recording recording = memset_and_empty();
  const std::string plain = "digraph { a [l=x] b [l=x] a -> b }";
  EXPECT_EQ(describe_dot(recording, plain, plain, 0), "2 nodes, 1 edges");
  EXPECT_EQ(describe_dot(recording, plain, "digraph { a [l=x] b [l=x] }", 0), "2 nodes, 0 edges, another graph");
  EXPECT_EQ(describe_dot(recording, plain, "digraph { a -> b c }", 0), "3 nodes, 1 edges, another graph");
  EXPECT_EQ(describe_dot(recording, plain, "digraph { a ", 0), "not in Graphviz's language");
  const std::string longer = "digraph { a [l=xyz] b [l=x] a -> b }";
  EXPECT_EQ(describe_dot(recording, plain, longer, hipGraphDebugDotFlagsMemsetNodeParams), "2 nodes, 1 edges");
  EXPECT_EQ(describe_dot(recording, plain, plain, hipGraphDebugDotFlagsMemsetNodeParams),
            "2 nodes, 1 edges, the flags say nothing about 1 nodes");
  EXPECT_EQ(describe_dot(recording, plain, longer, hipGraphDebugDotFlagsHandles),
            "2 nodes, 1 edges, the flags say nothing about 1 nodes");
  EXPECT_EQ(describe_dot(recording, plain, plain, hipGraphDebugDotFlagsHostNodeParams), "2 nodes, 1 edges");
}

}  // namespace
}  // namespace verify
