// Lines that are no commands: each differs from a good one in one thing, and its error points at that thing.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "programs.h"
#include "verify/program/text.h"

namespace verify {
namespace {

// `column` is the place in the bad line, from 1; the message has to contain `mentions` (its other text may change).
struct BadLine {
  std::string_view good;
  std::string_view bad;
  std::uint32_t column;
  std::string_view mentions;
};

constexpr BadLine kBadLines[] = {
    {"buffer b0 64", "bufer b0 64", 1, "bufer"},
    {"buffer b0 64", "buffer c0 64", 8, "b0"},
    {"buffer b0 64", "buffer b 64", 9, "number"},
    {"buffer b0 64", "buffer b0x 64", 9, "0x"},
    {"buffer b99999 64", "buffer b100000 64", 9, "99999"},
    {"buffer b0 64", "buffer b0", 10, "size"},
    {"buffer b0 64", "buffer b0 0", 11, "one byte"},
    {"buffer b0 64", "buffer b0 6a", 11, "6a"},
    {"buffer b0 0x40", "buffer b0 0x", 11, "0x"},
    {"buffer b0 64", "buffer b0 -64", 11, "-64"},
    {"buffer b0 268435456", "buffer b0 268435457", 11, "268435456"},
    {"buffer b0 64", "buffer b0 99999999999999999999999", 11, "268435456"},
    {"buffer b0 64 memory=pinned", "buffer b0 64 memory=pined", 21, "pinned"},
    {"buffer b0 64 memory=pinned", "buffer b0 64 memory", 14, "memory"},
    {"buffer b0 64 memory=pinned", "buffer b0 64 memory=pinned memory=pinned", 28, "twice"},
    {"buffer b0 64 memory=pinned", "buffer b0 64 kind=pinned", 14, "kind"},
    {"graph g0", "graph g0 g1", 10, "g1"},
    {"stream s1 nonblocking", "stream s1 nonblocking=1", 11, "nonblocking"},
    {"pool p0 default", "pool p0 defalt", 9, "defalt"},
    {"pool_attribute p0 used", "pool_attribute p0 usd", 19, "release_threshold"},
    {"pool_attribute p0 used_high=0", "pool_attribute p0 used_high=", 29, "value"},
    {"pool_use p0", "pool_use s0", 10, "p0"},
    {"malloc_async b5 64 s1 pool=p0", "malloc_async b5 64 s1 pool=b0", 28, "p0"},
    {"malloc_async b5 64 s1", "malloc_async b5 s1", 17, "size"},
    {"malloc b5 64", "malloc b5 64 s1", 14, "s1"},
    {"reserve r0 4", "reserve r0 0", 12, "one page is the least"},
    {"map r0 1 h0", "map r0 1 b0", 10, "h0"},
    {"access r0 1 read", "access r0 1 write", 13, "none, read and readwrite"},
    {"repeat 2 sync device", "repeat 0 sync device", 8, "at least once"},
    {"repeat 2 sync device", "repeat 1000001 sync device", 8, "1000000"},
    {"repeat 2 sync device", "repeat 2", 1, "no line 'end'"},
    {"repeat 2 sync device", "end", 1, "no block"},
    {"repeat 2 sync device", "repeat 10001", 8, "10000 rounds"},
    {"sync device", "sync g0", 6, "sv"},
    {"patch e0", "patch s0", 7, "ge"},
    {"destroy g0", "destroy b0", 9, "gesv"},
    {"unload m0", "unload g0", 8, "m0"},
    {"kernel g0.n0 count_only n=1 a=2 b=3 module=m0", "kernel g0.n0 count_only n=1 a=2 b=3 module=b0", 44, "m0"},
    {"launch e0 s0", "launch e0", 10, "s0"},
    {"launch e0 s0", "launch s0 e0", 8, "e0"},
    {"move b0=@b1 b1=@b0", "move b0=b1 b1=@b0", 9, "@"},
    {"move b0", "move", 5, "buffer"},
    {"write b0 seed=1", "write b0", 9, "seed"},
    {"write b0 at=0 hex=00", "write b0 hex=00", 16, "at"},
    {"write b0 at=0 hex=00ff", "write b0 at=0 hex=0ff", 19, "two digits"},
    {"write b0 at=0 hex=00ff", "write b0 at=0 hex=00fg", 19, "fg"},
    {"kernel g0.n0 count_only n=1 a=2 b=3", "kernel g0.n0 count_only@12ab n=1 a=2 b=3", 14, "recorded program"},
    {"write b0 seed=18446744073709551615", "write b0 seed=18446744073709551616", 15, "seed"},
    {"fail 1 hipGraphLaunch", "fail 0 hipGraphLaunch", 6, "from 1"},
    {"fail 1 hipGraphLaunch", "fail 1 cudaGraphLaunch", 8, "cudaGraphLaunch"},
    {"empty g0.n0", "empty e0.n0", 7, "g0.n0"},
    {"empty g0.n0", "empty g0n0", 7, "g0n0"},
    {"empty g0.n0 after=n1,n2", "empty g0.n0 after=n1,2", 22, "n0"},
    {"empty g0.n0 after=n1,n2", "empty g0.n0 after=n1,", 22, "n0"},
    {"empty g0.n0 fan=1", "empty g0.n0 fan=0", 17, "fan"},
    {"empty g0.n0 fan=20000", "empty g0.n0 fan=20001", 17, "20000"},
    {"child g0.n0 g1 nest=64", "child g0.n0 g1 nest=65", 21, "64"},
    {"host g0.n0 tag=1 mem=b0 bytes=4", "host g0.n0 tag=1 mem=b0", 24, "bytes"},
    {"kernel g0.n0 count_only n=1 a=2 b=3", "kernel g0.n0 count_onl n=1 a=2 b=3", 14, "count_only"},
    {"kernel g0.n0 count_only n=1 a=2 b=3", "kernel g0.n0 count_only n=1 a=2", 32, "b"},
    {"kernel g0.n0 count_only n=1 a=2 b=255", "kernel g0.n0 count_only n=1 a=2 b=256", 35, "255"},
    {"kernel g0.n0 count_only n=1 a=addr(b0) b=3", "kernel g0.n0 count_only n=1 a=addr(b0 b=3", 38, ")"},
    {"kernel g0.n0 count_only n=1 a=addr(b0) b=3", "kernel g0.n0 count_only n=1 a=addr(x0) b=3", 36, "b0"},
    {"kernel g0.n0 inplace_u32 data=b0 n=1 k=2", "kernel g0.n0 inplace_u32 data=addr(b0) n=1 k=2", 31, "data"},
    {"kernel g0.n0 inplace_u32 data=b0 n=1 k=2", "kernel g0.n0 inplace_u32 data=7 n=1 k=2", 31, "b0"},
    {"kernel g0.n0 inplace_u32 data=b0+8 n=1 k=2", "kernel g0.n0 inplace_u32 data=b0+ n=1 k=2", 34, "offset"},
    {"kernel g0.n0 inplace_u32 data=b0 n=1 k=2", "kernel g0.n0 inplace_u32 data=b0 n=1 k=2 m=3", 42, "m"},
    {"kernel g0.n0 inplace_u32 data=b0 n=1 k=2 style=extra", "kernel g0.n0 inplace_u32 data=b0 n=1 k=2 style=other", 48,
     "extra"},
    {"memcpy g0.n0 dst=b0 src=b1 bytes=4 kind=d2d", "memcpy g0.n0 dst=b0 src=b1 bytes=4 kind=p2p", 41, "d2d"},
    {"memcpy g0.n0 dst=b0 src=b1 bytes=4", "memcpy g0.n0 dst=b0 bytes=4", 28, "src"},
    {"memcpy3d g0.n0 dst=b0 src=b1 width=1 height=1 depth=1 dpitch=1 spitch=1 dpos=1,2,3",
     "memcpy3d g0.n0 dst=b0 src=b1 width=1 height=1 depth=1 dpitch=1 spitch=1 dpos=1,2", 80, "x,y,z"},
    {"memset g0.n0 dst=b0 value=1 width=2", "memset g0.n0 dst=b0 value=4294967296 width=2", 27, "4294967295"},
    {"set e0.n0 host tag=1", "set e0.n0 hast tag=1", 11, "hast"},
    {"set e0.n0 host tag=1", "set e0.n0 host tag=1 after=n1", 22, "after"},
    {"placement native", "placement nativ", 11, "arena"},
};

class OneBadLine : public testing::TestWithParam<BadLine> {};
INSTANTIATE_TEST_SUITE_P(BadText, OneBadLine, testing::ValuesIn(kBadLines),
                         [](const auto& at) { return "Line" + std::to_string(at.index); });

TEST_P(OneBadLine, ItsErrorPointsAtTheOneThingInWhichItDiffersFromAGoodLine) {
  const BadLine& line = GetParam();
  const std::string header = "# first\nhgcheck-program 1\n";
  EXPECT_TRUE(std::holds_alternative<Program>(parse_program(header + std::string(line.good)))) << line.good;
  const auto result = parse_program(header + std::string(line.bad) + "\n");
  ASSERT_TRUE(std::holds_alternative<ParseError>(result)) << line.bad;
  const ParseError& error = std::get<ParseError>(result);
  EXPECT_EQ(error.line, 3u) << error.message;
  EXPECT_EQ(error.column, line.column) << line.bad << ": " << error.message;
  EXPECT_NE(error.message.find(line.mentions), std::string::npos) << error.message;
}

struct BadHeader {
  std::string_view text;
  std::uint32_t line;
  std::uint32_t column;
};

TEST(BadText, AProgramOpensWithItsVersion) {
  constexpr BadHeader kHeaders[] = {
      {"", 1, 1},
      {"\n# nothing\n", 1, 1},
      {"buffer b0 64\n", 1, 1},
      {"\n  program 1\n", 2, 3},
      {"hgcheck-program\n", 1, 16},
      {"hgcheck-program 2\n", 1, 17},
      {"hgcheck-program one\n", 1, 17},
      {"hgcheck-program 1 2\n", 1, 19},
  };
  for (const BadHeader& header : kHeaders) {
    const auto result = parse_program(header.text);
    ASSERT_TRUE(std::holds_alternative<ParseError>(result)) << header.text;
    EXPECT_EQ(std::get<ParseError>(result).line, header.line) << header.text;
    EXPECT_EQ(std::get<ParseError>(result).column, header.column) << header.text;
  }
}

TEST(BadText, APlacementStandsBeforeTheFirstCommand) {
  EXPECT_TRUE(std::holds_alternative<Program>(parse_program("hgcheck-program 1\nplacement native\nsync device\n")));
  const auto result = parse_program("hgcheck-program 1\nsync device\nplacement native\n");
  ASSERT_TRUE(std::holds_alternative<ParseError>(result));
  EXPECT_EQ(std::get<ParseError>(result).line, 3u);
  EXPECT_EQ(std::get<ParseError>(result).column, 1u);
}

TEST(BadText, TheFirstErrorOfALineIsTheOneReported) {
  const auto result = parse_program("hgcheck-program 1\nbuffer c0 0 memory=x\n");
  ASSERT_TRUE(std::holds_alternative<ParseError>(result));
  EXPECT_EQ(std::get<ParseError>(result).column, 8u);
}

}  // namespace
}  // namespace verify
