// hip::attribute on random signatures: what it takes for an address is one, and it gives up rarely. What is captured
// from a runtime is in tests/verify/systems/differential_capture_test.cpp.
#include "hip/differential_capture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

namespace {

using hip::Relocation;
using hip::Shadows;
using Block = std::vector<std::byte>;

// A signature: a block of bytes, and where it holds addresses.
struct Signature {
  Block frozen;  // what is the same wherever the buffers are
  std::vector<Relocation> truth;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  std::uint64_t bits() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

// Memory as an allocator gives it out: multiples of 256 in one region of the address space, in any order.
Shadows shadows_of(Random& random, std::size_t buffers, std::size_t tables) {
  Shadows shadows;
  for (hip::BufferIndex b = 0; b < buffers; ++b) {
    shadows.buffers.push_back(b);
    shadows.bytes.push_back(1 + random.below(4096));
  }
  do {
    shadows.tables.assign(tables, {});
    for (hip::AddressTable& table : shadows.tables) {
      for (std::size_t b = 0; b < buffers; ++b) table.push_back(0x7f0000000000 + random.below(1U << 24) * 256);
    }
  } while (hip::flaw_of(shadows) != nullptr);
  return shadows;
}

void put(Block& block, std::size_t offset, std::uint64_t value, std::size_t size) {
  std::memcpy(block.data() + offset, &value, size);
}

// Pointers at any byte, and between them whatever a library passes: often the bits of an address that a buffer has.
Signature signature_of(Random& random, const Shadows& shadows) {
  Signature signature;
  std::size_t at = 0;
  const std::size_t fields = 1 + random.below(8);
  for (std::size_t i = 0; i < fields; ++i) {
    at += random.below(4) == 0 ? random.below(9) : 0;  // padding
    const auto buffer = static_cast<hip::BufferIndex>(random.below(shadows.buffers.size()));
    if (random.below(2) == 0) {
      const std::uint64_t addends[] = {0, shadows.bytes[buffer], random.below(shadows.bytes[buffer] + 1)};
      signature.truth.push_back({hip::Field::kKernelArgument, static_cast<std::uint32_t>(at), buffer,
                                 static_cast<std::int64_t>(addends[random.below(3)])});
      signature.frozen.resize(std::max(signature.frozen.size(), at + 8));
      at += 8;
      continue;
    }
    const std::size_t size = std::size_t{1} << random.below(4);
    const std::uint64_t address = shadows.tables[random.below(shadows.tables.size())][buffer];
    signature.frozen.resize(std::max(signature.frozen.size(), at + size));
    put(signature.frozen, at, random.below(3) == 0 ? random.bits() : address + random.below(8), size);
    at += size;
  }
  return signature;
}

std::vector<Block> captured(const Signature& signature, const Shadows& shadows) {
  std::vector<Block> blocks;
  for (const hip::AddressTable& table : shadows.tables) {
    blocks.push_back(signature.frozen);
    for (const Relocation& relocation : signature.truth) {
      put(blocks.back(), relocation.offset, table[relocation.buffer] + static_cast<std::uint64_t>(relocation.addend),
          8);
    }
  }
  return blocks;
}

TEST(DifferentialCapture, FindsEveryAddressOfRandomSignaturesOrSaysThatItCannotAndNeverAnother) {
  constexpr int kSignatures = 100000;
  int opaque = 0;
  for (int i = 0; i < kSignatures; ++i) {
    Random random(static_cast<std::uint64_t>(i));
    const Shadows shadows = shadows_of(random, 1 + random.below(6), 2 + random.below(2));
    const Signature signature = signature_of(random, shadows);
    const hip::Result<std::vector<Relocation>> found = hip::attribute(captured(signature, shadows), shadows);
    if (!found) {
      ++opaque;
      continue;
    }
    ASSERT_EQ(found.value(), signature.truth) << "signature " << i;
  }
  EXPECT_LE(opaque, kSignatures / 20);
  RecordProperty("opaque", opaque);
}

// Two buffers at addresses that differ in every byte.
Shadows two_buffers() {
  return {{{0x112233445500, 0x223344556600}, {0x778899aabb00, 0x66778899ab00}}, {64, 64}, {0, 1}};
}

TEST(DifferentialCapture, AScalarThatEqualsAnAddressIsNoneBesideOneThatIs) {
  const Shadows shadows = two_buffers();
  Signature signature;
  signature.frozen.resize(24);
  put(signature.frozen, 0, shadows.tables[0][0], 8);
  put(signature.frozen, 16, shadows.tables[1][1] + 8, 8);
  signature.truth = {{hip::Field::kKernelArgument, 8, 0, 64}};
  const auto found = hip::attribute(captured(signature, shadows), shadows);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found.value(), signature.truth);
}

TEST(DifferentialCapture, AByteThatDependsOnAnAddressAndIsPartOfNoneMakesTheBlockOpaque) {
  const Shadows shadows = two_buffers();
  std::vector<Block> blocks(2, Block(8));
  for (std::size_t k = 0; k < 2; ++k) put(blocks[k], 0, shadows.tables[k][0] >> 8, 8);  // a page number
  EXPECT_FALSE(hip::attribute(blocks, shadows));
  for (std::size_t k = 0; k < 2; ++k) put(blocks[k], 0, shadows.tables[k][0] + 65, 8);  // past one past the end
  EXPECT_FALSE(hip::attribute(blocks, shadows));
  for (std::size_t k = 0; k < 2; ++k) put(blocks[k], 0, shadows.tables[k][0] + k, 8);
  EXPECT_FALSE(hip::attribute(blocks, shadows));
  blocks[1].resize(16);
  EXPECT_FALSE(hip::attribute(blocks, shadows));
}

TEST(DifferentialCapture, ABlockThatIsTheSameEverywhereHoldsNoAddress) {
  const Shadows shadows = two_buffers();
  std::vector<Block> blocks(2, Block(16));
  for (Block& block : blocks) put(block, 3, shadows.tables[0][1], 8);
  const auto found = hip::attribute(blocks, shadows);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found.value().empty());
}

TEST(DifferentialCapture, ShadowsThatTellNothingApartAreRefused) {
  EXPECT_EQ(hip::flaw_of(two_buffers()), nullptr);
  Shadows one = two_buffers();
  one.tables.pop_back();
  EXPECT_NE(hip::flaw_of(one), nullptr);
  Shadows still = two_buffers();
  still.tables[1][0] = still.tables[0][0];
  EXPECT_NE(hip::flaw_of(still), nullptr);
  Shadows exchanged = two_buffers();
  std::swap(exchanged.tables[1][0], exchanged.tables[1][1]);
  exchanged.tables[1][0] = exchanged.tables[0][1];
  EXPECT_NE(hip::flaw_of(exchanged), nullptr);
  Shadows alike = two_buffers();
  alike.tables[1] = {alike.tables[0][0] + 0x100000, alike.tables[0][1] + 0x100000};
  EXPECT_NE(hip::flaw_of(alike), nullptr);
  Shadows adjacent = two_buffers();
  adjacent.tables[0][1] = adjacent.tables[0][0] + 64;  // one past the end of the other
  EXPECT_NE(hip::flaw_of(adjacent), nullptr);
  Shadows shorter = two_buffers();
  shorter.tables[1].pop_back();
  EXPECT_NE(hip::flaw_of(shorter), nullptr);
}

}  // namespace
