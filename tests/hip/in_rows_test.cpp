// hip::in_rows: the nodes of one row each together write the same bytes as the node of several rows.
#include "hip/in_rows.h"

#include <gtest/gtest.h>

#include <vector>

#include "row_shapes.h"

namespace {

using namespace shapes;

void expect_the_same(const hip::RecordedNode& node, Draw& draw, std::size_t rows) {
  const std::vector<hip::RecordedNode> nodes = hip::in_rows(node);
  ASSERT_FALSE(nodes.empty());
  EXPECT_LE(nodes.size(), rows);
  Bytes to = pattern(draw), from = pattern(draw), other = to;
  run(node, to, from);
  for (const hip::RecordedNode& each : nodes) {
    EXPECT_EQ(hip::flaw_of(each, 0), nullptr);
    EXPECT_TRUE(hip::in_rows(each).empty()) << "a row is not a node of rows";
    run(each, other, from);
  }
  EXPECT_EQ(to, other);
}

TEST(InRows, AMemsetOfRowsIsAsManyOfOneOrOneWithoutGaps) {
  Draw draw{std::mt19937_64(1)};
  for (int i = 0; i < 500; ++i) {
    const hip::RecordedNode node = memset_of_rows(draw);
    const hipMemsetParams& p = std::get<hip::MemsetRecord>(node.record).params;
    expect_the_same(node, draw, p.pitch == p.width * p.elementSize ? 1 : p.height);
  }
}

TEST(InRows, ACopyOfRowsIsAsManyLinearOnesOrOneWithoutGaps) {
  Draw draw{std::mt19937_64(2)};
  for (int i = 0; i < 500; ++i) {
    const bool tight = draw(0, 2) == 0;
    const hip::RecordedNode node = copy_of_rows(draw, tight);
    const hipExtent& extent = std::get<hip::CopyRecord>(node.record).params.extent;
    expect_the_same(node, draw, tight ? 1 : extent.height * extent.depth);
  }
}

TEST(InRows, WhatHasNoRowsStaysAsItIs) {
  hip::MemsetRecord line;
  line.params.height = 1;
  hip::CopyRecord copy;
  copy.linear = true;
  EXPECT_TRUE(hip::in_rows({line, {}, {}}).empty());
  EXPECT_TRUE(hip::in_rows({copy, {}, {}}).empty());
  EXPECT_TRUE(hip::in_rows({hip::EmptyRecord{}, {}, {}}).empty());
}

}  // namespace
