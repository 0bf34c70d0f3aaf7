// The interpreter against the host functions of the same source: every kernel of the project, at every level of
// optimisation, over random arguments (padding included) and launch shapes.
//
// Both start from the same bytes at the same addresses; afterwards all bytes must be the same. Inputs and outputs never
// overlap and grids have one dimension, because with more the kernels themselves promise no one result.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "gfx942/machine.h"
#include "hip/code_object/code_object.h"
#include "hip/kernels/host_kernels.h"

namespace {

using namespace gfx942_test;
using hip::code_object::KernelMetadata;

constexpr u32 kMaxCount = 300;
constexpr std::size_t kBufferBytes = std::size_t{kMaxCount} * 8;
constexpr u32 kMaxMatrix = 9;

const std::string& code_at(int level) {
  static const std::array<std::string, 4> paths{HGCHECK_CODE_OBJECT_O0, HGCHECK_CODE_OBJECT_O1, HGCHECK_CODE_OBJECT_O2,
                                                HGCHECK_CODE_OBJECT_O3};
  return paths[static_cast<std::size_t>(level)];
}

// The host's side of the memory: copies of the machine's buffers.
class HostCopies : public hg::HostMemory {
 public:
  void add(u64 address, std::vector<std::byte> bytes) { buffers_.emplace_back(address, std::move(bytes)); }
  std::byte* access(u64 address, std::size_t size, bool /*write*/) override {
    for (auto& [base, bytes] : buffers_) {
      if (address >= base && address - base <= bytes.size() && size <= bytes.size() - (address - base)) {
        return bytes.data() + (address - base);
      }
    }
    faulted = true;
    return nullptr;
  }
  [[nodiscard]] const std::vector<std::pair<u64, std::vector<std::byte>>>& buffers() const { return buffers_; }
  bool faulted = false;

 private:
  std::vector<std::pair<u64, std::vector<std::byte>>> buffers_;
};

void put(std::vector<std::byte>& block, std::size_t offset, u64 value, std::size_t size) {
  std::memcpy(block.data() + offset, &value, size);
}

std::vector<std::byte> random_bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  u64 state = *rc::gen::arbitrary<u64>();
  for (std::byte& b : bytes) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    b = static_cast<std::byte>(state >> 56);
  }
  return bytes;
}

// Counts and strides have to stay inside of the buffers; all other bytes are whatever came up.
void bound_counts(const hg::HostKernel& kernel, const KernelMetadata& metadata, std::vector<std::byte>& block) {
  const bool matrix = kernel.name == "gemm_u32";
  for (const hip::code_object::Argument& a : metadata.arguments) {
    const bool count = a.name == "n" || a.name == "m";
    if (matrix && (count || a.name == "k" || a.name.starts_with("s"))) {
      put(block, a.offset, *rc::gen::inRange<u32>(count ? 1 : 0, kMaxMatrix), a.size);
    } else if (count && kernel.name != "count_only") {
      put(block, a.offset, *rc::gen::inRange<u32>(0, kMaxCount + 1), a.size);
    }
  }
  constexpr std::size_t kGatherCount = 16, kPackedCount = 19;  // of p.n and r.n
  if (kernel.name == "gather_struct") put(block, kGatherCount, *rc::gen::inRange<u32>(0, kMaxCount + 1), 4);
  if (kernel.name == "packed_struct") put(block, kPackedCount, *rc::gen::inRange<u32>(0, kMaxCount + 1), 4);
}

std::vector<std::byte> random_arguments(const hg::HostKernel& kernel, const KernelMetadata& metadata,
                                        TestMemory& memory, HostCopies& host) {
  std::vector<std::byte> block = random_bytes(kernel.argument_bytes);
  for (const u32 offset : kernel.pointers) {
    std::vector<std::byte> bytes = random_bytes(kBufferBytes);
    const u64 address = memory.upload("buffer", bytes);
    host.add(address, std::move(bytes));
    put(block, offset, address, 8);
  }
  bound_counts(kernel, metadata, block);
  if (kernel.name == "reduce_range") {
    const u64 begin = host.buffers()[1].first;
    put(block, kernel.pointers[2], begin + 4 * *rc::gen::inRange<u64>(0, kMaxCount), 8);
  }
  return block;
}

Shape random_shape() {
  Shape shape;
  shape.workgroup[0] = *rc::gen::inRange<u32>(1, 300);
  // Not a multiple: the last workgroup is partial, and so is the last wave of most.
  shape.grid[0] = *rc::gen::inRange<u32>(1, 1200);
  return shape;
}

class ProjectKernels : public testing::TestWithParam<std::tuple<int, std::size_t>> {};
INSTANTIATE_TEST_SUITE_P(AtEveryLevel, ProjectKernels,
                         testing::Combine(testing::Range(0, 4),
                                          testing::Range<std::size_t>(0, hg::host_kernels().size())),
                         [](const auto& at) {
                           return std::string(hg::host_kernels()[std::get<1>(at.param)].name) + "_O" +
                                  std::to_string(std::get<0>(at.param));
                         });

TEST_P(ProjectKernels, TheInterpreterWritesTheBytesThatTheHostFunctionWrites) {
  const std::string& code = code_at(std::get<0>(GetParam()));
  const hg::HostKernel& kernel = hg::host_kernels()[std::get<1>(GetParam())];
  const auto read = hip::code_object::read_kernels(file_bytes(code));
  ASSERT_TRUE(read.ok()) << read.error().message;
  const auto metadata = std::ranges::find(read.value(), kernel.name, &KernelMetadata::name);
  ASSERT_NE(metadata, read.value().end());
  Machine& machine = machine_of(code);
  const bool passed = rc::check([&] {
    TestMemory& memory = machine.memory();
    HostCopies host;
    const std::vector<std::byte> arguments = random_arguments(kernel, *metadata, memory, host);
    const Shape shape = random_shape();
    kernel.run(arguments, host);
    RC_ASSERT(!host.faulted);
    RC_ASSERT(fault_text(machine.launch(kernel.name, arguments, shape)) == "");
    for (const auto& [address, bytes] : host.buffers()) {
      RC_ASSERT(memory.bytes(address) == bytes);
      memory.free(address);
    }
  });
  EXPECT_TRUE(passed);
}

TEST(ProjectKernelsDecode, EveryInstructionOfEveryLevelIsKnown) {
  for (int n = 0; n < 4; ++n)
    EXPECT_EQ(machine_of(code_at(n)).program().unknown_instructions(), std::vector<std::string>{}) << n;
}

}  // namespace
