// The places where a command is valid: every precondition, as two programs that differ in one command, and the promises
// of check() and apply() about any program.
// Not verified here: possible races (state_races_test.cpp), and data races themselves (the model reports them;
// generator_test.cpp holds the generator to having none).
#include "verify/program/state.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>

#include "programs.h"
#include "verify/generate/generator.h"
#include "verify/program/blocks.h"
#include "verify/shrink/shrinker.h"

namespace verify {
namespace {

constexpr std::string_view kSetup =
    "buffer b0 1024\n"
    "buffer b1 512\n"
    "buffer b2 256 memory=pinned\n"
    "buffer b3 256 memory=pageable\n"
    "buffer b4 64\n"
    "graph g0\n"
    "kernel g0.n0 inplace_u32 data=b0+0 n=4 k=1\n"
    "memcpy g0.n1 dst=b0+64 src=b1+0 bytes=64 kind=d2d\n"
    "memcpy3d g0.n2 dst=b0+128 src=b1+0 width=4 height=2 depth=1 dpitch=8 spitch=8 drows=2 srows=2 kind=d2d\n"
    "memset g0.n3 dst=b0+256 value=1 width=4\n"
    "memset g0.n4 dst=b0+320 value=1 element=1 width=4 height=2 pitch=8\n"
    "host g0.n5 tag=1 mem=b2+0 bytes=4\n"
    "empty g0.n6\n"
    "graph g1\n"
    "empty g1.n0\n"
    "child g0.n7 g1\n"
    "instantiate e0 g0\n"
    "stream s1\n"
    "event v0\n";

// A command is `stem` and how it goes on: with `bad` it may not stand behind the setup and `before`, with `good` it
// may.
struct Precondition {
  std::string_view before;
  std::string_view stem;
  std::string_view good;
  std::string_view bad;
  std::string_view mentions;  // text that the reason has to contain
};

constexpr Precondition kDeclarations[] = {
    {"", "buffer ", "b9 64", "b0 64", "declared already"},
    {"", "graph ", "g9", "g0", "declared already"},
    {"", "stream ", "s9", "s1", "declared already"},
    {"", "stream ", "s9", "s0", "null stream"},
    {"", "event ", "v9", "v0", "declared already"},
    {"", "empty ", "g0.n9", "g9.n9", "g9"},
    {"destroy g1", "empty ", "g0.n9", "g1.n9", "destroyed"},
    {"", "empty ", "g0.n9", "g0.n6", "exists already"},
    {"", "empty g0.n9 after=", "n0,n1", "n0,n0", "twice"},
    {"", "empty g0.n9 after=", "n0", "n8", "n8"},
    {"", "instantiate ", "e9 g0", "e0 g0", "already"},
    {"", "instantiate e9 ", "g0", "g9", "g9"},
    {"move b0", "instantiate e9 ", "g1", "g0", "patch it first"},
    {"", "repeat 2 ", "sync device", "instantiate e9 g0", "already"},
};

constexpr Precondition kKernels[] = {
    {"", "kernel g0.n9 inplace_u32 data=", "b2+0 n=4 k=1", "b3+0 n=4 k=1", "pageable"},
    {"", "kernel g0.n9 inplace_u32 data=b4+0 n=", "16 k=1", "17 k=1", "b4"},
    {"", "kernel g0.n9 inplace_u32 data=", "b4+64 n=0 k=1", "b4+68 n=0 k=1", "outside"},
    {"", "kernel g0.n9 inplace_u32 data=", "b4+0 n=1 k=1", "b4-4 n=1 k=1", "outside"},
    {"", "kernel g0.n9 inplace_u32 data=", "b4+4 n=1 k=1", "b4+2 n=1 k=1", "aligned"},
    {"", "kernel g0.n9 inplace_u32 data=b4 n=", "1 k=addr(b0)", "addr(b0) k=1", "number"},
    {"", "kernel g0.n9 inplace_u32 data=b4 n=1 k=", "addr(b4+64)", "addr(b4+65)", "outside"},
    {"", "kernel g0.n9 inplace_u32 data=b4 n=1 k=1 block=", "1024", "0", "block"},
    {"", "kernel g0.n9 inplace_u32 data=b4 n=1 k=1 grid=", "1", "0", "grid"},
    {"free b4", "kernel g0.n9 inplace_u32 data=", "b0 n=1 k=1", "b4 n=1 k=1", "freed"},
    {"", "kernel g0.n9 inplace_u32 data=", "b4 n=1 k=1", "b9 n=1 k=1", "b9"},
    {"", "kernel g0.n9 axpy_u64 out=b0+0 in=", "b0+32 n=4 a=1", "b0+24 n=4 a=1", "another argument"},
    {"", "kernel g0.n9 reduce_range out=b0 begin=b4 end=", "b4+64 seed=1", "b1+64 seed=1", "range"},
    {"", "kernel g0.n9 reduce_range out=b0 begin=b4+8 end=", "b4+8 seed=1", "b4+4 seed=1", "range"},
    {"", "kernel g0.n9 gemm_u32 c=b0 a=b1 b=b1+64 m=", "2 n=2 k=2 sa0=2 sa1=1 sb0=2 sb1=1",
     "addr(b0) n=2 k=2 sa0=2 sa1=1 sb0=2 sb1=1", "'m'"},
    {"", "kernel g0.n9 gemm_u32 c=b0 a=b1 b=b1+64 m=2 n=2 k=2 sa0=", "2 sa1=1 sb0=2 sb1=1", "200 sa1=1 sb0=2 sb1=1",
     "b1"},
    {"", "kernel g0.n9 gemm_u32 c=b0 a=b1 b=b1 m=1 n=1 k=", "1048576 sa0=0 sa1=0 sb0=0 sb1=0",
     "1048577 sa0=0 sa1=0 sb0=0 sb1=0", "'k'"},
    {"", "kernel g0.n9 gemm_u32 c=b0 a=b1 b=b1 m=1 n=", "1 k=1048576 sa0=0 sa1=0 sb0=0 sb1=0",
     "2 k=1048576 sa0=0 sa1=0 sb0=0 sb1=0", "multiplies"},
};

constexpr Precondition kCopies[] = {
    {"", "memcpy g0.n9 dst=b0 src=b4 bytes=", "64", "65", "b4"},
    {"", "memcpy g0.n9 dst=", "b0+960 src=b4 bytes=64", "b0+961 src=b4 bytes=64", "b0"},
    {"", "memcpy g0.n9 dst=b0 src=b4 bytes=", "1", "0", "at least one byte"},
    {"", "memcpy g0.n9 dst=b0 src=", "b0+8 bytes=8", "b0+7 bytes=8", "another argument"},
    {"", "memcpy g0.n9 dst=b0 src=b2 bytes=8 kind=", "h2d", "d2d", "kind"},
    {"", "memcpy g0.n9 dst=b2 src=b0 bytes=8 kind=", "d2h", "h2d", "kind"},
    {"", "memcpy g0.n9 dst=b2 src=b3 bytes=8 kind=", "h2h", "d2h", "kind"},
    {"", "memcpy g0.n9 dst=b0 src=b1 bytes=8 kind=", "d2d", "h2h", "kind"},
    {"", "memcpy3d g0.n9 dst=b0 src=b1 width=8 height=2 depth=1 dpitch=", "8 spitch=8", "7 spitch=8", "pitch"},
    {"", "memcpy3d g0.n9 dst=b0 src=b1 width=8 height=2 depth=1 dpitch=9 spitch=8 dpos=", "1,0,0", "2,0,0", "pitch"},
    {"", "memcpy3d g0.n9 dst=b0 src=b1 width=8 height=2 depth=1 dpitch=8 spitch=8 srows=", "2", "1", "rows"},
    {"", "memcpy3d g0.n9 dst=b0 src=b4 width=8 height=2 depth=", "4 dpitch=8 spitch=8", "5 dpitch=8 spitch=8",
     "within the buffer"},
    {"", "memcpy3d g0.n9 dst=b0 src=b1 width=1 height=1 depth=", "1 dpitch=1 spitch=1", "0 dpitch=1 spitch=1",
     "at least one byte"},
    // A product of a program's numbers can exceed every integer type; it must not wrap round to a number that fits.
    {"", "memcpy3d g0.n9 dst=b0 src=b1 width=1 height=1 depth=", "1 dpitch=1 spitch=1",
     "257 dpitch=268435456 spitch=268435456 drows=268435456 srows=268435456", "within the buffer"},
    {"", "kernel g0.n9 gemm_u32 c=b0 a=b1 b=b1 m=", "1 n=1 k=2 sa0=0 sa1=1 sb0=1 sb1=0",
     "2147483648 n=2147483648 k=2 sa0=0 sa1=1 sb0=1 sb1=0", "'m'"},
};

constexpr Precondition kOtherNodes[] = {
    {"", "memset g0.n9 dst=b4 value=1 width=", "64", "65", "b4"},
    {"", "memset g0.n9 dst=b4 value=1 width=", "1", "0", "at least one"},
    {"", "memset g0.n9 dst=b4 value=1 width=1 element=", "2", "3", "element"},
    {"", "memset g0.n9 dst=", "b4+2 value=1 width=1 element=2", "b4+1 value=1 width=1 element=2", "aligned"},
    {"", "memset g0.n9 dst=", "b2 value=1 width=1", "b3 value=1 width=1", "pageable"},
    {"", "memset g0.n9 dst=b4 value=1 width=", "4 height=2 pitch=4", "5 height=2 pitch=4", "pitch"},
    {"", "memset g0.n9 dst=b4 value=1 width=", "4", "4 pitch=4", "pitch"},
    {"", "memset g0.n9 dst=b4 value=1 element=4 width=1 height=2 pitch=", "8", "6", "whole number"},
    {"", "memset g0.n9 dst=b4 value=1 width=1 height=2 pitch=", "32", "33", "within the buffer"},
    {"", "host g0.n9 tag=1 mem=b2 bytes=", "256", "257", "b2"},
    {"", "host g0.n9 tag=1 mem=b2 bytes=", "1", "0", "at least one byte"},
    {"", "host g0.n9 tag=1 mem=", "b3 bytes=1", "b0 bytes=1", "device"},
    {"", "child g0.n9 ", "g1", "g9", "g9"},
    {"", "child g0.n9 g1 nest=", "63", "64", "nest"},
    {"", "child g0.n9 g1 nest=", "1", "0", "nest"},
    {"graph g2\nmove b0", "child g2.n0 ", "g1", "g0", "patch it first"},
    {"move b0", "memset ", "g1.n9 dst=b0 value=1 width=1", "g0.n9 dst=b0 value=1 width=1", "patch it first"},
    {"graph g2\nchild g2.n0 g0\nmove b0\npatch g0", "child ", "g1.n9 g0", "g2.n9 g0", "patch it first"},
    {"", "memset g0.n9 dst=b0 value=1 width=16 fan=", "64", "65", "b0"},
    {"", "host g0.n9 tag=1 ", "fan=2", "mem=b2 bytes=1 fan=2", "fanned"},
    {"", "", "empty g0.n9 fan=2", "child g0.n9 g1 fan=2", "fanned"},
    {"", "memset g0.n9 dst=b0 value=1 width=1 ", "fan=2", "height=2 pitch=1 fan=2", "fanned"},
    {"", "", "memcpy g0.n9 dst=b0 src=b1 bytes=1 fan=2",
     "memcpy3d g0.n9 dst=b0 src=b1 width=1 height=1 depth=1 dpitch=1 spitch=1 fan=2", "fanned"},
    {"", "kernel g0.n9 inplace_u32 data=b0 n=1 k=1 ", "fan=2", "opaque fan=2", "fanned"},
    {"graph g2\nempty g2.n0 fan=20000\ngraph g3\nchild g3.n0 g2\nchild g3.n1 g2\nchild g3.n2 g2",
     "empty g3.n3 fan=", "5000", "6000", "65536"},
};

constexpr Precondition kExecs[] = {
    {"", "launch ", "e0 s1", "e9 s1", "e9"},
    {"", "launch e0 ", "s0", "s9", "s9"},
    {"destroy e0", "", "instantiate e1 g0", "launch e0 s0", "destroyed"},
    {"destroy s1", "launch e0 ", "s0", "s1", "s1"},
    {"move b0", "", "patch e0", "launch e0 s0", "patch it first"},
    {"free b1", "", "instantiate e1 g1", "launch e0 s0", "freed"},
    {"", "patch ", "e0", "e9", "e9"},
    {"", "patch ", "g0", "g9", "g9"},
    {"move b0\nfree b1", "patch ", "g1", "g0", "freed"},
    {"move b0\nfree b1", "patch ", "g1", "e0", "freed"},
    {"", "update ", "e0 g0", "e9 g0", "e9"},
    {"", "update e0 ", "g0", "g9", "g9"},
    {"move b0", "", "patch g0", "update e0 g0", "patch it first"},
    {"graph g2\nempty g2.n0\nempty g2.n1\nempty g2.n2 after=n0,n1\ngraph g3\nempty g3.n0\nempty "
     "g3.n1\nempty g3.n2 after=n1,n0\ninstantiate e1 g2",
     "update e1 ", "g2", "g3", "documented"},
};

constexpr Precondition kSetters[] = {
    {"", "set ", "e0.n0 kernel inplace_u32 data=b4 n=1 k=2", "e9.n0 kernel inplace_u32 data=b4 n=1 k=2", "e9"},
    {"", "set ", "g0.n0 kernel inplace_u32 data=b4 n=1 k=2", "g0.n9 kernel inplace_u32 data=b4 n=1 k=2", "n9"},
    {"", "set e0.n0 kernel inplace_u32 data=b4 n=", "16 k=2", "17 k=2", "b4"},
    {"", "set e0.n0 ", "kernel inplace_u32 data=b4 n=1 k=2", "memset dst=b4 value=1 width=1", "setter"},
    {"", "set e0.n0 kernel sgd_u32 param=b4 grad=b0 n=1 rate=", "2", "2 opaque", "setter"},
    {"", "set ", "g0.n3 memset dst=b4 value=2 element=2 width=9", "e0.n3 memset dst=b4 value=2 element=2 width=9",
     "exec setter"},
    {"", "set e0.n0 kernel inplace_u32 data=b4 n=1 k=", "2", "2 opaque", "setter"},
    {"", "set e0.n1 memcpy dst=", "b4 src=b1 bytes=4 kind=d2d", "b2 src=b1 bytes=4 kind=d2h", "setter"},
    {"", "set e0.n1 ", "memcpy dst=b4 src=b1 bytes=4 kind=d2d",
     "memcpy3d dst=b4 src=b1 width=4 height=1 depth=1 dpitch=4 spitch=4 kind=d2d", "setter"},
    {"", "set e0.n2 memcpy3d dst=b0 src=b1 width=4 height=", "2 depth=1 dpitch=9 spitch=9 kind=d2d",
     "1 depth=1 dpitch=9 spitch=9 kind=d2d", "setter"},
    {"", "set e0.n3 memset dst=b4 value=2 element=", "1 width=9", "2 width=9", "setter"},
    {"", "set e0.n4 memset dst=b4 value=2 width=", "4 height=2 pitch=8", "3 height=2 pitch=8", "setter"},
    {"", "set ", "e0.n5 host tag=2", "e0.n6 empty", "empty"},
    {"", "set ", "e0.n7 child g1", "g0.n7 child g1", "no setter"},
    {"graph g2\nempty g2.n0", "set e0.n7 child ", "g2", "g0", "setter"},
    {"", "set e0.n7 child ", "g1", "g1 nest=2", "setter"},
    {"destroy g0", "", "launch e0 s0", "set e0.n0 kernel inplace_u32 data=b4 n=1 k=2", "g0"},
    {"move b0", "set e0.n0 kernel inplace_u32 data=", "b4 n=1 k=2", "b0 n=1 k=2", "patch it first"},
    {"free b1", "", "read b0", "set e0.n0 kernel inplace_u32 data=b4 n=1 k=2", "freed"},
};

constexpr Precondition kMemory[] = {
    {"", "move b0 ", "b1", "b0", "twice"},
    {"", "move ", "b0", "b9", "b9"},
    {"free b4", "move ", "b0", "b4", "freed"},
    {"buffer b5 1024", "move b0=", "@b5 b5=@b0", "@b5", "b0"},
    {"buffer b5 1024", "move b0=", "@b5 b5", "@b0 b5", "b0"},
    {"", "move b1=@b0 ", "b0", "b0=@b1", "fit"},
    {"", "move b1=@b0 ", "b4 b0", "b4=@b0 b0", "two buffers"},
    {"", "move ", "b2 b3", "b2=@b3 b3=@b2", "memory"},
    {"move b4=@b1 b1", "", "move b1=@b4 b4", "repeat 2 move b1=@b4 b4", "fit"},
    {"free b4", "read ", "b0", "b4", "freed"},
    {"", "write ", "b0 seed=1", "b9 seed=1", "b9"},
    {"buffer b8 16", "write b8 at=", "14 hex=0011", "15 hex=0011", "16 bytes"},
    {"free b4", "free ", "b0", "b4", "freed"},
    {"", "destroy ", "g0", "g9", "g9"},
    {"", "destroy ", "e0", "e9", "e9"},
    {"", "destroy ", "s1", "s0", "null stream"},
    {"", "destroy ", "s1", "s9", "s9"},
    {"", "destroy ", "v0", "v9", "v9"},
    {"", "record ", "v0 s1", "v9 s1", "v9"},
    {"", "record v0 ", "s1", "s9", "s9"},
    {"", "wait s1 ", "v0", "v9", "v9"},
    {"", "wait ", "s1 v0", "s9 v0", "s9"},
    {"", "sync ", "s1", "s9", "s9"},
    {"destroy v0", "sync ", "s1", "v0", "v0"},
};

constexpr Precondition kGraphs[] = {
    {"", "clone ", "g9 g0", "g1 g0", "declared already"},
    {"destroy g1", "clone g9 ", "g0", "g1", "destroyed"},
    {"clone g9 g0", "set ", "g9.n3 memset dst=b4 value=2 width=1", "g9.n8 memset dst=b4 value=2 width=1", "n8"},
    {"clone g9 g0", "find g9 ", "g0.n0", "g0.n8", "n8"},
    {"clone g9 g0", "find ", "g9 g0.n0", "g8 g0.n0", "g8"},
    {"clone g9 g0\nset g0.n5 host tag=2", "find g9 ", "g1.n0", "g0.n0", "recorded it again"},
    {"empty g0.n9 fan=2\nclone g9 g0", "find g9 ", "g0.n0", "g0.n9", "fan"},
    {"", "edge ", "g0.n1 after=n0", "g0.n9 after=n0", "n9"},
    {"", "edge g0.n1 after=", "n0", "n9", "n9"},
    {"", "edge g0.n1 after=", "n0", "n1", "itself"},
    {"", "edge g0.n1 after=", "n0,n2", "n0,n0", "twice"},
    {"edge g0.n1 after=n0", "", "unedge g0.n1 after=n0", "edge g0.n1 after=n0", "already"},
    {"edge g0.n1 after=n0", "unedge ", "g0.n1 after=n0", "g0.n2 after=n0", "does not depend"},
    {"edge g0.n0 after=n1", "edge ", "g0.n2 after=n1", "g0.n1 after=n0", "circle"},
    {"edge g0.n0 after=n1", "edge ", "g0.n1 after=n0 cycle", "g0.n2 after=n1 cycle", "no circle"},
    {"", "remove ", "g0.n0", "g0.n9", "n9"},
    {"remove g0.n0", "empty ", "g0.n9", "g0.n0", "exists already"},
    {"remove g0.n0", "set ", "e0.n1 memcpy dst=b4 src=b1 bytes=4 kind=d2d", "e0.n0 kernel inplace_u32 data=b4 n=1 k=2",
     "removed"},
    {"remove g0.n0", "disable ", "e0.n1", "e0.n0", "removed"},
    {"", "disable ", "e0.n1", "e0.n9", "n9"},
    {"", "disable ", "e0.n1", "e9.n1", "e9"},
    {"", "disable ", "e0.n1", "e0.n5", "only kernel"},
    {"", "enable ", "e0.n3", "e0.n6", "only kernel"},
    {"", "enable ", "e0.n3", "e0.n7", "only kernel"},
    {"destroy g0", "", "upload e0 s0", "disable e0.n1", "g0"},
    {"", "upload ", "e0 s1", "e9 s1", "e9"},
    {"", "upload e0 ", "s1", "s9", "s9"},
    {"", "inspect ", "g0", "g9", "g9"},
    {"", "inspect ", "e0", "e9", "e9"},
    {"destroy g0", "inspect ", "g1", "e0", "g0"},
    {"userobject u0", "userobject ", "u1", "u0", "declared already"},
    {"userobject u0", "retain ", "u0 g0", "u1 g0", "u1"},
    {"userobject u0", "retain u0 ", "g0", "g9", "g9"},
    {"userobject u0\nretain u0 g0 move", "", "release u0 g0", "retain u0 g1", "no reference"},
    {"userobject u0\nretain u0 g0 move", "release ", "u0 g0", "u0", "no reference"},
    {"userobject u0\nretain u0 g0", "release u0 ", "g0", "g1", "no reference"},
    {"userobject u0\nretain u0 g1", "patch ", "g0", "g1", "user objects"},
    {"userobject u0\nretain u0 g1", "child g0.n9 ", "g0", "g1", "user objects"},
    {"userobject u0\nretain u0 g0\ninstantiate e1 g0", "", "launch e1 s0", "update e1 g0", "user objects"},
    {"userobject u0\nretain u0 g0", "", "update e0 g1", "set g0.n5 host tag=2", "user objects"},
    {"", "dot ", "g1", "g0", "child graphs"},
    {"", "instantiate e9 g0 ", "form=flags flags=auto_free", "flags=auto_free", "plain form"},
    {"", "instantiate e9 g0 form=", "params flags=upload", "flags flags=upload", "form=params"},
    {"empty g1.n1 after=n0\nedge g1.n0 after=n1 cycle", "", "unedge g1.n0 after=n1", "child g0.n9 g1", "circle"},
    {"empty g1.n1 after=n0\nedge g1.n0 after=n1 cycle", "", "unedge g1.n0 after=n1", "update e0 g1", "circle"},
    {"empty g1.n1 after=n0\nedge g1.n0 after=n1 cycle\ninstantiate e1 g1", "launch ", "e0 s0", "e1 s0", "e1"},
};

std::string behind_setup(const Precondition& rule, std::string_view end) {
  return std::string(kSetup).append(rule.before).append("\n").append(rule.stem).append(end).append("\n");
}

void check_all(std::span<const Precondition> table) {
  for (const Precondition& rule : table) {
    SCOPED_TRACE(testing::Message() << rule.before << "\n" << rule.stem << "[" << rule.good << "|" << rule.bad << "]");
    EXPECT_EQ(flaw(program_of(behind_setup(rule, rule.good))), "");
    const Program bad = program_of(behind_setup(rule, rule.bad));
    const std::optional<Invalid> invalid = validate(bad);
    ASSERT_TRUE(invalid);
    EXPECT_EQ(invalid->step, bad.steps.size() - 1) << invalid->reason;
    EXPECT_EQ(invalid->line, bad.steps.back().line);
    EXPECT_NE(invalid->reason.find(rule.mentions), std::string::npos) << invalid->reason;
  }
}

TEST(State, WhatIsDeclaredIsNewAndWhatIsNamedExists) {
  check_all(kDeclarations);
}
TEST(State, AKernelTouchesLiveBytesInBoundsThroughAlignedPointers) {
  check_all(kKernels);
}
TEST(State, ACopyStaysInItsBuffersAndGoesTheWayItSays) {
  check_all(kCopies);
}
TEST(State, TheOtherNodesKeepTheirBounds) {
  check_all(kOtherNodes);
}
TEST(State, AnExecutableGraphIsUsedWhileItsBuffersAreWhereItHasThem) {
  check_all(kExecs);
}
TEST(State, AnExecSetterKeepsTypeDirectionAndShapeAndAGraphsOwnSetterTheType) {
  check_all(kSetters);
}
TEST(State, AnExecutableGraphIsUpdatedAndPatchedWhenItsGraphIsGone) {
  for (const char* command : {"update e0 g9", "update e0 g8", "patch e0", "move b0\npatch e0", "launch e0 s0"}) {
    EXPECT_EQ(flaw(program_of(std::string(kSetup) + "clone g9 g0\nclone g8 g1\ndestroy g0\n" + command)), "")
        << command;
  }
}
TEST(State, GraphsAreChangedWhereTheyHaveWhatIsNamed) {
  check_all(kGraphs);
}
TEST(State, MemoryStreamsAndEventsAreUsedWhileTheyLive) {
  check_all(kMemory);
}

TEST(State, AFailureIsOfACallOfHip) {
  State state;
  EXPECT_FALSE(state.check(Fail{1, "hipGraphLaunch"}));
  EXPECT_TRUE(state.check(Fail{0, "hipGraphLaunch"}));
  EXPECT_TRUE(state.check(Fail{1, "graphLaunch"}));
  EXPECT_FALSE(state.check(FailBelow{1, Below::kQueue}));
  EXPECT_TRUE(state.check(FailBelow{0, Below::kQueue}));
}

TEST(State, ABufferHasASizeWithinBounds) {
  State state;
  EXPECT_FALSE(state.check(DeclareBuffer{0, kMaxBufferBytes, MemoryKind::kDevice}));
  EXPECT_TRUE(state.check(DeclareBuffer{0, kMaxBufferBytes + 1, MemoryKind::kDevice}));
  EXPECT_TRUE(state.check(DeclareBuffer{0, 0, MemoryKind::kDevice}));
}

TEST(State, GraphsThatHoldEachOtherTwiceStayWithinTheBoundOnNodes) {
  std::string text = "graph g0\nempty g0.n0\n";
  for (int i = 1; i < 40; ++i) {
    const std::string graph = "g" + std::to_string(i), child = "g" + std::to_string(i - 1);
    text += "graph " + graph + "\nchild " + graph + ".n0 " + child + "\nchild " + graph + ".n1 " + child + "\n";
  }
  const Program program = program_of(text);
  const std::optional<Invalid> invalid = validate(program);
  ASSERT_TRUE(invalid);
  EXPECT_NE(invalid->reason.find("65536"), std::string::npos) << invalid->reason;
  EXPECT_EQ(flaw(drop_invalid(program)), "");
}

TEST(State, APatchBringsAGraphToWhereItsBuffersAre) {
  State state = state_after(program_of(std::string(kSetup) + "move b0"));
  EXPECT_EQ(state.stale_buffers(state.exec(0)->graph), std::vector<Id>{0});
  EXPECT_EQ(state.stale_buffers(*state.graph(0)), std::vector<Id>{0});
  state.apply(Patch{Target::kExec, 0});
  EXPECT_TRUE(state.current(state.exec(0)->graph));
  EXPECT_FALSE(state.current(*state.graph(0)));
}

TEST(State, ARemovedNodeTakesItsEdgesAndItsBuffersWithIt) {
  State state = state_after(
      program_of("buffer b0 64\nbuffer b1 64\ngraph g0\nmemset g0.n0 dst=b0 value=1 width=4\nempty g0.n1 after=n0\n"
                 "memset g0.n2 dst=b1 value=1 width=4 after=n0,n1\ninstantiate e0 g0\nremove g0.n0"));
  const GraphState& graph = *state.graph(0);
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_TRUE(graph.find(1)->after.empty());
  EXPECT_EQ(graph.find(2)->after, std::vector<std::uint32_t>{0});
  EXPECT_EQ(graph.instances, 2u);
  EXPECT_FALSE(graph.addresses.contains(0));
  EXPECT_TRUE(graph.addresses.contains(1));
  EXPECT_EQ(state.exec(0)->graph.nodes.size(), 3u);
  EXPECT_TRUE(state.exec(0)->gone.contains(0));
}

TEST(State, WhereARefusalIsAnObservation) {
  State state = state_after(
      program_of("graph g0\nempty g0.n0\nempty g0.n1 after=n0\nclone g1 g0\nedge g0.n0 after=n1 cycle\ngraph g2\n"));
  EXPECT_TRUE(state.may_be_refused(Instantiate{0, 0}));
  EXPECT_FALSE(state.may_be_refused(Instantiate{0, 1}));
  EXPECT_TRUE(state.may_be_refused(FindInClone{2, 0, 0}));
  EXPECT_FALSE(state.may_be_refused(Inspect{Target::kGraph, 0}));
  state.apply(Instantiate{0, 0});
  EXPECT_FALSE(state.exec(0)->alive);
}

TEST(State, AnUpdateThatIsRefusedChangesNothing) {
  const Program program = program_of(
      "buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0 value=1 width=4\ngraph g1\nempty g1.n0\nempty g1.n1\n"
      "instantiate e0 g0\nupdate e0 g1");
  EXPECT_EQ(flaw(program), "");
  const State state = state_after(program);
  EXPECT_EQ(update_outcome(state.exec(0)->graph, *state.graph(1)), UpdateOutcome::kTopologyChanged);
  EXPECT_EQ(state.exec(0)->graph.nodes.size(), 1u);
}

TEST(State, AnUpdateToOtherNodeTypesIsRefused) {
  State state = state_after(program_of(
      "buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0 value=1 width=4\ngraph g1\nempty g1.n0\ninstantiate e0 g0"));
  EXPECT_EQ(update_outcome(state.exec(0)->graph, *state.graph(1)), UpdateOutcome::kNodeTypeChanged);
  EXPECT_EQ(update_outcome(state.exec(0)->graph, *state.graph(0)), UpdateOutcome::kSuccess);
}

// Everything that a state lets itself be asked, in words.
std::string described(const State& state) {
  std::string text;
  const auto number = [&text](std::uint64_t value) { text += std::to_string(value) + " "; };
  const auto graph = [&](const GraphState& g) {
    number(g.alive);
    number(g.depth);
    number(g.instances);
    for (const auto& [buffer, version] : g.addresses) number(buffer), number(version);
    for (const NodeState& node : g.nodes) {
      AddNode command{0, node.id, node.params, {}, node.fan};
      for (const std::uint32_t index : node.after) command.after.push_back(index);
      text += print_command(command) + ";";
      for (const ByteRange& r : node.ranges) {
        number(r.buffer);
        number(static_cast<std::uint64_t>(r.lo));
        number(static_cast<std::uint64_t>(r.hi));
        number(r.write);
      }
    }
  };
  for (const auto& [id, b] : state.buffers()) {
    for (const std::uint64_t value :
         {std::uint64_t{id}, b.bytes, b.capacity, std::uint64_t{b.version}, std::uint64_t{b.alive}})
      number(value);
  }
  for (const auto& [id, g] : state.graphs()) number(id), graph(g);
  for (const auto& [id, e] : state.execs()) {
    for (const std::uint64_t value : {std::uint64_t{id}, std::uint64_t{e.alive}, std::uint64_t{e.origin}})
      number(value);
    graph(e.graph);
    for (const Id stream : state.live_streams()) number(e.alive && state.launch_races(id, stream));
  }
  for (const Id id : state.live_streams()) number(id);
  for (const Id id : state.live_events()) number(id);
  return text;
}

RC_GTEST_PROP(State, AskingWhetherACommandMayStandChangesNothing, ()) {
  const Program program = *arbitrary_program({});
  const Program other = *arbitrary_program({});
  State state;
  for (const Step& step : program.steps) {
    const std::string before = described(state);
    for (const Step& asked : other.steps) {
      // Commands of another program: most may not stand here.
      RC_ASSERT(state.check(asked.command) == state.check(asked.command));
    }
    RC_ASSERT(described(state) == before);
    if (!state.check(step.command)) state.apply(step.command);
  }
}

// Commands of two programs, dealt into one another: mostly nonsense.
Program shuffled() {
  Program program = *arbitrary_program({});
  const Program other = *arbitrary_program({});
  for (const Step& step : other.steps) {
    const std::size_t at = *rc::gen::inRange<std::size_t>(0, program.steps.size() + 1);
    program.steps.insert(program.steps.begin() + static_cast<std::ptrdiff_t>(at), step);
    program.steps[at].repeat = *rc::gen::element<std::uint32_t>(1, 1, 1, 2, 3);
  }
  return program;
}

RC_GTEST_PROP(State, DroppingWhatMayNotStandGivesAValidProgram, ()) {
  const Program program = shuffled();
  const Program valid = drop_invalid(program);
  RC_ASSERT(flaw(valid) == "");
  RC_ASSERT(valid.steps.size() <= program.steps.size());
  RC_ASSERT(drop_invalid(valid) == valid);
}

RC_GTEST_PROP(State, DroppingFromAValidProgramDropsNothing, ()) {
  const Program program = *arbitrary_program({});
  RC_ASSERT(drop_invalid(program) == program);
}

RC_GTEST_PROP(State, TheFlawIsAtTheFirstCommandThatMayNotStand, ()) {
  const Program program = without_blocks(shuffled());  // half a round may not stand
  const std::optional<Invalid> invalid = validate(program);
  if (!invalid) return;
  Program until = program;
  until.steps.resize(invalid->step);
  RC_ASSERT(flaw(until) == "");
  until.steps.push_back(program.steps[invalid->step]);
  RC_ASSERT(flaw(until) != "");
}

TEST(State, ACommandThatMayStandOnceIsDroppedWhenItIsRepeated) {
  for (const char* command :
       {"buffer b1 64", "graph g1", "empty g0.n0", "instantiate e0 g0", "free b0", "destroy g0"}) {
    const std::string setup = "buffer b0 64\ngraph g0\n";
    EXPECT_EQ(flaw(program_of(setup + command)), "") << command;
    const Program repeated = program_of(setup + "repeat 2 " + command);
    EXPECT_NE(flaw(repeated), "") << command;
    EXPECT_EQ(drop_invalid(repeated).steps.size(), 2u) << command;
  }
}

}  // namespace
}  // namespace verify
