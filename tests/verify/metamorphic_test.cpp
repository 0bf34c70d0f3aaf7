// Variants of a program that must observe the same: each is valid, differs from the original, and names its change.
#include "verify/oracle/metamorphic.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "programs.h"
#include "verify/generate/generator.h"

namespace verify {
namespace {

std::vector<std::string> commands_of(const Program& program) {
  std::vector<std::string> lines;
  for (const Step& step : program.steps) lines.push_back(print_command(step.command));
  return lines;
}

RC_GTEST_PROP(Metamorphic, EveryVariantIsValidHoldsTheOriginalsStepsAndIsAnotherProgram, ()) {
  const Program program = *arbitrary_program({});
  for (const Variant& variant : equal_variants(program)) {
    std::vector<const Derived*> sides = {&variant.derived};
    if (variant.reference) sides.push_back(&*variant.reference);
    for (const Derived* side : sides) {
      RC_ASSERT(flaw(side->program) == "");
      RC_ASSERT(!(side->program == program));
      RC_ASSERT(side->program.setting.placement == program.setting.placement);
      std::size_t kept = 0;
      for (const std::size_t at : side->origin) {
        if (at == kNoStep) continue;
        RC_ASSERT(at == kept);
        ++kept;
      }
      const std::size_t taken = side->origin.empty() ? side->program.steps.size() : kept;
      RC_ASSERT(taken == program.steps.size());
    }
  }
}

RC_GTEST_PROP(Metamorphic, AnotherOrderHoldsTheSameCommands, ()) {
  const Program program = *arbitrary_program({});
  for (const Variant& variant : equal_variants(program)) {
    if (variant.change != "nodes added in another order") continue;
    const std::vector<std::string> before = commands_of(program), after = commands_of(variant.derived.program);
    RC_ASSERT(std::multiset<std::string>(before.begin(), before.end()) ==
              std::multiset<std::string>(after.begin(), after.end()));
  }
}

TEST(Metamorphic, EveryChangeIsMadeToSomeGeneratedProgram) {
  std::map<std::string_view, int> changes;
  for (std::uint64_t index = 0; index < 900; ++index) {
    for (const Variant& variant : equal_variants(campaign_program(31, index, {}))) ++changes[variant.change];
  }
  EXPECT_EQ(changes.size(), 8u);
  for (const auto& [change, count] : changes) EXPECT_GE(count, 20) << change;
}

std::optional<Program> variant_of(const Program& program, std::string_view change, const Avoid& avoid = {}) {
  for (const Variant& variant : equal_variants(program, avoid)) {
    if (variant.change == change) return variant.derived.program;
  }
  return std::nullopt;
}

TEST(Metamorphic, TheOtherStyleIsGivenToEveryKernelThatIsAdded) {
  const std::optional<Program> variant =
      variant_of(program_of("buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=1 k=2\n"
                            "kernel g0.n1 inplace_u32 data=b0 n=1 k=2 style=extra after=n0"),
                 "the other argument style");
  ASSERT_TRUE(variant);
  EXPECT_TRUE(*variant == program_of("buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=1 k=2 style=extra\n"
                                     "kernel g0.n1 inplace_u32 data=b0 n=1 k=2 after=n0"));
}

TEST(Metamorphic, FormsThatTheReleaseDoesWronglyAreLeftAsTheyAre) {
  const Program program =
      program_of("buffer b0 64\ngraph g0\nempty g0.n0\nmemset g0.n1 dst=b0 value=1 width=4 after=n0");
  const auto forms = [&program](const verify::Avoid& avoid) {
    std::vector<verify::NodeForm> found;
    const std::optional<Program> variant = variant_of(program, "the other form of nodes", avoid);
    for (const verify::Step& step : variant.value_or(Program()).steps) {
      if (const auto* node = std::get_if<verify::AddNode>(&step.command)) found.push_back(node->form);
    }
    return found;
  };
  using verify::NodeForm;
  EXPECT_EQ(forms({}), (std::vector{NodeForm::kGeneric, NodeForm::kGeneric}));
  EXPECT_EQ(forms([](const verify::State&, const verify::Command& command, verify::Id) {
              const auto* node = std::get_if<verify::AddNode>(&command);
              return node != nullptr && std::holds_alternative<verify::EmptyParams>(node->params) &&
                     node->form == NodeForm::kGeneric;
            }),
            (std::vector{NodeForm::kTyped, NodeForm::kGeneric}));
  EXPECT_TRUE(forms([](const verify::State&, const verify::Command&, verify::Id) { return true; }).empty());
}

TEST(Metamorphic, AnEdgeThatIsTakenOutAgainImpliesNothing) {
  const Program program =
      program_of("graph g0\nempty g0.n0\nempty g0.n1 after=n0\nunedge g0.n1 after=n0\nedge g0.n1 after=n0");
  EXPECT_FALSE(variant_of(program, "no redundant edge"));
}

// One graph that has an edge and another that has not are two shapes, whether or not the edge says anything new.
TEST(Metamorphic, AnUpdateKeepsTheEdgesThatItCompares) {
  const std::string graph = "graph g0\nempty g0.n0\nempty g0.n1 after=n0\nempty g0.n2 after=n0,n1\n";
  EXPECT_TRUE(variant_of(program_of(graph), "no redundant edge"));
  const std::string update = "instantiate e0 g0\nremove g0.n2\nempty g0.n3 after=n1\nupdate e0 g0\n";
  EXPECT_FALSE(variant_of(program_of(graph + update), "no redundant edge"));
}

TEST(Metamorphic, RedundantEdgesAreThoseThatTheOthersImply) {
  const std::optional<Program> variant = variant_of(
      program_of("graph g0\nempty g0.n0\nempty g0.n1 after=n0\nempty g0.n2 after=n1\nempty g0.n3"), "redundant edges");
  ASSERT_TRUE(variant);
  EXPECT_EQ(print_command(variant->steps.at(3).command), "empty g0.n2 after=n0,n1");
  EXPECT_EQ(print_command(variant->steps.at(4).command), "empty g0.n3");
}

// A chain of 4,000 nodes would have eight million edges.
TEST(Metamorphic, ANodeGetsABoundedNumberOfRedundantEdges) {
  std::string chain = "graph g0\nempty g0.n0\n";
  for (int i = 1; i < 4000; ++i) chain += "empty g0.n" + std::to_string(i) + " after=n" + std::to_string(i - 1) + "\n";
  const std::optional<Program> variant = variant_of(program_of(chain), "redundant edges");
  ASSERT_TRUE(variant);
  const auto edges_of = [&](std::size_t node) { return std::get<AddNode>(variant->steps.at(node + 1).command).after; };
  EXPECT_EQ(edges_of(40).size(), 40U);
  EXPECT_EQ(edges_of(3999).size(), 64U);
  EXPECT_EQ(edges_of(3999).back(), 3998U);
  EXPECT_FALSE(variant_of(program_of(chain), "no redundant edge"));
}

TEST(Metamorphic, AChainPutsEachNodeBehindTheOneThatWasAddedBeforeIt) {
  const auto chained = [](const std::string& text) { return with_nodes_in_a_chain(program_of(text)); };
  const std::optional<Program> chain = chained(
      "graph g0\nempty g0.n0\nempty g0.n1\nempty g0.n2\nremove g0.n1\ngraph g2\nempty g2.n0\nclone g1 g0\n"
      "empty g1.n3");
  ASSERT_TRUE(chain);
  const std::vector<std::string> commands = commands_of(*chain);
  for (const char* line : {"empty g0.n1 after=n0", "empty g0.n2 after=n0", "empty g2.n0", "empty g1.n3 after=n2"}) {
    EXPECT_NE(std::ranges::find(commands, line), commands.end()) << line;
  }
  EXPECT_FALSE(chained("graph g0\nempty g0.n0\nempty g0.n1 after=n0")) << "nothing changes";
  EXPECT_FALSE(chained("graph g0\nempty g0.n0\nempty g0.n1\nedge g0.n1 after=n0")) << "the edge would be there twice";
  EXPECT_FALSE(chained("graph g0\nempty g0.n0\nempty g0.n1\ninstantiate e0 g0\nupdate e0 g0"))
      << "edges decide what an update answers";
}

TEST(Metamorphic, NodesThatDependOnEachOtherKeepTheirOrder) {
  const std::string two = "graph g0\nempty g0.n0\nempty g0.n1";
  EXPECT_FALSE(variant_of(program_of(two + " after=n0"), "nodes added in another order"));
  EXPECT_TRUE(variant_of(program_of(two), "nodes added in another order"));
}

TEST(Metamorphic, AProgramWithAnUpdateKeepsTheOrderOfItsNodes) {
  const Program program = program_of("graph g0\nempty g0.n0\nempty g0.n1\ninstantiate e0 g0\nupdate e0 g0");
  EXPECT_FALSE(variant_of(program, "nodes added in another order"));
}

TEST(Metamorphic, AProgramWithoutNodesHasNoVariants) {
  EXPECT_TRUE(equal_variants(program_of("buffer b0 64\ngraph g0\nmove b0")).empty());
}

}  // namespace
}  // namespace verify
