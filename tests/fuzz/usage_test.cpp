// Mistakes on the command line: messages and exit statuses.
#include <gmock/gmock.h>

#include "command_line.h"

namespace {

using testing::HasSubstr;

using Usage = InAFolder;

struct Bad {
  std::vector<std::string> arguments;
  std::string message;
};

TEST_F(Usage, EveryMistakeIsAClearMessageAndStatusTwo) {
  const std::string truncated =
      write_file(folder / "truncated.program", "hgcheck-program 1\nbuffer b0 64\nkernel g0.n0");
  const std::string invalid = write_file(folder / "invalid.program", "hgcheck-program 1\nlaunch e0 s0\n");
  const std::string binary = write_file(folder / "binary.program", std::string("\x7f"
                                                                               "ELF\0\1\2",
                                                                               7));
  const std::string file = write_file(folder / "file", "not a folder");
  const std::vector<Bad> all = {
      {{"frobnicate"}, "there is no command 'frobnicate'"},
      {{"campaign", "--nonsense"}, "--nonsense"},
      {{"campaign", "--programs", "many"}, "--programs"},
      {{"campaign", "--programs", "5", "--seconds", "5"}, "excludes"},
      {{"campaign", "--quiet", "--verbose"}, "excludes"},
      {{"campaign", "--jobs", "0"}, "--jobs"},
      {{"campaign", "--shard", "5/3"}, "1/4"},
      {{"campaign", "--shard", "half"}, "1/4"},
      {{"campaign", "--subject", "nothing:patch"}, "hgcheck subjects"},
      {{"campaign", "--subject", "model:guess"},
       "patch, rebuild, update, stabilise, remap, careful, command-buffer and lib=PATH"},
      {{"campaign", "--subject", "lib=/nonexistent/libamdhip64.so"}, "cannot load the HIP runtime"},
      {{"campaign", "--baseline", "nothing"}, "--baseline"},
      {{"campaign", "--baseline", "model:remap"}, "a baseline has its subject's addresses"},
      {{"campaign", "--environment", "A"}, "expected a variable like"},
      {{"campaign", "--environment", "A=1", "--environment", "A=2"}, "A has two values"},
      {{"campaign", "--environment", "A=1"}, "'model:patch' runs in this process"},
      {{"campaign", "--draw-environment"}, "a subject with a process of its own"},
      {{"campaign", "--fault", "F99"}, "hgcheck faults"},
      {{"campaign", "--fault", "F01", "--subject", "model:update"}, "needs the strategy patch"},
      {{"campaign", "--property", "Q7"}, "hgcheck properties"},
      {{"campaign", "--report", file}, "cannot be used as a folder"},
      {{"campaign", "--report", "/proc/hgcheck"}, "name another one"},
      {{"campaign", "--json", "/nonexistent/result.json"}, "name another file"},
      {{"campaign", "--accept", "/nonexistent/causes"}, "--accept"},
      {{"replay", "/nonexistent.program"}, "cannot be read"},
      {{"replay", truncated}, "truncated.program:3:13"},
      {{"replay", invalid}, "invalid.program:2: 'launch e0 s0' may not stand here"},
      {{"replay", binary}, "binary.program:1:1"},
      {{"replay"}, "file is required"},
      {{"shrink", truncated}, "truncated.program:3:13"},
      {{"check", invalid}, "e0 was never instantiated"},
      {{"properties", "--json", "/nonexistent/list.json"}, "name another file"},
  };
  for (const Bad& bad : all) {
    const Outcome outcome = hgcheck(bad.arguments);
    EXPECT_EQ(outcome.status, 2) << testing::PrintToString(bad.arguments) << "\n" << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(bad.message)) << testing::PrintToString(bad.arguments);
  }
}

TEST_F(Usage, HelpVersionAndListsSucceed) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"--help"},
                                                    {"--version"},
                                                    {"campaign", "--help"},
                                                    {"subjects"},
                                                    {"faults"},
                                                    {"properties"}}) {
    const Outcome outcome = hgcheck(arguments);
    EXPECT_EQ(outcome.status, 0) << testing::PrintToString(arguments) << outcome.output;
    EXPECT_FALSE(outcome.output.empty());
  }
}

}  // namespace
