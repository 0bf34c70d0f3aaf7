// The PTX that libhip-nvidia.so hands to CUDA: its target GPUs, and the parameters of its kernels. The kernels take
// their parameters as the host's semantics and the gfx942 code object do, so that one block of arguments suits all
// three.
//
// Not here: the results of the kernels. All three forms have one source of arithmetic (hip/kernels/kernels.inc).
#include "hip/kernels/ptx_kernels.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "hip/kernels/host_kernels.h"

namespace nvidia {
namespace {

// Offset and size of each parameter.
using Layout = std::vector<std::pair<std::size_t, std::size_t>>;

// CUDA lays parameters out as declared, each at the next multiple of its alignment (CUDA driver API, cuLaunchKernel;
// PTX ISA, ".param"). A number is aligned to its size, a struct to the alignment in its declaration.
Layout layout_of(const std::string& declarations) {
  static const std::regex kParameter(R"(\.param (?:\.align (\d+) )?\.(?:u|b)(\d+) \w+(?:\[(\d+)\])?)");
  constexpr std::size_t kByte = 8;
  Layout layout;
  std::size_t end = 0;
  for (std::sregex_iterator at(declarations.begin(), declarations.end(), kParameter), none; at != none; ++at) {
    const std::smatch& part = *at;
    const std::size_t element = std::stoul(part[2]) / kByte;
    const std::size_t size = part[3].matched ? element * std::stoul(part[3]) : element;
    const std::size_t alignment = part[1].matched ? std::stoul(part[1]) : element;
    const std::size_t offset = (end + alignment - 1) / alignment * alignment;
    layout.emplace_back(offset, size);
    end = offset + size;
  }
  return layout;
}

std::map<std::string, Layout> kernels_of(const std::string& ptx) {
  static const std::regex kEntry(R"(\.visible \.entry (\w+)\(([^)]*)\))");
  std::map<std::string, Layout> kernels;
  for (std::sregex_iterator at(ptx.begin(), ptx.end(), kEntry), none; at != none; ++at) {
    kernels[(*at)[1]] = layout_of((*at)[2]);
  }
  return kernels;
}

TEST(PtxKernels, AreForEveryGpuAndDriverFromSm75On) {
  const std::string ptx = hg::ptx_kernels();
  for (const char* part : {".version 6.3\n", ".target sm_75\n", ".address_size 64\n"}) {
    EXPECT_NE(ptx.find(part), std::string::npos) << part;
  }
}

TEST(PtxKernels, AreTheHostsKernelsWithTheirParametersAtTheSamePlaces) {
  const std::map<std::string, Layout> kernels = kernels_of(hg::ptx_kernels());
  EXPECT_EQ(kernels.size(), hg::host_kernels().size());
  for (const hg::HostKernel& kernel : hg::host_kernels()) {
    Layout expected;
    for (const hg::HostArgument& argument : kernel.arguments) expected.emplace_back(argument.offset, argument.size);
    const auto found = kernels.find(std::string(kernel.name));
    ASSERT_NE(found, kernels.end()) << kernel.name;
    EXPECT_EQ(found->second, expected) << kernel.name;
  }
}

// A kernel that a linker or CUDA could take for a function of another module would not be found by its name.
TEST(PtxKernels, NeedNothingFromElsewhere) {
  const std::string ptx = hg::ptx_kernels();
  for (const char* part : {".extern", ".func", "call"}) EXPECT_EQ(ptx.find(part), std::string::npos) << part;
}

TEST(PtxKernels, HaveTheVariablesInGlobalMemory) {
  const std::string ptx = hg::ptx_kernels();
  for (const char* name : {"hg_symbol0", "hg_symbol1", "hg_symbol2", "hg_symbol3", "hg_symbol4"}) {
    EXPECT_NE(ptx.find(std::string(".visible .global .align 256 .b8 ") + name + "[1024];"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace nvidia
