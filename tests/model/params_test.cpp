// The effects and the errors of copies and memsets, against byte-by-byte oracles.
//
// Sources of the refusals: MemsetCommonNegative, MemcpyWithDirectionCommonNegativeTests and
// ModuleLaunchKernelNegativeParameters of HIP's public tests.
#include "model/params.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/fixture.h"

namespace model {
namespace {

constexpr std::size_t kBytes = 2048;

struct TwoBuffers {
  TwoBuffers() {
    EXPECT_EQ(space.allocate(kBytes, MemoryKind::kDevice, 0, &dst), Status::kSuccess);
    EXPECT_EQ(space.allocate(kBytes, MemoryKind::kDevice, 0, &src), Status::kSuccess);
    for (std::size_t i = 0; i < kBytes; ++i) {
      space.peek(dst, kBytes)[i] = static_cast<std::byte>(i * 7 + 1);
      space.peek(src, kBytes)[i] = static_cast<std::byte>(i * 31 + 5);
    }
  }
  [[nodiscard]] std::vector<std::byte> bytes(Address base) const {
    const std::byte* begin = space.peek(base, kBytes);
    return {begin, begin + kBytes};
  }
  AddressSpace space;
  Address dst = 0, src = 0;
};

CopyParams arbitrary_copy(const TwoBuffers& buffers, std::size_t least) {
  CopyParams copy;
  copy.extent = {*rc::gen::inRange<std::size_t>(least, 12), *rc::gen::inRange<std::size_t>(least, 5),
                 *rc::gen::inRange<std::size_t>(least, 4)};
  const auto side = [&](Address base, PitchedPointer* pointer, Position* position) {
    *position = {*rc::gen::inRange<std::size_t>(0, 4), *rc::gen::inRange<std::size_t>(0, 3),
                 *rc::gen::inRange<std::size_t>(0, 3)};
    pointer->base = base + *rc::gen::inRange<Address>(0, 9);
    pointer->xsize = copy.extent.width + position->x;
    pointer->pitch = pointer->xsize + *rc::gen::inRange<std::size_t>(0, 5);
    pointer->ysize = copy.extent.height + position->y + *rc::gen::inRange<std::size_t>(0, 3);
  };
  side(buffers.dst, &copy.dst, &copy.dst_pos);
  side(buffers.src, &copy.src, &copy.src_pos);
  return copy;
}

RC_GTEST_PROP(CopyProperty, ACopyMovesExactlyTheBytesOfItsShape, ()) {
  TwoBuffers buffers;
  const CopyParams copy = arbitrary_copy(buffers, 0);
  std::vector<std::byte> expected = buffers.bytes(buffers.dst);
  const std::vector<std::byte> source = buffers.bytes(buffers.src);
  std::size_t moved = 0;
  for (std::size_t z = 0; z < copy.extent.depth; ++z) {
    for (std::size_t y = 0; y < copy.extent.height; ++y) {
      for (std::size_t x = 0; x < copy.extent.width; ++x, ++moved) {
        const auto at = [&](const PitchedPointer& p, const Position& pos, Address base) {
          return p.base - base + ((z + pos.z) * p.ysize + (y + pos.y)) * p.pitch + x + pos.x;
        };
        expected[at(copy.dst, copy.dst_pos, buffers.dst)] = source[at(copy.src, copy.src_pos, buffers.src)];
      }
    }
  }
  AccessLog log;
  MemoryAccess memory(buffers.space, Accessor::kCopy, &log);
  std::string why;
  RC_ASSERT(validate(copy, buffers.space) == Status::kSuccess);
  RC_ASSERT(apply(copy, memory, &why) == Status::kSuccess);
  RC_ASSERT(buffers.bytes(buffers.dst) == expected);
  RC_ASSERT(buffers.bytes(buffers.src) == source);
  log.normalise();
  std::size_t written = 0, read = 0;
  for (const Interval& i : log.writes.intervals()) written += i.end - i.begin;
  for (const Interval& i : log.reads.intervals()) read += i.end - i.begin;
  RC_ASSERT(written == moved);
  RC_ASSERT(read == moved);
}

RC_GTEST_PROP(CopyProperty, ACopyIsRefusedExactlyWhenItLeavesItsAllocation, ()) {
  TwoBuffers buffers;
  CopyParams copy = arbitrary_copy(buffers, 1);
  copy.dst.base = buffers.dst + *rc::gen::inRange<Address>(kBytes - 700, kBytes);
  const std::size_t last =
      ((copy.extent.depth - 1 + copy.dst_pos.z) * copy.dst.ysize + copy.extent.height - 1 + copy.dst_pos.y) *
          copy.dst.pitch +
      copy.dst_pos.x + copy.extent.width - 1;
  const bool inside = copy.dst.base + last < buffers.dst + kBytes;
  RC_ASSERT(validate(copy, buffers.space) == (inside ? Status::kSuccess : Status::kInvalidValue));
}

TEST(Copy, KindsHaveToDescribeTheMemory) {
  Machine m;
  const Address device = m.allocate(), other = m.allocate(), host = m.allocate(64, MemoryKind::kPageable);
  const AddressSpace& space = m.runtime.memory();
  const auto status = [&](Address dst, Address src, CopyKind kind) {
    return validate(linear_copy(dst, src, 8, kind), space);
  };
  EXPECT_EQ(status(device, other, CopyKind::kDeviceToDevice), Status::kSuccess);
  EXPECT_EQ(status(device, host, CopyKind::kHostToDevice), Status::kSuccess);
  EXPECT_EQ(status(device, host, CopyKind::kDeviceToDevice), Status::kInvalidValue);
  EXPECT_EQ(status(host, device, CopyKind::kDeviceToHost), Status::kSuccess);
  EXPECT_EQ(status(host, device, CopyKind::kHostToDevice), Status::kInvalidValue);
  EXPECT_EQ(status(device, other, CopyKind::kHostToDevice), Status::kSuccess);
  EXPECT_EQ(status(device, other, CopyKind::kDeviceToHost), Status::kSuccess);
  EXPECT_EQ(status(device, host, CopyKind::kDeviceToHost), Status::kInvalidValue);
  EXPECT_EQ(status(device, other, CopyKind::kHostToHost), Status::kInvalidValue);
  EXPECT_EQ(status(host, host, CopyKind::kHostToHost), Status::kSuccess);
  EXPECT_EQ(status(host, host, CopyKind::kDeviceToDevice), Status::kInvalidValue);
  EXPECT_EQ(status(host, device, CopyKind::kDefault), Status::kSuccess);
  EXPECT_EQ(status(device, other, static_cast<CopyKind>(5)), Status::kInvalidMemcpyDirection);
  EXPECT_EQ(status(0, other, CopyKind::kDefault), Status::kInvalidValue);
  EXPECT_EQ(status(device, 0, CopyKind::kDefault), Status::kInvalidValue);
}

TEST(Copy, PitchesThatDoNotHoldARowAreRefused) {
  Machine m;
  CopyParams copy;
  copy.dst = copy.src = {m.allocate(1024), 16, 16, 4};
  copy.extent = {16, 2, 1};
  ASSERT_EQ(validate(copy, m.runtime.memory()), Status::kSuccess);
  CopyParams narrow = copy;
  narrow.src.pitch = 15;
  EXPECT_EQ(validate(narrow, m.runtime.memory()), Status::kInvalidPitchValue);
  CopyParams wide = copy;
  wide.extent.width = 17;
  EXPECT_EQ(validate(wide, m.runtime.memory()), Status::kInvalidValue);
  CopyParams shifted = copy;
  shifted.dst_pos.x = 1;
  EXPECT_EQ(validate(shifted, m.runtime.memory()), Status::kInvalidValue);
  CopyParams huge = copy;
  huge.dst.pitch = std::size_t{1} << 31;
  EXPECT_EQ(validate(huge, m.runtime.memory()), Status::kInvalidValue);
}

RC_GTEST_PROP(MemsetProperty, AMemsetWritesExactlyItsElements, ()) {
  TwoBuffers buffers;
  MemsetParams set;
  set.element_size = *rc::gen::element(1u, 2u, 4u);
  set.width = *rc::gen::inRange<std::size_t>(1, 20);
  set.height = *rc::gen::inRange<std::size_t>(1, 6);
  set.pitch = set.width * set.element_size + *rc::gen::inRange<std::size_t>(0, 9);
  set.value = *rc::gen::arbitrary<std::uint32_t>();
  set.dst = buffers.dst + *rc::gen::inRange<Address>(0, 100);
  std::vector<std::byte> expected = buffers.bytes(buffers.dst);
  for (std::size_t y = 0; y < set.height; ++y) {
    for (std::size_t x = 0; x < set.width * set.element_size; ++x) {
      expected[set.dst - buffers.dst + y * set.pitch + x] =
          static_cast<std::byte>(set.value >> (x % set.element_size * 8));
    }
  }
  MemoryAccess memory(buffers.space, Accessor::kCopy, nullptr);
  std::string why;
  RC_ASSERT(validate(set, buffers.space) == Status::kSuccess);
  RC_ASSERT(apply(set, memory, &why) == Status::kSuccess);
  RC_ASSERT(buffers.bytes(buffers.dst) == expected);
}

TEST(Memset, EachRefusalDiffersFromAGoodMemsetInOneThing) {
  Machine m;
  const MemsetParams good{m.allocate(64), 16, 42, 4, 4, 4};
  const AddressSpace& space = m.runtime.memory();
  ASSERT_EQ(validate(good, space), Status::kSuccess);
  const auto refused = [&](auto change) {
    MemsetParams bad = good;
    change(bad);
    return validate(bad, space) == Status::kInvalidValue;
  };
  EXPECT_TRUE(refused([](auto& p) { p.dst = 0; }));
  EXPECT_TRUE(refused([](auto& p) { p.dst = 0x12345678; }));
  EXPECT_TRUE(refused([](auto& p) { p.element_size = 0; }));
  EXPECT_TRUE(refused([](auto& p) { p.element_size = 3; }));
  EXPECT_TRUE(refused([](auto& p) { p.width = 0; }));
  EXPECT_TRUE(refused([](auto& p) { p.height = 0; }));
  EXPECT_TRUE(refused([](auto& p) { p.pitch = 15; }));
  EXPECT_TRUE(refused([](auto& p) { p.height = 5; }));
  EXPECT_TRUE(refused([](auto& p) { p.dst += 1; }));
  EXPECT_TRUE(refused([](auto& p) { p.width = ~std::size_t{0}; }));
  EXPECT_TRUE(refused([&](auto& p) { p.dst = m.allocate(64, MemoryKind::kPageable); }));
}

TEST(KernelLaunch, EachRefusalDiffersFromAGoodLaunchInOneThing) {
  Machine m;
  const KernelParams good = m.add(m.allocate(), m.allocate(), 1);
  const AddressSpace& space = m.runtime.memory();
  ASSERT_EQ(validate(good, space), Status::kSuccess);
  const auto status = [&](auto change) {
    KernelParams bad = good;
    change(bad);
    return validate(bad, space);
  };
  EXPECT_EQ(status([](auto& p) { p.function = nullptr; }), Status::kInvalidDeviceFunction);
  EXPECT_EQ(status([](auto& p) { p.shape.grid.x = 0; }), Status::kInvalidValue);
  EXPECT_EQ(status([](auto& p) { p.shape.block.z = 0; }), Status::kInvalidValue);
  EXPECT_EQ(status([](auto& p) { p.shape.block = {1025, 1, 1}; }), Status::kInvalidConfiguration);
  EXPECT_EQ(status([](auto& p) { p.shape.block = {32, 33, 1}; }), Status::kInvalidConfiguration);
  EXPECT_EQ(status([](auto& p) { p.shape.block = {32, 32, 1}; }), Status::kSuccess);
  EXPECT_EQ(status([](auto& p) { p.shape.shared_bytes = 65537; }), Status::kInvalidValue);
  EXPECT_EQ(status([](auto& p) { p.shape = {{1u << 31, 1, 1}, {2, 1, 1}, 0}; }), Status::kInvalidConfiguration);
  EXPECT_EQ(status([](auto& p) { p.arguments.pop_back(); }), Status::kInvalidValue);
}

}  // namespace
}  // namespace model
