// The contents that are read from valid code objects, and the errors of invalid ones, each wrong in one thing.
#include "hip/code_object/code_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <tuple>

#include "hip/code_object_fixture.h"

namespace {

using fixture::Bytes;
using fixture::Json;
using hip::code_object::Argument;
using hip::code_object::ArgumentKind;
using hip::code_object::find_code_object;
using hip::code_object::KernelMetadata;
using hip::code_object::read_kernels;
using ::testing::HasSubstr;

TEST(ReadKernels, ValidMetadataIsReadAsItIs) {
  const auto read = read_kernels(fixture::elf_with_metadata(fixture::valid_metadata()));
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read.value().size(), 2u);
  const KernelMetadata& kernel = read.value()[0];
  EXPECT_EQ(std::tuple(kernel.name, kernel.symbol, kernel.explicit_bytes, kernel.kernarg_bytes, kernel.kernarg_align,
                       kernel.group_bytes, kernel.private_bytes, kernel.wavefront_size),
            std::tuple("first", "first.kd", 40u, 64u, 8u, 1024u, 16u, 64u));
  ASSERT_EQ(kernel.arguments.size(), 5u);
  EXPECT_EQ(kernel.arguments[0].kind, ArgumentKind::kPointer);
  EXPECT_EQ(kernel.arguments[1].kind, ArgumentKind::kValue);
  EXPECT_EQ(kernel.arguments[2].name, "p");
  EXPECT_EQ(kernel.arguments[2].size, 16u);
  EXPECT_EQ(kernel.arguments[3].kind, ArgumentKind::kOther);
  EXPECT_EQ(kernel.arguments[4].kind, ArgumentKind::kHidden);
  EXPECT_EQ(kernel.arguments[4].name, "");
  EXPECT_EQ(read.value()[1].name, "second");
  EXPECT_TRUE(read.value()[1].arguments.empty());
  EXPECT_EQ(read.value()[1].explicit_bytes, 0u);
}

TEST(ReadKernels, ExplicitArgumentsComeFirstAndInOrderWhateverTheMetadataDoes) {
  Json metadata = fixture::valid_metadata();
  Json& arguments = metadata["amdhsa.kernels"][0][".args"];
  std::reverse(arguments.begin(), arguments.end());
  arguments[0][".offset"] = 12;  // the hidden one between two others
  const auto read = read_kernels(fixture::elf_with_metadata(metadata));
  ASSERT_TRUE(read.ok()) << read.error().message;
  std::vector<std::uint32_t> offsets;
  for (const Argument& argument : read.value()[0].arguments) offsets.push_back(argument.offset);
  EXPECT_THAT(offsets, testing::ElementsAre(0, 8, 16, 32, 12));
}

TEST(ReadKernels, OtherNotesAreNoneOfItsBusiness) {
  const fixture::Note metadata{.body = fixture::packed(fixture::valid_metadata())};
  const fixture::Note other_owner{.owner = std::string("GNU", 4), .type = 32, .body = "odd"};
  const fixture::Note other_type{.type = 33, .body = "x"};
  const auto read = read_kernels(fixture::elf_with({other_owner, metadata, other_type}));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().size(), 2u);
}

using Change = std::function<void(Json&)>;

// One thing wrong with valid metadata, and the words with which the error names it and its place.
struct Wrong {
  std::string name;
  Change change;
  std::vector<std::string> words;
};

Json& first(Json& metadata) {
  return metadata["amdhsa.kernels"][0];
}
Json& first_argument(Json& metadata, std::size_t index) {
  return first(metadata)[".args"][index];
}

// Changes one value of the first kernel, or of one of its arguments.
Change kernel_with(const char* key, Json value) {
  return [key, value](Json& metadata) { first(metadata)[key] = value; };
}
Change argument_with(std::size_t index, const char* key, Json value) {
  return [index, key, value](Json& metadata) { first_argument(metadata, index)[key] = value; };
}

std::vector<Wrong> everything_wrong() {
  return {
      {"RootIsNoMap", [](Json& m) { m = Json::array({1}); }, {"metadata", "not a map"}},
      {"VersionIsMissing", [](Json& m) { m.erase("amdhsa.version"); }, {"amdhsa.version"}},
      {"VersionIsOther", [](Json& m) { m["amdhsa.version"] = {2, 0}; }, {"amdhsa.version"}},
      {"KernelsAreMissing", [](Json& m) { m.erase("amdhsa.kernels"); }, {"amdhsa.kernels"}},
      {"KernelsAreText", [](Json& m) { m["amdhsa.kernels"] = "none"; }, {"amdhsa.kernels"}},
      {"KernelIsNoMap", [](Json& m) { m["amdhsa.kernels"][1] = 7; }, {"kernel 1", "not a map"}},
      {"NameIsMissing", [](Json& m) { first(m).erase(".name"); }, {"kernel 0", "'.name'"}},
      {"NameIsEmpty", kernel_with(".name", ""), {"kernel 0", "empty"}},
      {"NameIsANumber", kernel_with(".name", 1), {"kernel 0", "'.name'"}},
      {"NameIsTaken", kernel_with(".name", "second"), {"two kernels", "'second'"}},
      {"SymbolIsTaken", kernel_with(".symbol", "second.kd"), {"two kernels", "'second.kd'"}},
      {"BlockSizeIsNegative",
       kernel_with(".kernarg_segment_size", -1),
       {"kernel 0 'first'", "'.kernarg_segment_size'"}},
      {"BlockSizeIsAbsurd",
       kernel_with(".kernarg_segment_size", 1 << 20),
       {"kernel 0 'first'", "'.kernarg_segment_size'", "1048576", "65536"}},
      {"AlignmentIsNoPowerOfTwo",
       kernel_with(".kernarg_segment_align", 12),
       {"kernel 0 'first'", "'.kernarg_segment_align'"}},
      {"AlignmentIsZero", kernel_with(".kernarg_segment_align", 0), {"kernel 0 'first'", "'.kernarg_segment_align'"}},
      {"WavefrontIsOdd", kernel_with(".wavefront_size", 63), {"'first'", "'.wavefront_size'"}},
      {"GroupBytesDoNotFit",
       kernel_with(".group_segment_fixed_size", std::uint64_t{1} << 32),
       {"'first'", "'.group_segment_fixed_size'", "4294967296"}},
      {"PrivateBytesAreAFloat",
       kernel_with(".private_segment_fixed_size", 1.5),
       {"'first'", "'.private_segment_fixed_size'"}},
      {"ArgumentsAreAMap", kernel_with(".args", Json::object()), {"'first'", "'.args'"}},
      {"ArgumentIsText", [](Json& m) { first_argument(m, 3) = "x"; }, {"'first', argument 3", "not a map"}},
      {"OffsetIsMissing", [](Json& m) { first_argument(m, 1).erase(".offset"); }, {"argument 1", "'.offset'"}},
      {"OffsetIsNegative", argument_with(1, ".offset", -8), {"argument 1", "'.offset'"}},
      {"OffsetWraps",
       argument_with(1, ".offset", ~std::uint64_t{0}),
       {"argument 1", "'.offset'", "18446744073709551615"}},
      {"SizeIsZero", argument_with(1, ".size", 0), {"argument 1", "no bytes"}},
      {"KindIsMissing", [](Json& m) { first_argument(m, 1).erase(".value_kind"); }, {"argument 1", "'.value_kind'"}},
      {"PointerHasFourBytes", argument_with(0, ".size", 4), {"argument 0", "pointer of 4"}},
      {"ArgumentNameIsANumber", argument_with(0, ".name", 4), {"argument 0", "'.name'"}},
      {"ArgumentsOverlap", argument_with(1, ".offset", 7), {"'first'", "offset 7", "overlaps"}},
      {"ArgumentsAreTheSame", argument_with(2, ".offset", 8), {"offset 8", "overlaps"}},
      {"HiddenArgumentOverlaps", argument_with(4, ".offset", 36), {"offset 36", "overlaps"}},
      {"ArgumentEndsOutside", argument_with(4, ".offset", 61), {"'first'", "offset 61", "outside", "64"}},
      {"TooManyArguments",
       [](Json& m) { first(m)[".args"] = Json(std::vector<Json>(4097, first_argument(m, 0))); },
       {"'first'", "'.args'", "4097", "4096"}},
  };
}

class WrongMetadata : public testing::TestWithParam<Wrong> {};
INSTANTIATE_TEST_SUITE_P(ReadKernels, WrongMetadata, testing::ValuesIn(everything_wrong()),
                         [](const auto& wrong) { return wrong.param.name; });

TEST_P(WrongMetadata, IsAnErrorThatNamesWhatAndWhere) {
  Json metadata = fixture::valid_metadata();
  ASSERT_TRUE(read_kernels(fixture::elf_with_metadata(metadata)).ok());
  GetParam().change(metadata);
  const auto read = read_kernels(fixture::elf_with_metadata(metadata));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, 200);
  for (const std::string& word : GetParam().words) EXPECT_THAT(read.error().message, HasSubstr(word));
}

// Returns the message of the error of a reader.
template <class T>
std::string refusal(const hip::Result<T>& read) {
  EXPECT_FALSE(read.ok());
  return read.ok() ? "" : read.error().message;
}

TEST(ReadKernels, AKeyThatIsThereTwiceIsAnError) {
  // {"a": 1, "a": 2}, which no JSON library writes.
  const std::string twice =
      "\x82\xa1"
      "a\x01\xa1"
      "a\x02";
  EXPECT_THAT(refusal(read_kernels(fixture::elf_with_metadata(twice))), HasSubstr("'a' twice"));
}

TEST(ReadKernels, AKeyThatIsNoTextIsAnError) {
  const std::string number = "\x81\x07\x01";
  EXPECT_THAT(refusal(read_kernels(fixture::elf_with_metadata(number))), HasSubstr("not text"));
}

TEST(ReadKernels, TwoMetadataNotesAreAnError) {
  const fixture::Note note{.body = fixture::packed(fixture::valid_metadata())};
  ASSERT_TRUE(read_kernels(fixture::elf_with({note})).ok());
  EXPECT_THAT(refusal(read_kernels(fixture::elf_with({note, note}))), HasSubstr("two metadata notes"));
}

TEST(ReadKernels, NoMetadataNoteIsAnError) {
  EXPECT_THAT(refusal(read_kernels(fixture::elf_with({{.type = 10}}))), HasSubstr("no note"));
}

constexpr const char* kKinds[] = {"global_buffer", "by_value", "hidden_none", "pipe"};

// Arguments that do not overlap, with gaps, in the order of their offsets.
rc::Gen<std::vector<Argument>> any_arguments() {
  const auto one = rc::gen::tuple(rc::gen::inRange<std::uint32_t>(0, 9), rc::gen::inRange<std::uint32_t>(1, 65),
                                  rc::gen::inRange(0, 4));
  return rc::gen::map(rc::gen::container<std::vector<std::tuple<std::uint32_t, std::uint32_t, int>>>(one),
                      [](const std::vector<std::tuple<std::uint32_t, std::uint32_t, int>>& drawn) {
                        std::vector<Argument> arguments;
                        std::uint32_t end = 0;
                        for (const auto& [gap, size, kind] : drawn) {
                          Argument argument;
                          argument.kind = static_cast<ArgumentKind>(kind);
                          argument.offset = end + gap;
                          argument.size = argument.kind == ArgumentKind::kPointer ? 8 : size;
                          argument.name = "a" + std::to_string(arguments.size());
                          end = argument.offset + argument.size;
                          arguments.push_back(argument);
                        }
                        return arguments;
                      });
}

RC_GTEST_PROP(ReadKernels, WhatIsWrittenIsRead, ()) {
  const std::vector<Argument> arguments = *any_arguments();
  std::uint32_t end = 0;
  Json written = Json::array();
  for (const Argument& argument : arguments) {
    const char* kind = kKinds[static_cast<int>(argument.kind)];
    written.push_back(fixture::argument(argument.name, argument.offset, argument.size, kind));
    end = argument.offset + argument.size;
  }
  Json metadata = fixture::valid_metadata();
  first(metadata)[".args"] = written;
  first(metadata)[".kernarg_segment_size"] = end;
  const auto read = read_kernels(fixture::elf_with_metadata(metadata));
  RC_ASSERT(read.ok());
  const KernelMetadata& kernel = read.value()[0];
  std::vector<Argument> expected;
  for (const Argument& argument : arguments) {
    if (argument.kind != ArgumentKind::kHidden) expected.push_back(argument);
  }
  RC_ASSERT(kernel.explicit_bytes == (expected.empty() ? 0 : expected.back().offset + expected.back().size));
  for (const Argument& argument : arguments) {
    if (argument.kind == ArgumentKind::kHidden) expected.push_back(argument);
  }
  RC_ASSERT(kernel.arguments.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    RC_ASSERT(kernel.arguments[i].name == expected[i].name);
    RC_ASSERT(kernel.arguments[i].offset == expected[i].offset);
    RC_ASSERT(kernel.arguments[i].size == expected[i].size);
    RC_ASSERT(kernel.arguments[i].kind == expected[i].kind);
  }
}

TEST(FindCodeObject, AnElfIsFoundWithoutWhatFollowsIt) {
  const Bytes elf = fixture::elf_with_metadata(fixture::valid_metadata());
  Bytes longer = elf;
  longer.resize(elf.size() + 100, std::byte{0xaa});
  const auto found = find_code_object(longer);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found.value().data(), longer.data());
  EXPECT_EQ(found.value().size(), elf.size());
  EXPECT_EQ(hip::code_object::elf_size(longer.data()).value(), elf.size());
}

TEST(FindCodeObject, TheEntryForTheProcessorIsFoundInABundle) {
  Json other = fixture::valid_metadata();
  other["amdhsa.target"] = "amdgcn-amd-amdhsa--gfx90a";
  const Bytes elf = fixture::elf_with_metadata(fixture::valid_metadata());
  const Bytes image = fixture::bundle({{"host-x86_64-unknown-linux-gnu-", {}},
                                       {"hipv4-amdgcn-amd-amdhsa--gfx90a", fixture::elf_with_metadata(other)},
                                       {"hipv4-amdgcn-amd-amdhsa--gfx942", elf}});
  const auto found = find_code_object(image);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(Bytes(found.value().begin(), found.value().end()), elf);
  EXPECT_EQ(hip::code_object::elf_size(image.data()).value(), elf.size());
  EXPECT_EQ(find_code_object(image, "gfx90a").value().size(), elf.size());
}

TEST(HasVariables, SymbolsOfDataAreVariablesUnlessTheCompilerAddedThem) {
  using hip::code_object::has_variables;
  constexpr std::uint64_t kWritable = SHF_ALLOC | SHF_WRITE, kConstant = SHF_ALLOC;
  EXPECT_TRUE(has_variables(fixture::elf_with_symbol("turns", STT_OBJECT, STB_GLOBAL, kWritable)));
  EXPECT_TRUE(has_variables(fixture::elf_with_symbol("turns", STT_OBJECT, STB_LOCAL, kWritable)));
  EXPECT_TRUE(has_variables(fixture::elf_with_symbol("factors", STT_OBJECT, STB_GLOBAL, kConstant)));
  EXPECT_FALSE(has_variables(fixture::elf_with_symbol(".str", STT_OBJECT, STB_LOCAL, kConstant)));
  EXPECT_FALSE(has_variables(fixture::elf_with_symbol("weigh", STT_FUNC, STB_GLOBAL, kConstant)));
  EXPECT_FALSE(has_variables(fixture::elf_with_symbol("weigh.kd", STT_OBJECT, STB_GLOBAL, kConstant)));
  EXPECT_FALSE(has_variables(fixture::elf_with_symbol("__hip_cuid_1f", STT_OBJECT, STB_GLOBAL, kWritable)));
  EXPECT_FALSE(has_variables(fixture::bytes_of("no ELF")));
}

TEST(FindCodeObject, AnEntryWithoutTargetFeaturesIsPreferredWhereverItStands) {
  const Bytes plain = fixture::elf_with({});
  const Bytes special = fixture::elf_with_metadata(fixture::valid_metadata());
  const fixture::BundleEntry with_features{"hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", special};
  const fixture::BundleEntry without{"hipv4-amdgcn-amd-amdhsa--gfx942", plain};
  EXPECT_EQ(find_code_object(fixture::bundle({with_features, without})).value().size(), plain.size());
  EXPECT_EQ(find_code_object(fixture::bundle({without, with_features})).value().size(), plain.size());
  EXPECT_EQ(find_code_object(fixture::bundle({with_features})).value().size(), special.size());
}

TEST(FindCodeObject, ABundleWithoutTheProcessorSaysWhatItHas) {
  const Bytes elf = fixture::elf_with({});
  const Bytes image = fixture::bundle({{"hipv4-amdgcn-amd-amdhsa--gfx9420", elf}});
  const auto found = find_code_object(image);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, 209);
  EXPECT_THAT(found.error().message, HasSubstr("hipv4-amdgcn-amd-amdhsa--gfx9420"));
}

TEST(FindCodeObject, ACompressedBundleIsRefusedByName) {
  const Bytes image = fixture::bytes_of("CCOB and more");
  EXPECT_THAT(find_code_object(image).error().message, HasSubstr("compressed"));
}

TEST(FindCodeObject, NullIsAnError) {
  EXPECT_FALSE(find_code_object(static_cast<const void*>(nullptr)).ok());
}

}  // namespace
