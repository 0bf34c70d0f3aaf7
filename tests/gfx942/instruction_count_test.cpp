// Counting unknown instructions, over a code object that has some (faults.hip) and one that has none.
#include "model/gfx942/instruction_count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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

TEST(InstructionCount, SaysThatACompressedBundleIsNotRead) {
  EXPECT_THAT(counted({std::byte{'C'}, std::byte{'C'}, std::byte{'O'}, std::byte{'B'}}).errors,
              testing::ElementsAre(testing::HasSubstr("compressed")));
}

}  // namespace
