// hip::attribute on random signatures: every address that it finds is one, and it rarely gives up. Known argument
// layouts rule out findings that contradict them. Captures from the model are in
// tests/verify/systems/differential_capture_test.cpp, captures from AMD's runtime in
// tests/hip/captured_kernels_on_amd.cpp.
#include "hip/differential_capture.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstring>
#include <random>

namespace {

using hip::ArgumentKind;
using hip::ArgumentSlot;
using hip::Relocation;
using hip::Shadows;
using Block = std::vector<std::byte>;
using Random = std::mt19937_64;

// A signature: a block of bytes, and where it holds addresses.
struct Signature {
  Block frozen;  // the bytes that do not depend on the buffers' addresses
  std::vector<Relocation> truth;
  std::vector<ArgumentSlot> fields{};  // a pointer field holds an address that moves
};

// Memory as an allocator gives it out, in one region of the address space, in any order; in each table 64 bytes further
// on.
Shadows shadows_of(Random& random, std::size_t buffers, std::size_t tables) {
  Shadows shadows;
  for (hip::BufferIndex b = 0; b < buffers; ++b) {
    shadows.buffers.push_back(b);
    shadows.bytes.push_back(1 + random() % 4096);
  }
  do {
    shadows.tables.assign(tables, {});
    for (std::size_t k = 0; k < tables; ++k) {
      for (std::size_t b = 0; b < buffers; ++b) {
        shadows.tables[k].push_back(0x7f0000000000 + random() % (1U << 24) * 256 + k * 64);
      }
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
  const std::size_t fields = 1 + random() % 8;
  for (std::size_t i = 0; i < fields; ++i) {
    at += random() % 4 == 0 ? random() % 9 : 0;  // padding
    const auto buffer = static_cast<hip::BufferIndex>(random() % shadows.buffers.size());
    if (random() % 2 == 0) {
      const std::uint64_t addends[] = {0, shadows.bytes[buffer], random() % (shadows.bytes[buffer] + 1)};
      signature.truth.push_back({hip::Field::kKernelArgument, static_cast<std::uint32_t>(at), buffer,
                                 static_cast<std::int64_t>(addends[random() % 3])});
      signature.fields.push_back({static_cast<std::uint32_t>(at), 8, ArgumentKind::kPointer});
      signature.frozen.resize(std::max(signature.frozen.size(), at + 8));
      at += 8;
      continue;
    }
    const std::size_t size = std::size_t{1} << random() % 4;
    signature.fields.push_back(
        {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(size), ArgumentKind::kValue});
    const std::uint64_t address = shadows.tables[random() % shadows.tables.size()][buffer];
    signature.frozen.resize(std::max(signature.frozen.size(), at + size));
    put(signature.frozen, at, random() % 3 == 0 ? random() : address + random() % 8, size);
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

// Checks that `attribute` finds all addresses in captures of random signatures, no others, and that it rarely gives up.
template <class Attribute>
void expect_the_truth_of_random_signatures(const Attribute& attribute) {
  constexpr int kSignatures = 100000;
  int opaque = 0;
  for (int i = 0; i < kSignatures; ++i) {
    Random random(static_cast<std::uint64_t>(i));
    const Shadows shadows = shadows_of(random, 1 + random() % 6, 2 + random() % 2);
    const Signature signature = signature_of(random, shadows);
    const hip::Result<std::vector<Relocation>> found = attribute(random, signature, shadows);
    if (!found) {
      ++opaque;
      continue;
    }
    ASSERT_EQ(found.value(), signature.truth) << "signature " << i;
  }
  EXPECT_LE(opaque, kSignatures / 20);
  testing::Test::RecordProperty("opaque", opaque);
}

TEST(DifferentialCapture, FindsEveryAddressOfRandomSignaturesOrSaysThatItCannotAndNeverAnother) {
  expect_the_truth_of_random_signatures([](Random&, const Signature& signature, const Shadows& shadows) {
    return hip::attribute(captured(signature, shadows), shadows);
  });
}

bool in_a_shadow(std::uint64_t address, const Shadows& shadows) {
  return std::any_of(shadows.tables.begin(), shadows.tables.end(), [&](const hip::AddressTable& table) {
    return std::any_of(shadows.buffers.begin(), shadows.buffers.end(), [&](hip::BufferIndex b) {
      return table[b] <= address && address <= table[b] + shadows.bytes[b];
    });
  });
}

// Arguments that the fields may be of, as a code object tells of them: some by themselves, some together in structs. A
// number of eight bytes that is no buffer's may be a pointer of the library's own.
std::vector<ArgumentSlot> arguments_of(Random& random, const Signature& signature, const Shadows& shadows) {
  std::vector<ArgumentSlot> slots;
  bool open = false;  // the last one is a struct that may take another field
  for (const ArgumentSlot& field : signature.fields) {
    if (open && random() % 2 == 0) {
      slots.back().size = field.offset + field.size - slots.back().offset;
      continue;
    }
    slots.push_back(field);
    std::uint64_t frozen = 0;
    std::memcpy(&frozen, signature.frozen.data() + field.offset, field.size);
    const bool own = field.kind == ArgumentKind::kValue && field.size == 8 && !in_a_shadow(frozen, shadows);
    if (own && random() % 4 == 0) slots.back().kind = ArgumentKind::kPointer;
    open = random() % 3 == 0;
    if (open) slots.back().kind = ArgumentKind::kValue;
  }
  return slots;
}

TEST(DifferentialCapture, WhatTheArgumentsAreTakesNothingAwayFromWhatIsFoundWithoutIt) {
  expect_the_truth_of_random_signatures([](Random& random, const Signature& signature, const Shadows& shadows) {
    const std::vector<Block> blocks = captured(signature, shadows);
    auto found = hip::attribute(blocks, shadows, arguments_of(random, signature, shadows));
    EXPECT_EQ(found.ok(), hip::attribute(blocks, shadows).ok());
    return found;
  });
}

// Whatever is said of the arguments: nothing, the truth, or anything else.
std::vector<ArgumentSlot> lies_about(const Signature& signature) {
  constexpr std::size_t kMaxSlots = 12;
  const auto size = static_cast<std::uint32_t>(signature.frozen.size());
  std::vector<ArgumentSlot> slots = signature.fields;
  if (*rc::gen::arbitrary<bool>().as("other places")) {
    slots.resize(*rc::gen::inRange<std::size_t>(0, kMaxSlots).as("slots"));
    std::uint32_t at = 0;
    for (ArgumentSlot& slot : slots) {
      slot.offset = at + *rc::gen::inRange<std::uint32_t>(0, 3);
      slot.size = *rc::gen::element<std::uint32_t>(0, 1, 2, 4, 8, 8, 8, 16, size);
      at = slot.offset + slot.size;
    }
  }
  for (ArgumentSlot& slot : slots) {
    if (*rc::gen::inRange(0, 3) == 0) continue;
    slot.kind = *rc::gen::element(ArgumentKind::kUnknown, ArgumentKind::kPointer, ArgumentKind::kValue);
  }
  return slots;
}

TEST(DifferentialCapture, NothingThatIsSaidOfTheArgumentsMakesAnAddressOfWhatIsNone) {
  int named = 0;
  const bool holds = rc::check("an address is one, or the block is opaque", [&] {
    for (int i = 0; i < 20; ++i) {
      Random random(*rc::gen::arbitrary<std::uint64_t>().as("signature"));
      const Shadows shadows = shadows_of(random, 1 + random() % 6, 2 + random() % 2);
      const Signature signature = signature_of(random, shadows);
      const auto found = hip::attribute(captured(signature, shadows), shadows, lies_about(signature));
      if (!found) continue;
      RC_ASSERT(found.value() == signature.truth);
      named += signature.truth.empty() ? 0 : 1;
    }
  });
  EXPECT_TRUE(holds);
  EXPECT_GT(named, 20) << "nearly all were opaque: nothing was tried";
}

TEST(DifferentialCapture, APointerThatWasCapturedStaleIsOpaqueWhereverItPoints) {
  int tried = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    Random random(i);
    const Shadows shadows = shadows_of(random, 1 + random() % 6, 2 + random() % 2);
    Signature signature = signature_of(random, shadows);
    if (signature.truth.empty()) continue;
    ++tried;
    const std::size_t which = random() % signature.truth.size();
    const Relocation stale = signature.truth[which];
    signature.truth.erase(signature.truth.begin() + static_cast<std::ptrdiff_t>(which));
    const hip::AddressTable& table = shadows.tables[random() % shadows.tables.size()];
    put(signature.frozen, stale.offset, table[stale.buffer] + static_cast<std::uint64_t>(stale.addend), 8);
    EXPECT_FALSE(hip::attribute(captured(signature, shadows), shadows, signature.fields)) << "signature " << i;
  }
  EXPECT_GT(tried, 5000);
}

// Two buffers at addresses that differ in every byte.
Shadows two_buffers() {
  return {{{0x112233445500, 0x223344556600}, {0x778899aabb40, 0x66778899ab40}}, {64, 64}, {0, 1}};
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

// A page number, a line number or the low half of an address is not an address, at any offset and beside any bytes.
TEST(DifferentialCapture, NoNumberThatIsComputedFromAnAddressIsTakenForOneByANeighboursBytes) {
  int opaque = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    Random random(i);
    const Shadows shadows = shadows_of(random, 1 + random() % 6, 2 + random() % 2);
    Block frozen(32);
    for (std::size_t at = 0; at < frozen.size(); at += 8) put(frozen, at, random() % 2 == 0 ? 0 : random(), 8);
    const auto buffer = static_cast<hip::BufferIndex>(random() % shadows.buffers.size());
    const unsigned shifts[] = {4, 8, 12, 16, 32};
    const unsigned shift = shifts[random() % 5];
    const std::size_t at = random() % 25, size = random() % 2 == 0 ? 8 : 4;
    std::vector<Block> blocks;
    for (const hip::AddressTable& table : shadows.tables) {
      blocks.push_back(frozen);
      put(blocks.back(), at, table[buffer] >> shift, size);
    }
    const auto found = hip::attribute(blocks, shadows);
    opaque += found ? 0 : 1;
    if (found) {
      EXPECT_TRUE(found.value().empty()) << "signature " << i << ", shifted by " << shift;
    }
  }
  EXPECT_GT(opaque, 10000);
}

TEST(DifferentialCapture, ABlockThatIsTheSameEverywhereHoldsNoAddress) {
  const Shadows shadows = two_buffers();
  std::vector<Block> blocks(2, Block(16));
  for (Block& block : blocks) put(block, 3, shadows.tables[0][1], 8);
  const auto found = hip::attribute(blocks, shadows);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found.value().empty());
}

// An address of buffer 0 at byte 4 of 16.
std::vector<Block> address_at_four(const Shadows& shadows) {
  Signature signature;
  signature.frozen.resize(16);
  signature.truth = {{hip::Field::kKernelArgument, 4, 0, 8}};
  return captured(signature, shadows);
}

TEST(DifferentialCapture, AnAddressThatIsNotWhatTheArgumentsSayMakesTheKernelOpaque) {
  const Shadows shadows = two_buffers();
  const std::vector<Block> blocks = address_at_four(shadows);
  using Slots = std::vector<ArgumentSlot>;
  for (const ArgumentKind kind : {ArgumentKind::kUnknown, ArgumentKind::kValue}) {
    EXPECT_TRUE(hip::attribute(blocks, shadows, Slots{{0, 16, kind}})) << "in a struct";
    EXPECT_TRUE(hip::attribute(blocks, shadows, Slots{{0, 4, kind}, {4, 8, kind}}));
    EXPECT_FALSE(hip::attribute(blocks, shadows, Slots{{0, 8, kind}, {8, 8, kind}})) << "in two arguments";
    EXPECT_FALSE(hip::attribute(blocks, shadows, Slots{{4, 4, kind}})) << "in less than an address takes";
    EXPECT_FALSE(hip::attribute(blocks, shadows, Slots{{0, 4, kind}})) << "beside the arguments";
    EXPECT_FALSE(hip::attribute(blocks, shadows, Slots{{0, 17, kind}})) << "more than there is";
  }
  EXPECT_FALSE(hip::attribute(blocks, shadows, Slots{})) << "no arguments at all";
  constexpr ArgumentKind kPointer = ArgumentKind::kPointer;
  EXPECT_TRUE(hip::attribute(blocks, shadows, Slots{{4, 8, kPointer}}));
  EXPECT_FALSE(hip::attribute(blocks, shadows, Slots{{0, 8, kPointer}, {8, 8, kPointer}}));
  EXPECT_FALSE(hip::attribute(blocks, shadows, Slots{{0, 16, kPointer}})) << "a pointer of sixteen bytes";
  EXPECT_FALSE(hip::attribute(blocks, shadows, Slots{{4, 12, kPointer}}));
}

TEST(DifferentialCapture, APointerThatStaysInAShadowIsOpaqueAndANumberOrALibrarysOwnPointerIsNot) {
  const Shadows shadows = two_buffers();
  const auto found = [&](std::uint64_t frozen, ArgumentKind kind) {
    std::vector<Block> blocks(2, Block(8));
    for (Block& block : blocks) put(block, 0, frozen, 8);
    const auto relocations = hip::attribute(blocks, shadows, std::vector<ArgumentSlot>{{0, 8, kind}});
    EXPECT_TRUE(!relocations || relocations.value().empty());
    return relocations.ok();
  };
  for (const hip::AddressTable& table : shadows.tables) {
    for (const std::uint64_t addend : {0, 24, 64}) {
      EXPECT_FALSE(found(table[1] + addend, ArgumentKind::kPointer));
      EXPECT_TRUE(found(table[1] + addend, ArgumentKind::kValue));
      EXPECT_TRUE(found(table[1] + addend, ArgumentKind::kUnknown));
    }
    EXPECT_TRUE(found(table[1] + 65, ArgumentKind::kPointer));
    EXPECT_TRUE(found(table[1] - 1, ArgumentKind::kPointer));
  }
  EXPECT_TRUE(found(0, ArgumentKind::kPointer));
}

TEST(DifferentialCapture, ShadowsThatTellNothingApartAreRefused) {
  const auto refused = [](void (*change)(Shadows&)) {
    Shadows shadows = two_buffers();
    change(shadows);
    return hip::flaw_of(shadows) != nullptr;
  };
  EXPECT_FALSE(refused([](Shadows&) {}));
  EXPECT_TRUE(refused([](Shadows& one) { one.tables.pop_back(); }));
  EXPECT_TRUE(refused([](Shadows& still) { still.tables[1][0] = still.tables[0][0]; }));
  EXPECT_TRUE(refused([](Shadows& exchanged) {
    std::swap(exchanged.tables[1][0], exchanged.tables[1][1]);
    exchanged.tables[1][0] = exchanged.tables[0][1];
  }));
  EXPECT_TRUE(refused(
      [](Shadows& alike) { alike.tables[1] = {alike.tables[0][0] + 0x100000, alike.tables[0][1] + 0x100000}; }));
  EXPECT_TRUE(refused([](Shadows& adjacent) { adjacent.tables[0][1] = adjacent.tables[0][0] + 64; }));
  EXPECT_FALSE(refused([](Shadows& in_pages) { in_pages.tables[1][0] += 0x40; }));
  EXPECT_TRUE(refused([](Shadows& in_units) { in_units.tables[1][0] += 0x40 + 0x80; }))
      << "256 bytes look like addresses";
  EXPECT_TRUE(refused([](Shadows& shorter) { shorter.tables[1].pop_back(); }));
}

}  // namespace
