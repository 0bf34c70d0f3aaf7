// hip::in_rows: the nodes of one row each write what the node of rows does, byte for byte.
#include "hip/in_rows.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace {

using Bytes = std::vector<unsigned char>;

constexpr std::size_t kBytes = 4096;
constexpr hip::BufferIndex kTo = 0, kFrom = 1;

struct Draw {
  std::mt19937_64 engine;
  std::size_t operator()(std::size_t from, std::size_t to) {
    return std::uniform_int_distribution<std::size_t>(from, to)(engine);
  }
};

// What HIP documents, of nodes whose addresses are those of host memory.
void run(const hip::RecordedNode& node, Bytes& to, Bytes& from) {
  const std::vector<hip::DeviceAddress> addresses = {reinterpret_cast<hip::DeviceAddress>(to.data()),
                                                     reinterpret_cast<hip::DeviceAddress>(from.data())};
  const hip::NodeRecord record = hip::relocated(node, addresses);
  if (const auto* memset = std::get_if<hip::MemsetRecord>(&record)) {
    const hipMemsetParams& p = memset->params;
    for (std::size_t y = 0; y < p.height; ++y) {
      for (std::size_t x = 0; x < p.width; ++x) {
        std::memcpy(static_cast<unsigned char*>(p.dst) + y * p.pitch + x * p.elementSize, &p.value, p.elementSize);
      }
    }
    return;
  }
  const hipMemcpy3DParms& p = std::get<hip::CopyRecord>(record).params;
  for (std::size_t z = 0; z < p.extent.depth; ++z) {
    for (std::size_t y = 0; y < p.extent.height; ++y) {
      const auto at = [&](const hipPitchedPtr& end, const hipPos& pos) {
        return static_cast<unsigned char*>(end.ptr) + pos.x + end.pitch * (pos.y + y + end.ysize * (pos.z + z));
      };
      std::memcpy(at(p.dstPtr, p.dstPos), at(p.srcPtr, p.srcPos), p.extent.width);
    }
  }
}

Bytes pattern(Draw& draw) {
  Bytes bytes(kBytes);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(draw(0, 255));
  return bytes;
}

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
    hip::MemsetRecord record;
    hipMemsetParams& p = record.params;
    p.elementSize = 1U << draw(0, 2);
    p.width = draw(1, 16);
    p.height = draw(2, 8);
    p.pitch = p.width * p.elementSize + (draw(0, 2) == 0 ? 0 : draw(1, 40));
    p.value = static_cast<unsigned>(draw(0, 0xffffffff));
    const auto addend = static_cast<std::int64_t>(draw(0, 64) * p.elementSize);
    expect_the_same({record, {}, {{hip::Field::kMemsetDestination, 0, kTo, addend}}}, draw,
                    p.pitch == p.width * p.elementSize ? 1 : p.height);
  }
}

TEST(InRows, ACopyOfRowsIsAsManyLinearOnesOrOneWithoutGaps) {
  Draw draw{std::mt19937_64(2)};
  for (int i = 0; i < 500; ++i) {
    hip::CopyRecord record;
    hipMemcpy3DParms& p = record.params;
    p.extent = {draw(1, 16), draw(1, 5), draw(1, 4)};
    const bool tight = draw(0, 2) == 0;
    const auto end = [&](hipPitchedPtr& where, hipPos& position) {
      if (!tight) position = {draw(0, 4), draw(0, 2), draw(0, 2)};
      where.pitch = p.extent.width + position.x + (tight ? 0 : draw(0, 9));
      where.xsize = p.extent.width;
      where.ysize = p.extent.height + position.y + (tight ? 0 : draw(0, 3));
    };
    end(p.dstPtr, p.dstPos);
    end(p.srcPtr, p.srcPos);
    p.kind = hipMemcpyDefault;
    expect_the_same({record, {}, {{hip::Field::kCopyDestination, 0, kTo, 3}, {hip::Field::kCopySource, 0, kFrom, 5}}},
                    draw, tight ? 1 : p.extent.height * p.extent.depth);
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
