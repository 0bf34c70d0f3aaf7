// Counting unknown instructions, over a code object that has some (faults.hip) and one that has none.
#include "model/gfx942/instruction_count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "gfx942/machine.h"

namespace {

using namespace gfx942_test;

gfx942::InstructionCount counted(const std::vector<std::byte>& bytes) {
  gfx942::InstructionCount count;
  gfx942::count_instructions(bytes, count);
  return count;
}

// A bundle of one entry, behind bytes that are no bundle.
std::vector<std::byte> bundled(const std::vector<std::byte>& code_object, std::string_view target) {
  constexpr u64 kOffset = 4096;
  std::vector<std::byte> bytes(100, std::byte{7});
  const auto append = [&](const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  };
  append("__CLANG_OFFLOAD_BUNDLE__", 24);
  const std::array<u64, 4> numbers{1, kOffset, code_object.size(), target.size()};
  append(numbers.data(), sizeof(numbers));
  append(target.data(), target.size());
  bytes.resize(100 + kOffset);
  append(code_object.data(), code_object.size());
  return bytes;
}

TEST(InstructionCount, NamesWhatIsUnknownOnceWithItsNumber) {
  const gfx942::InstructionCount count = counted(file_bytes(FAULTS_O2));
  EXPECT_EQ(count.code_objects, 1u);
  EXPECT_THAT(count.errors, testing::IsEmpty());
  ASSERT_TRUE(count.unknown.contains("tbuffer_load_format_x"));
  const gfx942::UnknownInstruction& typed = count.unknown.at("tbuffer_load_format_x");
  EXPECT_EQ(typed.count, 1u);
  EXPECT_FALSE(typed.form);
  EXPECT_THAT(typed.example, testing::HasSubstr("off, s[4:7], s8"));
  EXPECT_THAT(gfx942::describe(count), testing::HasSubstr("1  mnemonic  tbuffer_load_format_x"));
}

TEST(InstructionCount, TellsAFormFromAMnemonic) {
  // v_pk_add_f32 takes the high half of a constant: the table has the mnemonic, and refuses this.
  std::vector<std::byte> bytes = file_bytes(FAULTS_O2);
  const std::array<u32, 2> form{0xd3b24000, 0x1801e502};
  constexpr std::array<u32, 2> kTyped{0xe8080000, 0x08010000};
  const auto* wanted = reinterpret_cast<const std::byte*>(kTyped.data());
  const auto at = std::search(bytes.begin(), bytes.end(), wanted, wanted + sizeof(kTyped));
  ASSERT_NE(at, bytes.end());
  std::memcpy(&*at, form.data(), sizeof(form));
  const gfx942::InstructionCount count = counted(bytes);
  ASSERT_TRUE(count.unknown.contains("v_pk_add_f32")) << gfx942::describe(count);
  EXPECT_TRUE(count.unknown.at("v_pk_add_f32").form);
}

TEST(InstructionCount, ReadsTheEntriesOfABundleThatAreForGfx942) {
  const std::vector<std::byte> object = file_bytes(FAULTS_O2);
  EXPECT_EQ(counted(bundled(object, "hipv4-amdgcn-amd-amdhsa--gfx942")).instructions, counted(object).instructions);
  EXPECT_EQ(counted(bundled(object, "hipv4-amdgcn-amd-amdhsa--gfx90a")).code_objects, 0u);
}

// A header of version 3 that says how large the whole is, behind bytes that are no bundle, and data.
std::vector<std::byte> compressed(std::size_t before, u16 version, u64 whole) {
  std::vector<std::byte> bytes(before + 64, std::byte{7});
  const std::array<u16, 2> version_and_method{version, 1};
  const std::array<u64, 3> numbers{whole, 4096, 0x1234};
  std::memcpy(&bytes[before], "CCOB", 4);
  std::memcpy(&bytes[before + 4], version_and_method.data(), sizeof(version_and_method));
  std::memcpy(&bytes[before + 8], numbers.data(), sizeof(numbers));
  return bytes;
}

TEST(InstructionCount, SaysThatACompressedBundleIsNotReadWhereverItBegins) {
  for (const std::size_t before : {0, 100}) {
    EXPECT_THAT(counted(compressed(before, 3, 64)).errors, testing::ElementsAre(testing::HasSubstr("compressed")));
  }
}

TEST(InstructionCount, TakesFourLettersForNoCompressedBundle) {
  EXPECT_THAT(counted(compressed(100, 4, 64)).errors, testing::IsEmpty());  // there is no version 4
  EXPECT_THAT(counted(compressed(100, 3, 65)).errors, testing::IsEmpty());  // larger than the file
  EXPECT_THAT(counted({std::byte{'C'}, std::byte{'C'}, std::byte{'O'}, std::byte{'B'}}).errors, testing::IsEmpty());
}

TEST(InstructionCount, CountsBytesThatTwoBundlesNameOnce) {
  const std::vector<std::byte> object = file_bytes(FAULTS_O2);
  std::vector<std::byte> bytes = bundled(object, "hipv4-amdgcn-amd-amdhsa--gfx942");
  // A second bundle, 1000 bytes behind the first one, whose entry is the same code object.
  constexpr std::size_t kHeader = 24 + 4 * 8 + 31;
  std::memcpy(&bytes[1100], &bytes[100], kHeader);
  const u64 offset = 4096 - 1000;
  std::memcpy(&bytes[1100 + 32], &offset, sizeof(offset));
  const gfx942::InstructionCount count = counted(bytes);
  EXPECT_EQ(count.code_objects, 1u);
  EXPECT_EQ(count.instructions, counted(object).instructions);
  EXPECT_THAT(count.errors, testing::IsEmpty());
}

TEST(InstructionCount, RefusesMoreSectionsThanTheLimit) {
  std::vector<std::byte> object = file_bytes(FAULTS_O2);
  const u16 sections = 0xffff;
  std::memcpy(&object[60], &sections, sizeof(sections));  // e_shnum
  const gfx942::InstructionCount count = counted(object);
  EXPECT_THAT(count.errors, testing::ElementsAre(testing::HasSubstr("too many sections")));
  EXPECT_EQ(count.instructions, 0u);
}

TEST(InstructionCount, RefusesMoreEntriesThanTheLimit) {
  std::vector<std::byte> bytes(24 + 8 + 300 * 24);
  const u64 entries = 300;
  std::memcpy(bytes.data(), "__CLANG_OFFLOAD_BUNDLE__", 24);
  std::memcpy(&bytes[24], &entries, sizeof(entries));
  EXPECT_THAT(counted(bytes).errors, testing::ElementsAre(testing::HasSubstr("too many entries")));
}

}  // namespace
