// An exported program has numbers where it had frozen addresses, whichever command gives them to a kernel.
#include "verify/export/freeze.h"

#include <gtest/gtest.h>

#include <string>

#include "../programs.h"

namespace {

verify::Program parsed(const std::string& commands) {
  return verify::program_of("placement native\nbuffer b0 64\ngraph g0\n" + commands);
}

// The text of `commands`, with `value` as the kernel's argument.
std::string text_with(const std::string& command, const std::string& value) {
  return command + " count_only n=1 a=" + value + " b=3\n";
}

TEST(FreezeAddresses, AFrozenAddressOfAnyCommandBecomesANumberThatIsItsBuffersAndOffsets) {
  for (const char* command :
       {"kernel g0.n0", "on s0 kernel", "kernel g0.n0 count_only n=1 a=2 b=3\ninstantiate e0 g0\nset e0.n0 kernel"}) {
    verify::Program frozen = parsed(text_with(command, "addr(b0+8)"));
    const std::uint64_t bits = frozen.steps.empty() ? 0 : 0x700000000008;
    EXPECT_TRUE(verify::freeze_addresses(frozen)) << command;
    EXPECT_EQ(verify::print_program(frozen), verify::print_program(parsed(text_with(command, std::to_string(bits)))));
  }
}

TEST(FreezeAddresses, AProgramWithoutFrozenAddressesStaysAsItIs) {
  verify::Program program = parsed(text_with("on s0 kernel", "7"));
  const verify::Program before = program;
  EXPECT_FALSE(verify::freeze_addresses(program));
  EXPECT_EQ(program, before);
}

}  // namespace
