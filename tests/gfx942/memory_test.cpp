// Accesses of 12 and 16 bytes beside another thread, and buffers (memory.hip) against the address and range rules of
// AMD's documents, written here once more for single bytes.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gfx942/machine.h"
#include "model/gfx942/decode.h"
#include "model/gfx942/table.h"
#include "model/gfx942/word_access.h"

namespace {

using namespace gfx942_test;

Machine& machine() {
  return machine_of(MEMORY_O2);
}
TestMemory& memory() {
  return machine().memory();
}
template <class... T>
std::string launch(const char* kernel, u32 items, T... arguments) {
  return fault_text(machine().launch(kernel, Arguments(arguments...).bytes(), {{items, 1, 1}, {items, 1, 1}, 0}));
}

// --- pieces ---

constexpr u32 kRounds = 200000;

u64 load_whole(std::byte* bytes) {
  return std::atomic_ref<u64>(*reinterpret_cast<u64*>(bytes)).load();
}

// Calls `look` on another thread, again and again, while `kernel` runs.
template <class Look>
void beside(const Look& look, const std::function<std::string()>& kernel) {
  std::atomic<bool> looks = false;
  std::atomic<bool> done = false;
  std::thread other([&] {
    for (; !done; looks = true) look();
  });
  while (!looks) std::this_thread::yield();
  const std::string fault = kernel();
  done = true;
  other.join();
  EXPECT_EQ(fault, "");
}

// The halves of the piece at `place` of the bytes are equal in every store.
void expect_whole_pieces(const char* kernel, std::size_t start, const std::vector<std::size_t>& places) {
  const u64 at = memory().allocate("pieces", 64);
  std::byte* const bytes = memory().bytes(at).data();
  u64 torn = 0, changed = 0, last = 0;
  beside(
      [&] {
        for (const std::size_t place : places) {
          const u64 piece = load_whole(bytes + place);
          if (static_cast<u32>(piece) != piece >> 32) ++torn;
          if (place == places.front() && std::exchange(last, piece) != piece) ++changed;
        }
      },
      [&] { return launch(kernel, 1, at + start, kRounds); });
  EXPECT_EQ(torn, 0u) << kernel;
  EXPECT_GT(changed, 1u) << "the other thread saw no two values";
  memory().free(at);
}

// The pieces of an access: the number of the first dword of each, and how many dwords it has.
using PieceList = std::vector<std::pair<u32, u32>>;
template <u32 Words>
PieceList pieces_at(std::size_t offset) {
  alignas(u64) std::array<std::byte, 32> bytes{};
  PieceList pieces;
  gfx942::for_pieces<Words>(
      bytes.data() + offset, [&](u32 i) { pieces.emplace_back(i, 1); }, [&](u32 i) { pieces.emplace_back(i, 2); });
  return pieces;
}

TEST(Pieces, EightBytesAtAMultipleOfEightAreOnePieceAndTheOthersAreDwords) {
  EXPECT_EQ(pieces_at<1>(0), (PieceList{{0, 1}}));
  EXPECT_EQ(pieces_at<1>(4), (PieceList{{0, 1}}));
  EXPECT_EQ(pieces_at<2>(0), (PieceList{{0, 2}}));
  EXPECT_EQ(pieces_at<2>(4), (PieceList{{0, 1}, {1, 1}}));
  EXPECT_EQ(pieces_at<3>(0), (PieceList{{0, 2}, {2, 1}}));
  EXPECT_EQ(pieces_at<3>(4), (PieceList{{0, 1}, {1, 2}}));
  EXPECT_EQ(pieces_at<4>(8), (PieceList{{0, 2}, {2, 2}}));
  EXPECT_EQ(pieces_at<4>(4), (PieceList{{0, 1}, {1, 2}, {3, 1}}));
}

TEST(Pieces, AStoreOfSixteenBytesIsMadeOfTwoWholePieces) {
  expect_whole_pieces("write_four", 0, {0, 8});
  expect_whole_pieces("write_four", 8, {8, 16});
}

TEST(Pieces, AStoreOfTwelveBytesHasOneWholePieceAtEitherEnd) {
  expect_whole_pieces("write_three", 0, {0});
  expect_whole_pieces("write_three", 4, {8});
}

TEST(Pieces, ALoadOfSixteenBytesIsMadeOfTwoWholePieces) {
  const u64 at = memory().allocate("pieces", 64);
  const u64 torn = memory().allocate("torn", 4);
  std::byte* const bytes = memory().bytes(at).data();
  u64 value = 0;
  beside(
      [&] {
        value += 0x100000001;
        std::atomic_ref<u64>(*reinterpret_cast<u64*>(bytes)).store(value);
        std::atomic_ref<u64>(*reinterpret_cast<u64*>(bytes + 8)).store(~value);
      },
      [&] { return launch("read_four", 1, at, torn, kRounds); });
  EXPECT_EQ(memory().download<u32>(torn)[0], 0u);
  EXPECT_GT(value, 0x100000001u) << "the other thread stored no two values";
  memory().free(at);
  memory().free(torn);
}

// --- buffers ---

struct Resource {
  u64 base = 0;
  u32 stride = 0;
  u32 records = 0;
  bool swizzled = false;
  bool add_lane = false;
  u32 index_stride = 0;  // as encoded

  [[nodiscard]] std::array<u32, 4> words() const {
    const u32 high = static_cast<u32>(base >> 32 & 0xffff) | stride << 16 | (swizzled ? 1u << 31 : 0);
    return {static_cast<u32>(base), high, records, index_stride << 21 | (add_lane ? 1u << 23 : 0)};
  }
};
struct alignas(16) ResourceArgument {
  std::array<u32, 4> words;
};

constexpr u32 kItems = 64;
constexpr u32 kBytes = 1u << 17;  // of memory that every access in range is inside of
constexpr u32 kFixedOffset = 20;  // of the forms that have one

struct Form {
  const char* name;
  u32 bytes;      // of memory that one work item accesses
  u32 registers;  // of the result or the data
  bool offen;
  bool idxen;
  u32 fixed;
  // A load's dword from the bytes that it read; for a store unused.
  u32 (*extend)(u32 bytes) = nullptr;
  u32 shift = 0;  // of the stored value
};
u32 whole(u32 x) {
  return x;
}
constexpr Form kLoads[] = {
    {"buffer_load_dword_off", 4, 1, false, false, kFixedOffset, &whole},
    {"buffer_load_dword_offen", 4, 1, true, false, 0, &whole},
    {"buffer_load_dword_idxen", 4, 1, false, true, kFixedOffset, &whole},
    {"buffer_load_dwordx2_both", 8, 2, true, true, 0, &whole},
    {"buffer_load_dwordx3_offen", 12, 3, true, false, kFixedOffset, &whole},
    {"buffer_load_dwordx4_offen", 16, 4, true, false, 0, &whole},
    {"buffer_load_dwordx4_both", 16, 4, true, true, 0, &whole},
    {"buffer_load_ubyte_offen", 1, 1, true, false, 0, &whole},
    {"buffer_load_sbyte_offen", 1, 1, true, false, 0, [](u32 x) { return x >= 128 ? x | 0xffffff00 : x; }},
    {"buffer_load_ushort_idxen", 2, 1, false, true, 0, &whole},
    {"buffer_load_sshort_offen", 2, 1, true, false, 0, [](u32 x) { return x >= 0x8000 ? x | 0xffff0000 : x; }},
    {"buffer_load_short_d16", 2, 1, true, false, 0, &whole},
    {"buffer_load_short_d16_hi", 2, 1, true, false, 0, [](u32 x) { return x << 16; }},
    {"buffer_load_ubyte_d16_hi", 1, 1, true, false, 0, [](u32 x) { return x << 16; }},
    {"buffer_load_sbyte_d16", 1, 1, true, false, 0, [](u32 x) { return x >= 128 ? x | 0xff00 : x; }},
};
constexpr Form kStores[] = {
    {"buffer_store_dword_offen", 4, 1, true, false, 0},
    {"buffer_store_dwordx2_both", 8, 2, true, true, 0},
    {"buffer_store_dwordx3_offen", 12, 3, true, false, 0},
    {"buffer_store_dwordx4_offen", 16, 4, true, false, 0},
    {"buffer_store_byte_offen", 1, 1, true, false, 0},
    {"buffer_store_byte_d16_hi", 1, 1, true, false, 0, nullptr, 16},
    {"buffer_store_short_idxen", 2, 1, false, true, 0},
    {"buffer_store_short_d16_hi", 2, 1, true, false, 0, nullptr, 16},
};

// The offset from the base of the piece of `size` bytes at `offset` of record `index`; none when out of range.
std::optional<u64> place_of(const Resource& r, bool structured, u64 index, u64 offset, u32 scalar, u32 size) {
  u64 at = r.stride * index + offset;
  if (r.swizzled) {
    const u64 count = u64{8} << r.index_stride;
    at = (index / count * r.stride + offset / 4 * 4) * count + index % count * 4 + offset % 4;
  }
  if (structured && index >= r.records) return std::nullopt;
  if (!structured && at + scalar + size > r.records) return std::nullopt;
  return at + scalar;
}

// One launch's inputs. Offsets are small or, now and then, far out of range.
struct Accesses {
  Resource resource;
  u32 scalar = 0;
  std::vector<u32> offsets;
  std::vector<u32> indices;
};
Accesses some_accesses() {
  Accesses a;
  a.resource.stride = *rc::gen::element<u32>(0, 4, 16, 24, 40);
  a.resource.records = *rc::gen::inRange<u32>(0, a.resource.stride == 0 ? 600 : 80);
  a.resource.swizzled = a.resource.stride != 0 && *rc::gen::arbitrary<bool>();
  a.resource.add_lane = *rc::gen::weightedElement<bool>({{3, false}, {1, true}});
  a.resource.index_stride = *rc::gen::inRange<u32>(0, 4);
  a.scalar = *rc::gen::element<u32>(0, 4, 64);
  for (u32 i = 0; i < kItems; ++i) {
    const u32 offset = *rc::gen::inRange<u32>(0, 600);
    a.offsets.push_back(*rc::gen::inRange(0, 20) == 0 ? 0xfffffff0 + offset % 16 : offset);
    a.indices.push_back(*rc::gen::inRange<u32>(0, 90));
  }
  return a;
}

// The place of dword `word` of work item `item`, or of the whole access of fewer bytes.
std::optional<u64> place_of(const Form& f, const Accesses& a, u32 item, u32 word) {
  const u64 index = (f.idxen ? a.indices[item] : 0) + u64{a.resource.add_lane ? item : 0};
  const u64 offset = (f.offen ? u64{a.offsets[item]} : 0) + f.fixed + u64{4} * word;
  const bool structured = a.resource.stride != 0 && (f.idxen || a.resource.add_lane);
  return place_of(a.resource, structured, index, offset, a.scalar, std::min(f.bytes, 4u));
}

// Offsets far out of range are in range of a structured buffer, whose check does not look at them.
void keep_inside(const Form& f, Accesses& a) {
  if (a.resource.stride == 0 || !(f.idxen || a.resource.add_lane)) return;
  for (u32& offset : a.offsets) offset %= 1024;
}

std::vector<u8> random_bytes() {
  std::vector<u8> bytes(kBytes);
  u64 state = *rc::gen::arbitrary<u64>();
  for (u8& b : bytes) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    b = static_cast<u8>(state >> 56);
  }
  return bytes;
}

class BufferLoads : public testing::TestWithParam<Form> {};
INSTANTIATE_TEST_SUITE_P(Forms, BufferLoads, testing::ValuesIn(kLoads),
                         [](const auto& at) { return std::string(at.param.name); });

TEST_P(BufferLoads, ReadWhatTheRulesSayAndZeroOutOfRange) {
  const Form& form = GetParam();
  EXPECT_TRUE(rc::check([&] {
    Accesses a = some_accesses();
    keep_inside(form, a);
    const std::vector<u8> bytes = random_bytes();
    a.resource.base = memory().upload("buffer", bytes);
    const u64 stride = form.registers == 3 ? 4 : form.registers;  // three dwords are padded to four
    const u64 out = memory().upload("out", std::vector<u32>(kItems * stride));
    const std::array<u64, 2> in{memory().upload("offsets", a.offsets), memory().upload("indices", a.indices)};
    RC_ASSERT(launch(form.name, kItems, out, in[0], in[1], ResourceArgument{a.resource.words()}, a.scalar) == "");
    const std::vector<u32> result = memory().download<u32>(out);
    for (u32 item = 0; item < kItems; ++item) {
      for (u32 word = 0; word < form.registers; ++word) {
        u32 expected = 0;
        if (const std::optional<u64> place = place_of(form, a, item, word)) {
          std::memcpy(&expected, &bytes.at(*place), std::min(form.bytes, 4u));
        }
        RC_ASSERT(result[item * stride + word] == form.extend(expected));
      }
    }
    for (const u64 address : {a.resource.base, out, in[0], in[1]}) memory().free(address);
  }));
}

class BufferStores : public testing::TestWithParam<Form> {};
INSTANTIATE_TEST_SUITE_P(Forms, BufferStores, testing::ValuesIn(kStores),
                         [](const auto& at) { return std::string(at.param.name); });

TEST_P(BufferStores, WriteWhatTheRulesSayAndNothingElse) {
  const Form& form = GetParam();
  EXPECT_TRUE(rc::check([&] {
    Accesses a = some_accesses();
    keep_inside(form, a);
    std::vector<u8> bytes = random_bytes();
    a.resource.base = memory().upload("buffer", bytes);
    const u64 stride = form.registers == 3 ? 4 : form.registers;
    std::vector<u32> data(kItems * stride);
    for (u32 i = 0; i < data.size(); ++i) data[i] = i * 0x9e3779b9;
    const std::array<u64, 3> in{memory().upload("data", data), memory().upload("offsets", a.offsets),
                                memory().upload("indices", a.indices)};
    RC_ASSERT(launch(form.name, kItems, in[0], in[1], in[2], ResourceArgument{a.resource.words()}, a.scalar) == "");
    for (u32 item = 0; item < kItems; ++item) {
      for (u32 word = 0; word < form.registers; ++word) {
        const u32 value = data[item * stride + word] >> form.shift;
        if (const std::optional<u64> place = place_of(form, a, item, word)) {
          std::memcpy(&bytes.at(*place), &value, std::min(form.bytes, 4u));
        }
      }
    }
    RC_ASSERT(memory().download<u8>(a.resource.base) == bytes);
    for (const u64 address : {a.resource.base, in[0], in[1], in[2]}) memory().free(address);
  }));
}

RC_GTEST_PROP(BufferAtomics, AddAndCompareSwapReturnTheOldValueAndDoNothingOutOfRange, ()) {
  Resource r;
  r.records = *rc::gen::inRange<u32>(0, 40) * 8;
  std::vector<u64> words(64, 5);
  r.base = memory().upload("buffer", words);
  std::vector<u32> offsets(kItems), values(kItems, 9);
  std::vector<u64> compared(kItems, 5);
  for (u32 i = 0; i < kItems; ++i) offsets[i] = i * 8;  // one work item a word
  const u64 at_offsets = memory().upload("offsets", offsets);
  const u64 before = memory().allocate("before", kItems * 8);
  RC_ASSERT(launch("buffer_compare_swap", kItems, before, at_offsets, memory().upload("compared", compared),
                   ResourceArgument{r.words()}, 0) == "");
  for (u32 i = 0; i < kItems; ++i) {
    RC_ASSERT(memory().download<u64>(before)[i] == (i * 8 < r.records ? 5u : 0u));
    RC_ASSERT(memory().download<u64>(r.base)[i] == (i * 8 < r.records ? 15u : 5u));
  }
  RC_ASSERT(launch("buffer_add", kItems, before, at_offsets, memory().upload("values", values),
                   ResourceArgument{r.words()}, 0) == "");
  for (u32 i = 0; i < kItems; ++i) {
    RC_ASSERT(memory().download<u32>(before)[i] == (i * 8 < r.records ? 15u : 0u));
    RC_ASSERT(memory().download<u64>(r.base)[i] == (i * 8 < r.records ? 24u : 5u));
  }
}

TEST(BufferFaults, MemoryInRangeThatIsNotLiveIsAFault) {
  Resource r;
  r.records = 1024;
  r.base = memory().allocate("short buffer", 64);
  const u64 offsets = memory().upload("offsets", std::vector<u32>(kItems, 64));
  const u64 out = memory().allocate("out", kItems * 4);
  const std::string fault =
      launch("buffer_load_dword_offen", kItems, out, offsets, offsets, ResourceArgument{r.words()}, 0);
  EXPECT_NE(fault.find("read of 4 bytes"), std::string::npos) << fault;
}

RC_GTEST_PROP(LoadsToLds, PutEachLanesValueBehindM0AndTheOffset, ()) {
  Resource r;
  r.records = *rc::gen::inRange<u32>(0, 200);
  const std::vector<u8> bytes = random_bytes();
  r.base = memory().upload("buffer", bytes);
  std::vector<u32> offsets(kItems);
  for (u32& offset : offsets) offset = *rc::gen::inRange<u32>(0, 200);
  const u64 out = memory().allocate("out", 128 * 4);
  const u64 in = memory().upload("offsets", offsets);
  RC_ASSERT(launch("buffer_to_lds", kItems, out, in, ResourceArgument{r.words()}, 0) == "");
  const std::vector<u32> result = memory().download<u32>(out);
  constexpr u32 kFirst = (64 + kFixedOffset) / 4;
  for (u32 i = 0; i < 128; ++i) {
    u32 expected = 0xdead0000 + i / 64 * 64;
    if (i >= kFirst && i < kFirst + kItems) {
      const u32 offset = offsets[i - kFirst] + kFixedOffset;
      expected = 0;
      if (offset + 2 <= r.records) std::memcpy(&expected, &bytes[offset], 2);
    }
    RC_ASSERT(result[i] == expected);
  }
  std::vector<u32> words(kItems);
  for (u32 i = 0; i < kItems; ++i) words[i] = i * i;
  RC_ASSERT(launch("global_to_lds", kItems, out, memory().upload("in", words)) == "");
  for (u32 i = 0; i < kItems; ++i) RC_ASSERT(memory().download<u32>(out)[i] == words[63 - i]);
}

RC_GTEST_PROP(ScalarBufferLoads, GiveZeroForEachDwordOutOfRange, ()) {
  Resource r;
  r.records = *rc::gen::inRange<u32>(0, 64);
  std::vector<u32> words(32);
  for (u32 i = 0; i < words.size(); ++i) words[i] = 100 + i;
  r.base = memory().upload("buffer", words);
  const u32 offset = *rc::gen::inRange<u32>(0, 70);
  const u64 out = memory().allocate("out", 5 * 4);
  RC_ASSERT(launch("scalar_buffer", 1, out, ResourceArgument{r.words()}, offset) == "");
  const std::vector<u32> result = memory().download<u32>(out);
  const auto expected = [&](u32 at) { return at / 4 * 4 + 4 <= r.records ? words[at / 4] : 0; };
  RC_ASSERT(result[0] == expected(offset + 8));
  for (u32 i = 0; i < 4; ++i) RC_ASSERT(result[1 + i] == expected(offset + 4 * i));
}

bool is_known(const std::string& text) {
  return gfx942::decode(text, {}).handler != &gfx942::run_unknown;
}

TEST(MemoryDecode, BuffersNeedAsManyRegistersAsTheOperationUses) {
  EXPECT_TRUE(is_known("buffer_load_dwordx2 v[0:1], off, s[4:7], s8"));
  EXPECT_FALSE(is_known("buffer_load_dwordx2 v0, off, s[4:7], s8"));
  EXPECT_FALSE(is_known("buffer_load_dwordx2 v[0:1], off, s[4:5], s8"));
  EXPECT_FALSE(is_known("buffer_load_dwordx2 v[0:1], off, s[4:7], v8"));
  EXPECT_TRUE(is_known("buffer_store_short v0, off, s[4:7], 0"));
  EXPECT_FALSE(is_known("buffer_store_short v[0:1], off, s[4:7], 0"));
  EXPECT_TRUE(is_known("buffer_atomic_cmpswap_x2 v[0:3], off, s[4:7], 0"));
  EXPECT_FALSE(is_known("buffer_atomic_cmpswap_x2 v[0:1], off, s[4:7], 0"));
}

TEST(MemoryDecode, ScalarLoadsNeedAsManyRegistersAsTheOperationUses) {
  EXPECT_TRUE(is_known("s_load_dwordx2 vcc, s[2:3], 0x0"));
  EXPECT_TRUE(is_known("s_load_dword s0, s[2:3], s4"));
  EXPECT_FALSE(is_known("s_load_dwordx2 s0, s[2:3], 0x0"));
  EXPECT_FALSE(is_known("s_load_dwordx2 s[0:1], s[4:7], 0x0"));
  EXPECT_TRUE(is_known("s_buffer_load_dwordx4 s[0:3], s[4:7], 0x8"));
  EXPECT_FALSE(is_known("s_buffer_load_dwordx4 s[0:3], s[4:5], 0x8"));
}

TEST(MemoryDecode, AnOffsetIntoABufferIsNotNegative) {
  EXPECT_TRUE(is_known("s_load_dword s0, s[4:5], -0x8"));
  EXPECT_FALSE(is_known("s_buffer_load_dword s0, s[4:7], -0x8"));
}

TEST(MemoryDecode, EveryInstructionIsKnown) {
  EXPECT_EQ(machine().program().unknown_instructions(), std::vector<std::string>{});
}

}  // namespace
