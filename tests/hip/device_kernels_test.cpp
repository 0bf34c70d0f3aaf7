// The code object that is embedded, and the layouts of its kernels at every level of optimisation.
#include "hip/kernels/device_kernels.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

#include "hip/code_object/code_object.h"
#include "hip/file_bytes.h"
#include "hip/kernels/host_kernels.h"

namespace {

using hip::code_object::Argument;
using hip::code_object::ArgumentKind;
using hip::code_object::KernelMetadata;

class DeviceKernels : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(AtEveryLevel, DeviceKernels,
                         testing::Values(HGCHECK_CODE_OBJECT_O0, HGCHECK_CODE_OBJECT_O1, HGCHECK_CODE_OBJECT_O2,
                                         HGCHECK_CODE_OBJECT_O3),
                         [](const auto& at) { return "O" + std::to_string(at.index); });

TEST_P(DeviceKernels, TheLayoutInTheMetadataIsTheLayoutOfTheHost) {
  const auto read = hip::code_object::read_kernels(file_bytes(GetParam()));
  ASSERT_TRUE(read.ok()) << read.error().message;
  std::map<std::string_view, const KernelMetadata*> by_name;
  for (const KernelMetadata& kernel : read.value()) by_name[kernel.name] = &kernel;
  ASSERT_EQ(by_name.size(), hg::host_kernels().size());
  for (const hg::HostKernel& host : hg::host_kernels()) {
    ASSERT_TRUE(by_name.contains(host.name)) << host.name;
    const KernelMetadata& device = *by_name[host.name];
    EXPECT_EQ(device.explicit_bytes, host.argument_bytes) << host.name;
    EXPECT_GE(device.kernarg_bytes, host.argument_bytes) << host.name;
    ASSERT_GE(device.arguments.size(), host.arguments.size()) << host.name;
    for (std::size_t i = 0; i < device.arguments.size(); ++i) {
      const Argument& argument = device.arguments[i];
      ASSERT_EQ(argument.kind == ArgumentKind::kHidden, i >= host.arguments.size()) << host.name << " " << i;
      if (argument.kind == ArgumentKind::kHidden) continue;
      EXPECT_EQ(argument.offset, host.arguments[i].offset) << host.name << " " << i;
      EXPECT_EQ(argument.size, host.arguments[i].size) << host.name << " " << i;
      EXPECT_EQ(argument.kind == ArgumentKind::kPointer, host.arguments[i].pointer) << host.name << " " << i;
    }
  }
}

TEST_P(DeviceKernels, EveryExplicitArgumentHasTheNameOfItsParameter) {
  const auto read = hip::code_object::read_kernels(file_bytes(GetParam()));
  ASSERT_TRUE(read.ok()) << read.error().message;
  for (const KernelMetadata& kernel : read.value()) {
    for (const Argument& argument : kernel.arguments) {
      if (argument.kind == ArgumentKind::kHidden) continue;
      EXPECT_FALSE(argument.name.empty()) << kernel.name;
      EXPECT_EQ(argument.name.find('.'), std::string::npos) << kernel.name << " " << argument.name;
    }
    EXPECT_EQ(kernel.symbol, kernel.name + ".kd");
    EXPECT_EQ(kernel.wavefront_size, 64u) << kernel.name;
    EXPECT_EQ(kernel.group_bytes, 0u) << kernel.name;
  }
}

TEST_P(DeviceKernels, TheElfIsAsLongAsItsFile) {
  const std::vector<std::byte> bytes = file_bytes(GetParam());
  const auto size = hip::code_object::elf_size(bytes.data());
  ASSERT_TRUE(size.ok()) << size.error().message;
  EXPECT_EQ(size.value(), bytes.size());
}

TEST(DeviceCodeObject, IsTheCodeObjectCompiledAtO2) {
  const std::span<const std::byte> embedded = hg::device_code_object();
  const std::vector<std::byte> file = file_bytes(HGCHECK_CODE_OBJECT_O2);
  ASSERT_EQ(embedded.size(), file.size());
  EXPECT_TRUE(std::equal(embedded.begin(), embedded.end(), file.begin()));
}

TEST(DeviceCodeObject, LiesOnAPage) {
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(hg::device_code_object().data()) % 4096, 0u);
}

}  // namespace
