// The text form: parse(print(p)) == p, every command as a person writes it, and no text that crashes the parser. Not
// verified here: the meaning of a program (state_test.cpp), and the places of errors (bad_text_test.cpp).
#include "verify/program/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "programs.h"
#include "verify/generate/generator.h"

namespace verify {
namespace {

RC_GTEST_PROP(Text, ParsingWhatWasPrintedGivesTheProgramBack, ()) {
  const Program program = *arbitrary_program({.size = 60});
  const auto result = parse_program(print_program(program));
  RC_ASSERT(std::holds_alternative<Program>(result));
  RC_ASSERT(std::get<Program>(result) == program);
}

RC_GTEST_PROP(Text, PrintingIsTheSameAfterParsing, ()) {
  const std::string text = print_program(*arbitrary_program({.size = 60}));
  RC_ASSERT(print_program(std::get<Program>(parse_program(text))) == text);
}

RC_GTEST_PROP(Text, RandomBytesNeverCrashTheParser, (const std::string& bytes)) {
  const auto bare = parse_program(bytes);
  const auto headed = parse_program("hgcheck-program 1\n" + bytes);
  // Whatever it is, it is a program or an error at a place in the text.
  if (const auto* error = std::get_if<ParseError>(&headed)) {
    RC_ASSERT(error->line >= 1u);
    RC_ASSERT(error->column >= 1u);
    RC_ASSERT(!error->message.empty());
  }
  RC_CLASSIFY(std::holds_alternative<Program>(bare), "program");
}

// Cuts, doubles, swaps and overwrites words and bytes of a good program.
std::string mutated(std::string text) {
  const int changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes && !text.empty(); ++i) {
    const auto at = static_cast<std::size_t>(*rc::gen::inRange<std::size_t>(0, text.size()));
    const auto length = static_cast<std::size_t>(*rc::gen::inRange<std::size_t>(1, 12));
    const std::size_t digit = text.find_first_of("0123456789", at);
    switch (*rc::gen::inRange(0, 10)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(at, length));
        break;
      case 2:
        text[at] = *rc::gen::arbitrary<char>();
        break;
      case 3:
        text.insert(at, *rc::gen::element<std::string>("99999999999999999999", "=", "+", "-", "@", "addr(", ")", ",",
                                                       " repeat 2 ", "\n", "0x", "#", "b0", "e0", ".n1"));
        break;
      case 4:
        text = text.substr(0, at);
        break;
      default:  // other numbers mostly leave a program, if not a valid one
        if (digit != std::string::npos) text[digit] = *rc::gen::inRange('0', static_cast<char>('9' + 1));
        break;
    }
  }
  return text;
}

RC_GTEST_PROP(Text, MutatedProgramsAreProgramsOrErrorsAtAPlaceInTheText, ()) {
  const std::string text = mutated(print_program(*arbitrary_program({.size = 20})));
  const auto result = parse_program(text);
  if (const auto* error = std::get_if<ParseError>(&result)) {
    RC_TAG("error");
    std::size_t start = 0;
    for (std::uint32_t line = 1; line < error->line; ++line) start = text.find('\n', start) + 1;
    const std::size_t end = std::min(text.find('\n', start), text.size());
    RC_ASSERT(error->column <= end - start + 1);
  } else {
    RC_TAG("program");
    const Program& program = std::get<Program>(result);
    static_cast<void>(validate(program));  // total: any program may be asked about
    RC_ASSERT(std::get<Program>(parse_program(print_program(program))) == program);
  }
}

TEST(Text, TheExampleParsesIsValidAndSurvivesPrinting) {
  const Program example = parsed(kExample);
  EXPECT_EQ(flaw(example), "");
  EXPECT_EQ(example.steps.size(), 11u);
  EXPECT_TRUE(parsed(print_program(example)) == example);
  EXPECT_EQ(counted_commands(example), 7u);
}

// Every command and every attribute, once in the form that printing gives it.
constexpr std::string_view kEveryCommand[] = {
    "buffer b0 4096",
    "buffer b1 64 memory=pinned",
    "buffer b9999 268435456 memory=pageable",
    "graph g7",
    "stream s1",
    "stream s2 nonblocking",
    "event v3",
    "pool p0",
    "pool p1 default",
    "pool_attribute p0 release_threshold=4096",
    "pool_attribute p0 follow_events=0",
    "pool_attribute p0 opportunistic",
    "pool_attribute p0 internal_dependencies=1",
    "pool_attribute p0 reserved",
    "pool_attribute p0 reserved_high=0",
    "pool_attribute p0 used",
    "pool_attribute p0 used_high",
    "pool_trim p0 4096",
    "pool_access p0",
    "pool_use p0",
    "pool_use default",
    "malloc_async b5 256 s1",
    "malloc_async b6 1 s0 pool=p0",
    "malloc_async b7 256 s1 by_hand",
    "malloc b8 64",
    "reserve r0 4 device=1",
    "unreserve r0",
    "physical h0 2",
    "release h0",
    "retain r0 1",
    "map r0 1 h0",
    "unmap r0 1",
    "access r0 1 readwrite device=1",
    "view b9 r0 1 4096",
    "destroy p0",
    "kernel g0.n0 axpy_u64 out=b0+0 in=b1+256 n=64 a=7",
    "kernel g0.n1 axpy_u64 out=b0+0 in=b1+256 n=64 a=addr(b0+0) grid=4 block=128 style=extra opaque fan=3 after=n0",
    "kernel g0.n2 count_only n=4294967295 a=18446744073709551615 b=255",
    "kernel g0.n3 nested_struct q.tag=65535 q.a.in=b1-8 q.a.k=0 q.flag=1 q.out=b0+0 n=1",
    "memcpy g0.n4 dst=b1+0 src=b0+0 bytes=512 kind=d2d after=n0,n1",
    "memcpy g0.n4 dst=b1+0 src=b0+0 bytes=1 kind=default",
    "memcpy g0.n4 dst=b1+0 src=b0+0 bytes=1 kind=h2h",
    "memcpy g0.n4 dst=b1+0 src=b0+0 bytes=1 kind=h2d",
    "memcpy g0.n4 dst=b1+0 src=b0+0 bytes=1 kind=d2h fan=2",
    "memcpy3d g0.n5 dst=b1+0 src=b0+0 width=4 height=2 depth=3 dpitch=8 spitch=16 drows=2 srows=3 kind=d2d",
    ("memcpy3d g0.n5 dst=b1+0 src=b0+0 width=4 height=2 depth=3 dpitch=8 spitch=16 drows=2 srows=3 dpos=1,2,3 "
     "spos=0,0,1 kind=d2d"),
    "memset g0.n6 dst=b0+8 value=255 element=1 width=16",
    "memset g0.n6 dst=b0+8 value=4294967295 element=4 width=16 height=2 pitch=64",
    "host g0.n7 tag=9",
    "host g0.n8 tag=4294967295 mem=b1+4 bytes=8",
    "empty g0.n9",
    "child g0.n10 g1",
    "child g0.n11 g1 nest=12 after=n10",
    "instantiate e0 g0",
    "launch e0 s0",
    "repeat 1000000 launch e0 s0",
    "move b0",
    "move b0 b1 b2",
    "move b0=@b1 b1=@b0",
    "move b0=@b1 b1",
    "patch e0",
    "patch g0",
    "set e0.n0 kernel axpy_u64 out=b0+0 in=b1+256 n=64 a=7 style=extra",
    "set g0.n0 memset dst=b0+0 value=1 element=2 width=3",
    "set e0.n1 memcpy dst=b1+0 src=b0+0 bytes=512 kind=d2d",
    "set e0.n1 memcpy3d dst=b1+0 src=b0+0 width=4 height=2 depth=3 dpitch=8 spitch=16 drows=2 srows=3 kind=d2d",
    "set g0.n1 host tag=1",
    "set e0.n1 child g1 nest=2",
    "update e0 g0",
    "sync device",
    "sync s1",
    "sync v0",
    "record v0 s1",
    "wait s1 v0",
    "read b0",
    "write b0 seed=18446744073709551615",
    "write b0 at=16 hex=00ff7f",
    "free b0",
    "destroy g0",
    "destroy e0",
    "destroy s1",
    "destroy v0",
    "fail 3 hipGraphLaunch",
    "instantiate e0 g0 form=flags",
    "instantiate e0 g0 form=params flags=auto_free,upload,priority",
    "clone g1 g0",
    "find g1 g0.n0",
    "edge g0.n2 after=n0,n1",
    "edge g0.n0 after=n2 cycle",
    "unedge g0.n2 after=n0",
    "remove g0.n1",
    "enable e0.n1",
    "disable e0.n1",
    "upload e0 s1",
    "flags e0",
    "inspect g0",
    "inspect e0",
    "stream s1 nonblocking priority=2",
    "stream s1 priority=-1",
    "stream s1 per_thread",
    "event v0 timing blocking",
    "event v1 release=device",
    "event v2 timing release=system",
    "on s1 kernel inplace_u32 data=b0+0 n=1 k=2",
    "on s1 memset dst=b0+0 value=1 element=1 width=4 thread=2",
    "on s1 empty by_hand",
    "query s1",
    "query v0 thread=1",
    "elapsed v0 v1",
    "capture s1",
    "capture s1 mode=relaxed into=g0 after=n0,n1",
    "capture s1 mode=thread thread=1",
    "endcapture s1 g1 thread=1",
    "capture_info s1",
    "capture_after s1 n0,n2",
    "capture_after s1 none",
    "capture_after s1 n1 add",
    "capture_mode thread thread=2",
    "unsafe",
    "unsafe thread=1",
    "unsafe call=host_malloc thread=1",
    "unsafe call=device_limit",
    "graph_memory used_high reset",
    "fail_below 1 allocation",
    "device_memory 67108864",
    "module m0 thread=1",
    "unload m0",
    "kernel g0.n0 count_only n=1 a=2 b=3 module=m1",
    "on s0 kernel count_only n=1 a=2 b=3 shared=8 by_symbol",
    "on s0 kernel count_only n=1 a=2 b=3 cooperative",
    "on s0 memset dst=b0+0 value=1 element=1 width=4 wait",
    "sync s1 thread=1",
    "sync device thread=1",
    "userobject u0",
    "retain u0 g0",
    "retain u0 g0 move",
    "release u0",
    "release u0 g0",
    "release u0 beyond",
    "release u0 g0 beyond",
    "alloc g0.n1 b5 256 after=n0",
    "alloc g0.n1 b5 256 access=0,3 form=generic after=n0",
    "free g0.n2 b5 after=n1",
    "free_async b5 s1",
    "free_async b5 s1 by_hand",
    "dot g0",
    "dot g0 flags=verbose,kernel,handles",
    "buffer b3 256 symbol=2",
    "buffer b4 256 symbol=2 module=m1",
    "memcpy g0.n1 dst=b3+0 src=b0+0 bytes=16 kind=d2d symbol=dst",
    "set e0.n1 memcpy dst=b0+0 src=b3+8 bytes=16 kind=d2h symbol=src",
    "on s1 memcpy dst=b3+0 src=b0+0 bytes=16 kind=h2d symbol=dst",
    "attribute g0.n1 priority=-1",
    "attribute g0.n1 priority=1 cooperative=0",
    "attribute g0.n1 window=50",
    "copy_attributes g0.n1 g1.n0",
    "buffer b3 256 device=1",
    "stream s1 nonblocking device=3",
    "event v0 timing device=1",
    "kernel g0.n0 inplace_u32 data=b0+0 n=1 k=2 device=1",
    "on s1 memcpy dst=b1+0 src=b0+0 bytes=8 kind=d2d peer=async",
    "on s0 memcpy dst=b1+0 src=b0+0 bytes=8 kind=d2d peer=wait",
    "peer can 0 1",
    "peer enable 1 0",
    "peer disable 0 2",
    "bad hipGraphDestroy gone-graph",
    "cache acquire 0 device=1 flags=1 priority=-2",
    "system inject hipStreamQuery nth=1",
    "repeat 2 streams work 0",
    "stable buffer 1 at=3 bytes=64 use=2",
    "traces body commands=5",
    "traces rank 3 peer=2",
    "traces collective commands=15 peer=1",
    "remap step 1 in=0 out=2 stream=1",
};

class OneCommand : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Text, OneCommand, testing::ValuesIn(kEveryCommand),
                         [](const auto& at) { return "Line" + std::to_string(at.index); });

TEST_P(OneCommand, ParsesToOneStepThatPrintsAsItWasWritten) {
  const Program program = program_of(GetParam());
  ASSERT_EQ(program.steps.size(), 1u);
  EXPECT_EQ(print_program(program), "hgcheck-program 1\nplacement arena\n" + std::string(GetParam()) + "\n");
}

TEST(Text, EveryKindOfCommandIsInTheTableOfCommands) {
  std::set<std::size_t> kinds;
  std::set<std::string_view> nodes;
  for (const std::string_view line : kEveryCommand) {
    const Program program = program_of(line);
    const Command& command = program.steps.at(0).command;
    kinds.insert(command.index());
    nodes.insert(command_word(command));
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<Command>);
  for (const char* node : {"kernel", "memcpy", "memcpy3d", "memset", "host", "empty", "child"}) {
    EXPECT_TRUE(nodes.contains(node)) << node;
  }
}

TEST(Text, CommentsSpacingAndBlankLinesMeanNothing) {
  const Program plain = program_of("buffer b0 64\nread b0");
  const Program dressed =
      parsed("# a comment\n\n  hgcheck-program\t1 # version\r\n\n buffer  b0   64\r\n#\nread b0#x\n\n");
  EXPECT_TRUE(plain == dressed);
  EXPECT_EQ(dressed.steps.at(0).line, 5u);
  EXPECT_EQ(dressed.steps.at(1).line, 7u);
}

TEST(Text, OtherSpellingsOfTheSameProgramAreTheSameProgram) {
  constexpr std::pair<const char*, const char*> kSame[] = {
      {"buffer b0 64 memory=device", "buffer b0 64"},
      {"buffer b0 0x40", "buffer b0 64"},
      {"kernel g0.n0 axpy_u64 a=7 n=1 in=b1 out=b0 style=params block=64 grid=1",
       "kernel g0.n0 axpy_u64 out=b0+0 in=b1+0 n=1 a=7"},
      {"memcpy g0.n0 bytes=1 src=b0 dst=b1", "memcpy g0.n0 dst=b1+0 src=b0+0 bytes=1 kind=default"},
      {"memcpy3d g0.n0 dst=b1 src=b0 width=4 height=2 depth=1 dpitch=8 spitch=8 kind=d2d",
       "memcpy3d g0.n0 dst=b1 src=b0 width=4 height=2 depth=1 dpitch=8 spitch=8 drows=2 srows=2 dpos=0,0,0 kind=d2d"},
      {"memset g0.n0 dst=b0 value=1 width=2", "memset g0.n0 dst=b0+0 value=1 element=1 width=2 height=1 pitch=0"},
      {"child g0.n0 g1 nest=1", "child g0.n0 g1"},
      {"empty g0.n0 fan=1", "empty g0.n0"},
      {"repeat 1 sync device", "sync device"},
  };
  for (const auto& [a, b] : kSame) EXPECT_TRUE(program_of(a) == program_of(b)) << a;
}

TEST(Text, ProgramsThatDifferInOneThingAreDifferentPrograms) {
  // Shows that the equality above is not trivial: a change of any one attribute makes a different program.
  constexpr std::string_view kBase =
      "kernel g0.n1 axpy_u64 out=b0+8 in=b1+256 n=64 a=addr(b2+4) grid=4 block=128 style=extra opaque fan=3 after=n0";
  constexpr std::pair<const char*, const char*> kChanges[] = {
      {"g0.", "g1."},      {".n1", ".n2"},     {"b0+8", "b0+16"}, {"in=b1", "in=b3"}, {"n=64", "n=63"},
      {"addr(b2+4)", "4"}, {"b2+4", "b2-4"},   {"grid=4", ""},    {"block=128", ""},  {"style=extra", ""},
      {"opaque", ""},      {"fan=3", "fan=2"}, {"after=n0", ""},
  };
  for (const auto& [from, to] : kChanges) {
    std::string changed(kBase);
    changed.replace(changed.find(from), std::string_view(from).size(), to);
    EXPECT_FALSE(program_of(changed) == program_of(kBase)) << changed;
  }
  EXPECT_FALSE(parsed("hgcheck-program 1\nplacement native") == parsed("hgcheck-program 1\nplacement arena"));
  EXPECT_FALSE(program_of("repeat 2 sync device") == program_of("sync device"));
}

TEST(Text, VariablesOfTheEnvironmentStandBeforeTheCommands) {
  const std::string text =
      "hgcheck-program 1\nplacement arena\nenvironment AMD_SERIALIZE_COPY=\nenvironment AMD_SERIALIZE_KERNEL=3\n";
  const Program program = parsed(text);
  EXPECT_EQ(program.setting.environment, (Environment{{"AMD_SERIALIZE_COPY", ""}, {"AMD_SERIALIZE_KERNEL", "3"}}));
  EXPECT_EQ(print_program(program), text);
  EXPECT_FALSE(program == parsed("hgcheck-program 1\nplacement arena\n"));
  const auto flaw_of = [](const std::string& lines) {
    const auto read = parse_program("hgcheck-program 1\n" + lines + "\n");
    const auto* error = std::get_if<ParseError>(&read);
    return error == nullptr ? "" : error->message;
  };
  EXPECT_NE(flaw_of("environment").find("a variable like"), std::string::npos);
  for (const char* wrong : {"AMD_SERIALIZE_KERNEL", "=3", "3A=1", "A-B=1"}) {
    EXPECT_NE(flaw_of(std::string("environment ") + wrong).find(wrong), std::string::npos) << wrong;
  }
  EXPECT_NE(flaw_of("environment A=$(reboot)").find("has others"), std::string::npos);
  EXPECT_NE(flaw_of("environment A=1\nenvironment A=2").find("A has a value already"), std::string::npos);
  EXPECT_NE(flaw_of("sync device\nenvironment A=1").find("before the first command"), std::string::npos);
}

TEST(Text, ADeclarationOrAReadIsNotCounted) {
  EXPECT_EQ(counted_commands(program_of("buffer b0 64\ngraph g0\nstream s1\nevent v0\nread b0")), 0u);
  EXPECT_EQ(counted_commands(program_of("write b0 seed=1\nrepeat 5 sync device\nempty g0.n0")), 3u);
}

TEST(Text, AProgramHasABoundOnItsCommands) {
  std::string text = "hgcheck-program 1\n";
  for (std::size_t i = 0; i < kMaxCommands; ++i) text += "sync device\n";
  EXPECT_TRUE(std::holds_alternative<Program>(parse_program(text)));
  const auto result = parse_program(text + "sync device\n");
  ASSERT_TRUE(std::holds_alternative<ParseError>(result));
  EXPECT_EQ(std::get<ParseError>(result).line, kMaxCommands + 2);
}

TEST(Text, AnErrorIsWrittenTheWayCompilersWriteThem) {
  const ParseError error{3, 14, "expected a name"};
  EXPECT_EQ(error.text("dir/x.program"), "dir/x.program:3:14: expected a name");
}

}  // namespace
}  // namespace verify
