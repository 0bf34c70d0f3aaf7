// Orders and reachability on random graphs.
#include "model/plan.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace model {
namespace {

struct Edges {
  std::vector<std::vector<StepIndex>> dependencies, dependents;
  void add(StepIndex from, StepIndex to) {
    dependencies[to].push_back(from);
    dependents[from].push_back(to);
  }
};

// Acyclic: edges go up in a random numbering, so that indices say nothing about order.
Edges arbitrary_dag() {
  const auto count = *rc::gen::inRange<std::size_t>(0, 20);
  Edges edges{std::vector<std::vector<StepIndex>>(count), std::vector<std::vector<StepIndex>>(count)};
  std::vector<StepIndex> rank(count);
  for (StepIndex i = 0; i < count; ++i) rank[i] = i;
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  for (std::size_t i = count; i > 1; --i) std::swap(rank[i - 1], rank[random.below(i)]);
  for (StepIndex a = 0; a < count; ++a) {
    for (StepIndex b = 0; b < count; ++b) {
      if (rank[a] < rank[b] && random.below(4) == 0) edges.add(a, b);
    }
  }
  return edges;
}

bool legal(const Edges& edges, const std::vector<StepIndex>& order) {
  std::vector<std::size_t> position(edges.dependencies.size(), order.size());
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  for (StepIndex step = 0; step < edges.dependencies.size(); ++step) {
    if (position[step] == order.size()) return false;
    for (const StepIndex dependency : edges.dependencies[step]) {
      if (position[dependency] >= position[step]) return false;
    }
  }
  return order.size() == edges.dependencies.size();
}

RC_GTEST_PROP(PlanProperty, EveryOrderHonoursEveryEdge, (std::uint64_t seed)) {
  const Edges edges = arbitrary_dag();
  Random random(seed);
  RC_ASSERT(legal(edges, topological_order(edges.dependencies, edges.dependents, nullptr)));
  RC_ASSERT(legal(edges, topological_order(edges.dependencies, edges.dependents, &random)));
}

RC_GTEST_PROP(PlanProperty, TheStableOrderIsTheLexicographicallyFirst, ()) {
  const Edges edges = arbitrary_dag();
  const auto order = topological_order(edges.dependencies, edges.dependents, nullptr);
  std::vector<bool> done(order.size(), false);
  for (const StepIndex chosen : order) {
    for (StepIndex earlier = 0; earlier < chosen; ++earlier) {
      const auto& needs = edges.dependencies[earlier];
      const bool was_ready = std::all_of(needs.begin(), needs.end(), [&](StepIndex d) { return done[d]; });
      RC_ASSERT(done[earlier] || !was_ready);
    }
    done[chosen] = true;
  }
}

TEST(Plan, EveryLegalOrderIsDrawnByAndBy) {
  Edges edges{std::vector<std::vector<StepIndex>>(4), std::vector<std::vector<StepIndex>>(4)};
  edges.add(0, 3);
  edges.add(1, 3);
  std::vector<std::vector<StepIndex>> seen;
  Random random(1);
  for (int i = 0; i < 1000; ++i) seen.push_back(topological_order(edges.dependencies, edges.dependents, &random));
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  EXPECT_EQ(seen.size(), 8u);  // of 24, the orders with 3 behind 0 and 1
}

RC_GTEST_PROP(PlanProperty, ACycleHasNoOrder, ()) {
  Edges edges = arbitrary_dag();
  RC_PRE(edges.dependencies.size() >= 2);
  const auto order = topological_order(edges.dependencies, edges.dependents, nullptr);
  edges.add(order.back(), order.front());
  edges.add(order.front(), order.back());
  RC_ASSERT(topological_order(edges.dependencies, edges.dependents, nullptr).empty());
}

bool path(const Edges& edges, StepIndex from, StepIndex to) {
  return std::any_of(edges.dependents[from].begin(), edges.dependents[from].end(),
                     [&](StepIndex next) { return next == to || path(edges, next, to); });
}

RC_GTEST_PROP(PlanProperty, ReachabilityIsTheExistenceOfAPath, ()) {
  const Edges edges = arbitrary_dag();
  const auto order = topological_order(edges.dependencies, edges.dependents, nullptr);
  const Reachability reachability(edges.dependencies, order);
  RC_ASSERT(reachability.known());
  for (StepIndex a = 0; a < order.size(); ++a) {
    for (StepIndex b = 0; b < order.size(); ++b) RC_ASSERT(reachability.reaches(a, b) == path(edges, a, b));
  }
}

TEST(Plan, ReachabilityWorksAcrossWords) {
  constexpr StepIndex kSteps = 200;
  Edges edges{std::vector<std::vector<StepIndex>>(kSteps), std::vector<std::vector<StepIndex>>(kSteps)};
  for (StepIndex i = 2; i < kSteps; ++i) edges.add(i - 2, i);
  const auto order = topological_order(edges.dependencies, edges.dependents, nullptr);
  const Reachability reachability(edges.dependencies, order);
  EXPECT_TRUE(reachability.reaches(0, 198));
  EXPECT_FALSE(reachability.reaches(0, 199));
  EXPECT_FALSE(reachability.ordered(100, 101));
}

}  // namespace
}  // namespace model
