// hip::flattened on random nested recordings: every node is there once, and comes behind the same nodes as before.
#include "hip/flatten.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <vector>

namespace {

using hip::NodeIndex;
using hip::Recording;

// Nodes are told apart by the value that they set.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : engine_(seed) {}

  Recording recording(int depth) {
    Recording made;
    const std::size_t count = below(6);
    for (NodeIndex i = 0; i < count; ++i) {
      hip::RecordedNode node{hip::EmptyRecord{}, {}, {}};
      for (NodeIndex other = 0; other < i; ++other) {
        if (below(3) == 0) node.dependencies.push_back(other);
      }
      if (depth > 0 && below(3) == 0) {
        node.record = hip::ChildRecord{std::make_shared<const Recording>(recording(depth - 1))};
      } else {
        hip::MemsetRecord record;
        record.params.value = ++values_;
        node.record = record;
        node.relocations = {{hip::Field::kMemsetDestination, 0, static_cast<hip::BufferIndex>(below(4)), 8}};
      }
      made.add(std::move(node));
    }
    return made;
  }
  [[nodiscard]] unsigned values() const { return values_; }

 private:
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  std::mt19937_64 engine_;
  unsigned values_ = 0;
};

// before[a][b]: whether node a of one level is before node b, by any number of edges.
std::vector<std::vector<bool>> closure(const Recording& recording) {
  const auto nodes = recording.nodes();
  std::vector before(nodes.size(), std::vector<bool>(nodes.size(), false));
  for (NodeIndex b = 0; b < nodes.size(); ++b) {
    for (const NodeIndex a : nodes[b].dependencies) {
      before[a][b] = true;
      for (NodeIndex c = 0; c < nodes.size(); ++c) before[c][b] = before[c][b] || before[c][a];
    }
  }
  return before;
}

using Pairs = std::map<std::pair<unsigned, unsigned>, bool>;

std::vector<unsigned> values_of(const hip::RecordedNode& node) {
  if (const auto* memset = std::get_if<hip::MemsetRecord>(&node.record)) return {memset->params.value};
  std::vector<unsigned> values;
  if (const auto* child = std::get_if<hip::ChildRecord>(&node.record)) {
    for (const hip::RecordedNode& inner : child->graph->nodes()) {
      const std::vector<unsigned> more = values_of(inner);
      values.insert(values.end(), more.begin(), more.end());
    }
  }
  return values;
}

// Which values are set before which others.
void note_order(const Recording& recording, Pairs& pairs) {
  const auto before = closure(recording);
  const auto nodes = recording.nodes();
  for (NodeIndex a = 0; a < nodes.size(); ++a) {
    if (const auto* child = std::get_if<hip::ChildRecord>(&nodes[a].record)) note_order(*child->graph, pairs);
    for (NodeIndex b = 0; b < nodes.size(); ++b) {
      if (a == b) continue;
      for (const unsigned x : values_of(nodes[a])) {
        for (const unsigned y : values_of(nodes[b])) pairs[{x, y}] = before[a][b];
      }
    }
  }
}

TEST(Flattened, KeepsEveryNodeOnceAndWhatItComesBehind) {
  std::size_t nested = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Generator generator(seed);
    const Recording recording = generator.recording(3);
    nested += recording.child_depth() > 1 ? 1 : 0;
    const Recording flat = hip::flattened(recording);
    EXPECT_EQ(flat.child_depth(), 0u);
    Pairs expected, observed;
    note_order(recording, expected);
    note_order(flat, observed);
    ASSERT_EQ(observed, expected) << "seed " << seed;
    unsigned values = 0;
    for (const hip::RecordedNode& node : flat.nodes()) {
      if (!std::holds_alternative<hip::MemsetRecord>(node.record)) continue;
      ++values;
      EXPECT_EQ(node.relocations.size(), 1u);
    }
    ASSERT_EQ(values, generator.values()) << "seed " << seed;
  }
  EXPECT_GT(nested, 100u);
}

// A fan of children behind a fan of nodes, again and again: edges do not multiply.
TEST(Flattened, HasEdgesInProportionToThoseThatThereWere) {
  constexpr NodeIndex kWidth = 64;
  auto wide = std::make_shared<Recording>();
  for (NodeIndex i = 0; i < kWidth; ++i) wide->add({hip::MemsetRecord{}, {}, {}});
  Recording chain;
  for (NodeIndex i = 0; i < kWidth; ++i) {
    std::vector<NodeIndex> behind;
    if (i != 0) behind.push_back(i - 1);
    chain.add({hip::ChildRecord{wide}, std::move(behind), {}});
  }
  std::size_t edges = 0;
  const Recording flat = hip::flattened(chain);
  for (const hip::RecordedNode& node : flat.nodes()) edges += node.dependencies.size();
  EXPECT_LE(edges, 2 * flat.nodes().size());
}

TEST(Flattened, AChildWithoutNodesIsAnEmptyNodeAndOneThatClosesACircleStaysAChild) {
  Recording recording;
  recording.add({hip::MemsetRecord{}, {}, {}});
  recording.add({hip::ChildRecord{std::make_shared<const Recording>()}, {0}, {}});
  recording.add({hip::MemsetRecord{}, {1}, {}});
  const Recording flat = hip::flattened(recording);
  ASSERT_EQ(flat.nodes().size(), 3u);
  EXPECT_TRUE(std::holds_alternative<hip::EmptyRecord>(flat.nodes()[1].record));
  EXPECT_EQ(flat.nodes()[2].dependencies, std::vector<NodeIndex>{1});

  auto later = std::make_shared<Recording>();
  later->add({hip::MemsetRecord{}, {}, {}});
  later->add({hip::MemsetRecord{}, {}, {}});
  later->connect(1, 0);
  const auto holding = [](std::shared_ptr<const Recording> child) {
    Recording holds;
    holds.add({hip::ChildRecord{std::move(child)}, {}, {}});
    return holds;
  };
  EXPECT_EQ(hip::flattened(holding(later)).child_depth(), 0u);
  auto circle = std::make_shared<Recording>(*later);
  circle->connect(0, 1);
  EXPECT_EQ(hip::flattened(holding(circle)).child_depth(), 1u);
}

TEST(Flattened, SaysWhereItsOwnNodesWent) {
  auto child = std::make_shared<Recording>();
  child->add({hip::MemsetRecord{}, {}, {}});
  child->add({hip::MemsetRecord{}, {}, {}});
  Recording recording;
  recording.add({hip::ChildRecord{child}, {}, {}});
  recording.add({hip::HostRecord{}, {0}, {}});
  recording.add({hip::EmptyRecord{}, {}, {}});
  recording.connect(2, 0);  // the first one waits for the last one
  hip::Places places;
  const Recording flat = hip::flattened(recording, places);
  ASSERT_EQ(places.size(), 3u);
  EXPECT_TRUE(places[0].empty());
  ASSERT_EQ(places[1].size(), 1u);
  EXPECT_TRUE(std::holds_alternative<hip::HostRecord>(flat.nodes()[places[1].front()].record));
  EXPECT_EQ(places[2], std::vector<NodeIndex>{0});
}

}  // namespace
