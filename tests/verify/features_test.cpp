// Features: the list is fixed and has no duplicates, and a program counts for exactly the features that it has.
#include "verify/program/features.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "programs.h"
#include "verify/program/picture.h"

namespace verify {
namespace {

std::map<std::string, std::uint64_t> features_of(std::string_view commands) {
  std::vector<std::uint64_t> counts(feature_names().size(), 0);
  count_features(program_of(commands), counts);
  std::map<std::string, std::uint64_t> features;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) features[feature_names()[i]] = counts[i];
  }
  features.erase("placement arena");
  return features;
}

using Features = std::map<std::string, std::uint64_t>;

TEST(Features, EveryNameIsThereOnce) {
  const std::set<std::string> names(feature_names().begin(), feature_names().end());
  EXPECT_EQ(names.size(), feature_names().size());
}

TEST(Features, EveryKernelIsAFeature) {
  const std::set<std::string> names(feature_names().begin(), feature_names().end());
  for (const KernelSpec& spec : drawn_kernels()) EXPECT_TRUE(names.contains("kernel " + spec.name));
}

TEST(Features, AKernelCountsForItsArguments) {
  EXPECT_EQ(features_of("buffer b0 64\nkernel g0.n0 axpy_u64 out=b0+0 in=b0+64 n=1 a=addr(b0) style=extra opaque"),
            (Features{{"command buffer", 1},
                      {"memory device", 1},
                      {"node kernel", 1},
                      {"kernel axpy_u64", 1},
                      {"pointer base", 1},
                      {"pointer one past the end", 1},
                      {"scalar number in 4 bytes", 1},
                      {"scalar addr() in 8 bytes", 1},
                      {"style extra", 1},
                      {"opaque kernel", 1}}));
}

TEST(Features, AKernelByItsSymbolCountsAsSuch) {
  const std::string kernel = "buffer b0 64\nkernel g0.n0 inplace_u32 data=b0 n=1 k=1";
  EXPECT_EQ(features_of(kernel + " by_symbol").at("kernel by symbol"), 1u);
  EXPECT_FALSE(features_of(kernel).contains("kernel by symbol"));
}

TEST(Features, ACooperativeLaunchCountsAsSuch) {
  const std::string kernel = "buffer b0 64\non s0 kernel inplace_u32 data=b0 n=1 k=1";
  EXPECT_EQ(features_of(kernel + " cooperative").at("cooperative launch"), 1u);
  EXPECT_FALSE(features_of(kernel).contains("cooperative launch"));
}

TEST(Features, PointersInsideOfStructsCountAsSuch) {
  const Features features =
      features_of("buffer b0 64\nkernel g0.n0 gather_struct p.out=b0+8 p.in=b0 p.n=1 p.flag=1 p.bias=2 tag=addr(b0)");
  EXPECT_EQ(features.at("pointer in a struct"), 2u);
  EXPECT_EQ(features.at("pointer interior"), 1u);
  EXPECT_EQ(features.at("scalar addr() in 2 bytes"), 1u);
  EXPECT_EQ(features.at("scalar number in 1 bytes"), 1u);
}

TEST(Features, MovesCountByTheirShape) {
  EXPECT_EQ(features_of("move b0"), (Features{{"command move", 1}, {"move one", 1}}));
  EXPECT_EQ(features_of("move b0 b1"), (Features{{"command move", 1}, {"move several", 1}}));
  EXPECT_EQ(features_of("move b0=@b1 b1=@b0"), (Features{{"command move", 1}, {"move swap", 1}}));
  EXPECT_EQ(features_of("move b0=@b1 b1=@b2 b2=@b0"), (Features{{"command move", 1}, {"move cycle", 1}}));
  EXPECT_EQ(features_of("move b0=@b1 b1"), (Features{{"command move", 1}, {"move chain", 1}}));
}

TEST(Features, CopiesAndMemsetsCountByTheirShape) {
  const std::string copy = "memcpy3d g0.n0 dst=b0 src=b1 dpitch=9 spitch=9 ";
  EXPECT_TRUE(features_of(copy + "width=1 height=1 depth=1 kind=h2d").contains("copy of one row"));
  EXPECT_TRUE(features_of(copy + "width=1 height=2 depth=1 kind=h2d").contains("copy of many rows"));
  EXPECT_TRUE(features_of(copy + "width=1 height=2 depth=2 kind=h2d").contains("copy of many slices"));
  EXPECT_TRUE(features_of(copy + "width=1 height=1 depth=1 spos=0,1,0").contains("copy with positions"));
  EXPECT_TRUE(features_of(copy + "width=1 height=1 depth=1 kind=d2h").contains("copy d2h"));
  EXPECT_TRUE(features_of("memset g0.n0 dst=b0 value=1 width=1 element=2").contains("memset element 2"));
  EXPECT_TRUE(features_of("memset g0.n0 dst=b0 value=1 width=1 height=2 pitch=1").contains("memset 2D"));
}

TEST(Features, SettersCountByTargetAndType) {
  EXPECT_EQ(features_of("set e0.n0 host tag=1"), (Features{{"command set", 1}, {"set exec host", 1}}));
  EXPECT_EQ(features_of("set g0.n0 memset dst=b0 value=1 width=1"),
            (Features{{"command set", 1}, {"set graph memset", 1}, {"memset 1D", 1}, {"memset element 1", 1}}));
}

TEST(Features, AGraphThatIsInstantiatedBeforeItHasNodesIsEmpty) {
  EXPECT_TRUE(features_of("graph g0\ninstantiate e0 g0\nempty g0.n0").contains("empty graph"));
  EXPECT_FALSE(features_of("graph g0\nempty g0.n0\ninstantiate e0 g0").contains("empty graph"));
}

// ---- pictures of a program's graphs

TEST(Picture, AGraphIsDrawnWithItsNodesItsEdgesAndWhatIsAtFault) {
  const std::vector<GraphPicture> pictures = draw_graphs(parsed(kExample), {"g0.n1"});
  ASSERT_EQ(pictures.size(), 1u);
  EXPECT_EQ(pictures[0].name, "g0");
  ASSERT_EQ(pictures[0].nodes.size(), 2u);
  EXPECT_EQ(pictures[0].nodes[0].label, "axpy_u64");
  EXPECT_FALSE(pictures[0].nodes[0].at_fault);
  EXPECT_EQ(pictures[0].nodes[1].label, "memcpy");
  EXPECT_TRUE(pictures[0].nodes[1].at_fault);
  ASSERT_EQ(pictures[0].edges.size(), 1u);
  EXPECT_EQ(pictures[0].edges[0].from, "n0");
  EXPECT_EQ(pictures[0].edges[0].to, "n1");
}

TEST(Picture, ChildrenAndFansSaySo) {
  const std::vector<GraphPicture> pictures =
      draw_graphs(program_of("graph g0\nempty g0.n0 fan=3\ngraph g1\nchild g1.n0 g0"), {});
  ASSERT_EQ(pictures.size(), 2u);
  EXPECT_EQ(pictures[0].nodes.at(0).label, "empty x3");
  EXPECT_EQ(pictures[1].nodes.at(0).label, "child g0");
}

}  // namespace
}  // namespace verify
