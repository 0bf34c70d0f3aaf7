// Virtual memory in programs: the text of its commands, and what may stand. Runs are in virtual_memory_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "programs.h"

namespace verify {
namespace {

using ::testing::HasSubstr;

// Two memories, the first mapped at page 0 of a range; b0 is a view of that page and b1 a buffer.
constexpr std::string_view kMapped =
    "buffer b1 256\nstream s1 nonblocking\nreserve r0 4\nphysical h0 1\nphysical h1 1\nview b0 r0 0 4096\n"
    "map r0 0 h0\naccess r0 0 readwrite\n";
constexpr std::string_view kAdds = "kernel g0.n0 axpy_u64 out=b1+0 in=b0+0 n=32 a=3\n";

std::string mapped_and(std::string_view more) {
  return std::string(kMapped) + std::string(more);
}
std::string flaw_when_mapped(std::string_view more) {
  return flaw(program_of(mapped_and(more)));
}

TEST(VirtualMemoryText, EveryCommandIsPrintedAsItIsRead) {
  for (const char* line :
       {"reserve r0 4", "reserve r3 64 device=1", "unreserve r0", "physical h0 1", "physical h2 64 device=1",
        "release h0", "map r0 2 h1", "unmap r0 2", "access r0 2 readwrite", "access r0 0 none device=1",
        "access r0 63 read", "view b0 r0 1 4096", "release u0", "view b7 r2 63 1"}) {
    const Program program = program_of(line);
    EXPECT_THAT(print_program(program), HasSubstr(std::string("\n") + line + "\n"));
    EXPECT_TRUE(parsed(print_program(program)) == program) << line;
  }
}

TEST(VirtualMemoryText, AnErrorNamesThePlaceAndTheWord) {
  EXPECT_THAT(parse_error_of("reserve r0 0"), HasSubstr("one page is the least"));
  EXPECT_THAT(parse_error_of("reserve r0 65"), HasSubstr("64"));
  EXPECT_THAT(parse_error_of("map r0 0 b0"), HasSubstr("h0"));
  EXPECT_THAT(parse_error_of("access r0 0 write"), HasSubstr("the rights are none, read and readwrite"));
  EXPECT_THAT(parse_error_of("view b0 r0 0 300000"), HasSubstr("262144"));
}

TEST(VirtualMemoryRules, ANodeDoesNotWriteAddressesThatItUsesThroughAnotherView) {
  const auto copy = [](std::string_view view, int from) {
    return flaw_when_mapped("map r0 1 h1\nview b2 " + std::string(view) + "\ngraph g0\nmemcpy g0.n0 dst=b2+0 src=b0+" +
                            std::to_string(from) + " bytes=64 kind=d2d\n");
  };
  EXPECT_THAT(copy("r0 0 4096", 0), HasSubstr("also touches through another argument"));
  EXPECT_THAT(copy("r0 0 4096", 63), HasSubstr("also touches through another argument"));
  EXPECT_EQ(copy("r0 0 4096", 64), "");
  EXPECT_EQ(copy("r0 1 4096", 0), "");
}

TEST(VirtualMemoryRules, ACallThatHipRefusesDoesNotStand) {
  EXPECT_EQ(flaw_when_mapped(""), "");
  EXPECT_EQ(flaw_when_mapped("reserve r0 1\n"), "line 10: r0 is reserved already");
  EXPECT_EQ(flaw_when_mapped("map r1 0 h1\n"), "line 10: r1 is not reserved");
  EXPECT_EQ(flaw_when_mapped("map r0 1 h2\n"), "line 10: h2 was never created");
  EXPECT_EQ(flaw_when_mapped("map r0 0 h1\n"),
            "line 10: memory is mapped in these pages of r0 already: unmap it first");
  EXPECT_EQ(flaw_when_mapped("map r0 4 h1\n"), "line 10: r0 has 4 pages");
  EXPECT_EQ(flaw_when_mapped("unmap r0 1\n"), "line 10: no mapping begins at page 1 of r0");
  EXPECT_EQ(flaw_when_mapped("unreserve r0\n"), "line 10: memory is mapped at page 0 of r0: unmap it first");
  EXPECT_EQ(flaw_when_mapped("release h0\nrelease h0\n"), "line 11: h0 was released");
  EXPECT_EQ(flaw_when_mapped("retain r0 0\nrelease h0\nrelease h0\nretain r0 0\nrelease h0\nrelease h0\n"),
            "line 15: h0 was released");
  EXPECT_EQ(flaw_when_mapped("retain r0 1\n"), "line 10: no mapping begins at page 1 of r0");
  EXPECT_EQ(flaw_when_mapped("release h1\nmap r0 1 h1\n"), "line 11: h1 was released");
  EXPECT_EQ(flaw_when_mapped("unmap r0 0\nunreserve r0\nunreserve r0\n"),
            "line 12: the addresses of r0 were given back");
  EXPECT_EQ(flaw_when_mapped("physical h2 1 device=1\nmap r0 1 h2\n"),
            "line 11: r0 is reserved for memory of device 0, and h2 is device 1's");
  EXPECT_EQ(flaw_when_mapped("view b2 r0 3 4097\n"), "line 10: r0 has 4 pages");
  EXPECT_EQ(flaw_when_mapped("view b1 r0 3 64\n"), "line 10: b1 is declared already");
  EXPECT_EQ(flaw_when_mapped("free b0\n"), "line 10: b0 is a view of r0: unmap what is mapped there");
  EXPECT_EQ(flaw_when_mapped("move b0\n"), "line 10: where b0 is is the runtime's business");
}

TEST(VirtualMemoryRules, WorkFindsItsViewsMappedAndItsDeviceWithARight) {
  const std::string unmapped = "nothing is mapped at page 0 of r0, which b0 is a view of: map memory there first";
  EXPECT_EQ(flaw_when_mapped("unmap r0 0\nread b0\n"), "line 11: " + unmapped);
  EXPECT_EQ(flaw_when_mapped("unmap r0 0\nwrite b0 seed=1\n"), "line 11: " + unmapped);
  EXPECT_EQ(flaw_when_mapped("unmap r0 0\ngraph g0\n" + std::string(kAdds)), "line 12: " + unmapped);
  const std::string graph = "graph g0\n" + std::string(kAdds) + "instantiate e0 g0\n";
  EXPECT_EQ(flaw_when_mapped(graph + "unmap r0 0\nlaunch e0 s1\n"), "line 14: " + unmapped);
  EXPECT_EQ(flaw_when_mapped(graph + "unmap r0 0\npatch e0\n"), "line 14: " + unmapped);
  EXPECT_EQ(flaw_when_mapped(graph + "unmap r0 0\ninstantiate e1 g0\n"), "line 14: " + unmapped);
  EXPECT_EQ(flaw_when_mapped(graph + "unmap r0 0\ndisable e0.n0\n"), "line 14: " + unmapped);
  EXPECT_EQ(flaw_when_mapped(graph + "unmap r0 0\nmap r0 0 h1\nlaunch e0 s1\n"),
            "line 15: device 0 has no right to read page 0 of r0, which b0 is a view of: 'access r0 0 read'");
  EXPECT_EQ(flaw_when_mapped("access r0 0 read\nwrite b0 seed=1\n"),
            "line 11: device 0 has no right to write page 0 of r0, which b0 is a view of: 'access r0 0 readwrite'");
  EXPECT_EQ(flaw_when_mapped("access r0 0 read\nread b0\n"), "");
  EXPECT_EQ(flaw_when_mapped(graph + "unmap r0 0\nunreserve r0\nlaunch e0 s1\n"),
            "line 15: e0 uses b0, which was freed");
}

TEST(VirtualMemoryRules, AMappingIsChangedWhenItsWorkIsOver) {
  const std::string work = "on s1 memset dst=b0+0 value=1 width=16\n";
  const std::string busy =
      "line 11: work that nothing has waited for uses what is mapped at page 0 of r0: synchronise first";
  EXPECT_EQ(flaw_when_mapped(work + "unmap r0 0\n"), busy);
  EXPECT_EQ(flaw_when_mapped(work + "access r0 0 read\n"), busy);
  EXPECT_EQ(flaw_when_mapped(work + "map r0 1 h1\n"), "");  // elsewhere
  EXPECT_EQ(flaw_when_mapped(work + "sync s1\nunmap r0 0\n"), "");
}

TEST(VirtualMemoryRules, AnOperationDoesNotUseOneMemoryUnderTwoViews) {
  const std::string alias = "view b2 r0 2 4096\nmap r0 2 h0\naccess r0 2 readwrite\n";
  const std::string copy = "memcpy dst=b2+64 src=b0+0 bytes=64 kind=d2d\n";
  EXPECT_EQ(flaw_when_mapped(alias + "on s1 " + copy),
            "line 13: b0 and b2 are views of one memory, and one operation writes to one and uses the other");
  // A launch asks what is mapped under its graph's nodes.
  const std::string graph = "graph g0\nmemcpy g0.n0 " + copy.substr(7) + "instantiate e0 g0\n";
  EXPECT_EQ(flaw_when_mapped(alias + graph + "unmap r0 2\nmap r0 2 h1\naccess r0 2 readwrite\nlaunch e0 s1\n"), "");
  EXPECT_THAT(flaw_when_mapped(alias + graph + "launch e0 s1\n"), HasSubstr("are views of one memory"));
  const State state = state_after(program_of(mapped_and(alias)));
  EXPECT_TRUE(conflict(state.ranges_of(MemsetParams{.dst = {0, 0}, .width = 4}, 1),
                       state.ranges_of(MemsetParams{.dst = {2, 0}, .width = 4}, 1)));
}

TEST(VirtualMemoryRules, AViewThatShowsAMemoryTwiceIsReadOnly) {
  const std::string twice = "map r0 1 h0\naccess r0 1 readwrite\nview b2 r0 0 8192\n";
  const std::string reason = "b2 is a view that shows the same memory twice: it may be read only";
  EXPECT_EQ(flaw_when_mapped(twice + "read b2\n"), "");
  EXPECT_EQ(flaw_when_mapped(twice + "write b2 seed=1\n"), "line 13: " + reason);
  EXPECT_EQ(flaw_when_mapped(twice + "on s1 memcpy dst=b2+0 src=b2+4112 bytes=64 kind=d2d\n"), "line 13: " + reason);
}

TEST(VirtualMemoryRules, ARoundOfABlockGivesBackWhatItMakes) {
  EXPECT_EQ(flaw(program_of("repeat 2\nreserve r0 1\nphysical h0 1\nmap r0 0 h0\nunmap r0 0\nrelease h0\n"
                            "unreserve r0\nend\n")),
            "");
  EXPECT_THAT(flaw(program_of("repeat 2\nreserve r0 1\nend\n")), HasSubstr("does not give back r0"));
  EXPECT_THAT(flaw(program_of("repeat 2\nphysical h0 1\nend\n")), HasSubstr("does not give back h0"));
}

TEST(VirtualMemoryRules, DeviceMemoryCountsPhysicalMemoryAndNoView) {
  EXPECT_EQ(flaw(program_of("placement native\nreserve r0 17\nview b0 r0 0 65537\ndevice_memory 67108864\n")), "");
  EXPECT_THAT(flaw(program_of("placement native\nphysical h0 64\ndevice_memory 67108864\n")),
              HasSubstr("the program has more than 65536 bytes"));
}

TEST(VirtualMemoryRules, NothingOfItStandsInAThread) {
  EXPECT_THAT(flaw_when_mapped("threads\nthread 1\nmap r0 1 h1\nthread 2\nsync s1\nend\n"), HasSubstr("in a thread"));
}

}  // namespace
}  // namespace verify
