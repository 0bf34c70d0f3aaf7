// The promises of kernels.inc, checked on the host: each byte of each argument shows in the output, padding never does.
// Not verified here: that the device computes the same (that takes a machine that runs the code object).
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hip/kernels/host_kernels.h"

// The same source with real pointers and any number of work items, as the device has it.
namespace native {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
template <class T>
using Ptr = T*;

u64 current_item = 0;
u64 items = 1;
inline u64 first_item() {
  return current_item;
}
inline u64 stride() {
  return items;
}
constexpr bool running() {
  return true;
}

#define HG_KERNEL(name) inline void name
#define HG_INLINE inline
#include "hip/kernels/kernels.inc"

// Calls a kernel with the arguments of a packed block.
template <class... A>
void call(void (*kernel)(A...), const std::vector<std::byte>& block) {
  std::tuple<A...> values;
  std::size_t end = 0;
  const auto take = [&](auto& value) {
    constexpr std::size_t kAlign = alignof(std::remove_reference_t<decltype(value)>);
    const std::size_t offset = (end + kAlign - 1) / kAlign * kAlign;
    std::memcpy(&value, block.data() + offset, sizeof(value));
    end = offset + sizeof(value);
  };
  std::apply([&](auto&... value) { (take(value), ...); }, values);
  std::apply(kernel, values);
}

void call_named(std::string_view name, const std::vector<std::byte>& block) {
#define HG_CALL(kernel) \
  if (name == #kernel) call(&kernel, block);
  HG_KERNELS(HG_CALL)
}

}  // namespace native

namespace {

using hg::HostKernel;

std::vector<std::vector<std::byte>> random_regions(std::size_t count, std::size_t bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<std::byte>> regions(count, std::vector<std::byte>(bytes));
  for (std::vector<std::byte>& region : regions) {
    for (std::byte& byte : region) byte = static_cast<std::byte>(random());
  }
  return regions;
}

// Memory with one region for each pointer of a kernel and holes between the regions. Keeps the accessed addresses.
class Regions : public hg::HostMemory {
 public:
  static constexpr std::uint64_t kBase = 0x7f0012340000;
  static constexpr std::uint64_t kStep = 0x10000;  // from region to region
  static constexpr std::size_t kBytes = 1024;      // of each region
  static constexpr std::size_t kGuard = 8;         // flipping a low bit of an address stays inside

  Regions(std::size_t count, std::uint64_t seed) : regions_(random_regions(count, kBytes, seed)) {}

  static std::uint64_t address(std::size_t region) { return kBase + region * kStep + kGuard; }

  std::byte* access(std::uint64_t address, std::size_t size, bool write) override {
    ++asked;
    const std::uint64_t region = (address - kBase) / kStep;
    const std::uint64_t offset = (address - kBase) % kStep;
    if (address < kBase || region >= regions_.size() || offset + size > kBytes) {
      fault = true;
      return nullptr;
    }
    (write ? written : read).insert({address, size});
    return regions_[region].data() + offset;
  }

  std::byte& at(std::uint64_t address) { return regions_.at((address - kBase) / kStep).at((address - kBase) % kStep); }
  [[nodiscard]] std::vector<std::byte> bytes(std::uint64_t address, std::size_t size) const {
    const std::vector<std::byte>& region = regions_.at((address - kBase) / kStep);
    const std::uint64_t from = (address - kBase) % kStep;
    if (from + size > region.size()) throw std::out_of_range("bytes past the end of a region");
    return {region.data() + from, region.data() + from + size};
  }

  std::set<std::pair<std::uint64_t, std::size_t>> read;
  std::set<std::pair<std::uint64_t, std::size_t>> written;
  bool fault = false;
  int asked = 0;

 private:
  std::vector<std::vector<std::byte>> regions_;
};

struct Field {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

// The scalars of a kernel's block: arguments, and the fields of the structs that are passed by value, written out here
// so that the layout is stated a second time, independent of the compiler's.
std::vector<Field> scalars_of(const HostKernel& kernel) {
  if (kernel.name == "gather_struct") return {{16, 4}, {20, 1}, {24, 8}, {32, 2}};
  if (kernel.name == "nested_struct") return {{0, 2}, {16, 4}, {24, 1}, {40, 4}};
  if (kernel.name == "packed_struct") return {{0, 1}, {9, 2}, {19, 4}, {23, 8}, {32, 4}};
  std::vector<Field> fields;
  for (const hg::HostArgument& argument : kernel.arguments) {
    if (!argument.pointer) fields.push_back({argument.offset, argument.size});
  }
  return fields;
}

// Where the count of elements is; every kernel but reduce_range, gemm_u32 and no_arguments has one.
Field count_of(const HostKernel& kernel) {
  static const std::map<std::string_view, Field> kCounts{
      {"axpy_u64", {16, 4}},     {"mix_small", {36, 4}}, {"scale_u8", {16, 2}},      {"gather_struct", {16, 4}},
      {"slices_u32", {32, 4}},   {"many_args", {8, 4}},  {"count_only", {0, 4}},     {"two_outputs", {24, 4}},
      {"inplace_u32", {8, 4}},   {"pack_u16", {0, 2}},   {"nested_struct", {40, 4}}, {"sgd_u32", {16, 4}},
      {"packed_struct", {19, 4}}};
  return kCounts.at(kernel.name);
}

void put(std::vector<std::byte>& block, Field field, std::uint64_t value) {
  std::memcpy(block.data() + field.offset, &value, field.size);
}

constexpr std::uint64_t kElements = 7;

// A block of random scalars and padding, with pointers to the regions in turn and a count of kElements.
std::vector<std::byte> block_of(const HostKernel& kernel, std::uint64_t seed) {
  std::mt19937_64 random(seed ^ 0xabcdef);
  std::vector<std::byte> block(kernel.argument_bytes);
  for (std::byte& byte : block) byte = static_cast<std::byte>(random());
  for (std::size_t i = 0; i < kernel.pointers.size(); ++i) put(block, {kernel.pointers[i], 8}, Regions::address(i));
  if (kernel.name == "reduce_range") {
    put(block, {16, 8}, Regions::address(1) + kElements * 4);
  } else if (kernel.name == "gemm_u32") {
    const std::uint32_t sizes[] = {3, 2, 4, 4, 1, 2, 1};  // m n k, a by rows, b by rows
    std::memcpy(block.data() + 24, sizes, sizeof(sizes));
  } else if (kernel.argument_bytes != 0) {
    put(block, count_of(kernel), kElements);
  }
  return block;
}

void flip(std::vector<std::byte>& block, std::size_t bit) {
  block[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
}

bool is_any_of(const HostKernel& kernel, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), kernel.name) != names.end();
}

const HostKernel& kernel_named(std::string_view name) {
  for (const HostKernel& kernel : hg::host_kernels()) {
    if (kernel.name == name) return kernel;
  }
  throw std::out_of_range(std::string(name));
}

const HostKernel& any_kernel_but(std::initializer_list<std::string_view> names) {
  const std::span<const HostKernel> all = hg::host_kernels();
  std::vector<const HostKernel*> left;
  for (const HostKernel& kernel : all) {
    if (!is_any_of(kernel, names)) left.push_back(&kernel);
  }
  return *left[*rc::gen::inRange<std::size_t>(0, left.size()).as("kernel")];
}

// Random memory in which the kernel has run.
Regions memory_after(const HostKernel& kernel, const std::vector<std::byte>& block, std::uint64_t seed) {
  Regions memory(kernel.pointers.size(), seed);
  kernel.run(block, memory);
  return memory;
}

TEST(HostKernels, EveryNameIsListedOnce) {
  std::set<std::string_view> names;
  for (const HostKernel& kernel : hg::host_kernels()) EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
  EXPECT_EQ(names.size(), 16u);
}

TEST(HostKernels, ManyArgsHasExactlyAHundredArguments) {
  const HostKernel& kernel = kernel_named("many_args");
  EXPECT_EQ(kernel.arguments.size(), 100u);
  EXPECT_EQ(kernel.pointers.size(), 50u);
}

TEST(HostKernels, EveryPointerIsReachedAndNothingElse) {
  for (const HostKernel& kernel : hg::host_kernels()) {
    const Regions memory = memory_after(kernel, block_of(kernel, 1), 1);
    EXPECT_FALSE(memory.fault) << kernel.name;
    std::set<std::uint64_t> touched;
    for (const auto& [address, size] : memory.read) touched.insert((address - Regions::kBase) / Regions::kStep);
    for (const auto& [address, size] : memory.written) touched.insert((address - Regions::kBase) / Regions::kStep);
    // The `end` of reduce_range is compared, never read.
    EXPECT_EQ(touched.size() + (kernel.name == "reduce_range" ? 1 : 0), kernel.pointers.size()) << kernel.name;
  }
}

TEST(HostKernels, CountOnlyTouchesNothing) {
  Regions memory(1, 1);
  kernel_named("count_only").run(block_of(kernel_named("count_only"), 1), memory);
  EXPECT_EQ(memory.asked, 0);
}

// The addresses that both runs wrote, of which at least one has to be there for a comparison to mean anything.
std::vector<std::pair<std::uint64_t, std::size_t>> written_by_both(const Regions& a, const Regions& b) {
  std::vector<std::pair<std::uint64_t, std::size_t>> both;
  std::set_intersection(a.written.begin(), a.written.end(), b.written.begin(), b.written.end(),
                        std::back_inserter(both));
  return both;
}

// Whether changing one byte of a scalar changes every element that is written with and without the change.
bool every_element_changes(const HostKernel& kernel, std::uint64_t seed, Field field, std::uint32_t byte,
                           std::byte mask) {
  const std::vector<std::byte> block = block_of(kernel, seed);
  std::vector<std::byte> changed = block;
  changed[byte] ^= mask;
  const Regions before = memory_after(kernel, block, seed), after = memory_after(kernel, changed, seed);
  const bool is_count = kernel.name != "reduce_range" && field.offset == count_of(kernel).offset;
  if (!is_count && before.written != after.written) return false;
  const auto both = written_by_both(before, after);
  // A count that became zero: nothing is written, which shows as well.
  if (both.empty()) return is_count && after.written.empty();
  return std::all_of(both.begin(), both.end(), [&](const auto& element) {
    return before.bytes(element.first, element.second) != after.bytes(element.first, element.second);
  });
}

TEST(HostKernels, ChangingAnyBitOfAnyScalarChangesEveryWrittenElement) {
  for (const HostKernel& kernel : hg::host_kernels()) {
    if (is_any_of(kernel, {"count_only", "no_arguments", "gemm_u32"})) continue;
    for (const Field& field : scalars_of(kernel)) {
      for (std::uint32_t bit = 0; bit < field.size * 8; ++bit) {
        const std::uint32_t byte = field.offset + bit / 8;
        EXPECT_TRUE(every_element_changes(kernel, 11, field, byte, static_cast<std::byte>(1u << (bit % 8))))
            << kernel.name << ", bit " << bit << " of the scalar at " << field.offset;
      }
    }
  }
}

RC_GTEST_PROP(HostKernels, ChangingAnyBitsOfOneByteOfAScalarChangesEveryWrittenElement, ()) {
  const HostKernel& kernel = any_kernel_but({"count_only", "no_arguments", "gemm_u32"});
  const auto seed = *rc::gen::arbitrary<std::uint64_t>().as("seed");
  const std::vector<Field> fields = scalars_of(kernel);
  const Field field = fields[*rc::gen::inRange<std::size_t>(0, fields.size()).as("field")];
  const auto byte = *rc::gen::inRange<std::uint32_t>(field.offset, field.offset + field.size).as("byte");
  const auto mask = *rc::gen::inRange(1, 256).as("mask");
  RC_ASSERT(every_element_changes(kernel, seed, field, byte, static_cast<std::byte>(mask)));
}

RC_GTEST_PROP(HostKernels, ChangingAnyBitOfAPointerChangesWhatIsTouched, ()) {
  const HostKernel& kernel = any_kernel_but({"count_only", "no_arguments"});
  const auto pointer = kernel.pointers[*rc::gen::inRange<std::size_t>(0, kernel.pointers.size()).as("pointer")];
  const auto bit = *rc::gen::inRange<std::size_t>(0, 64).as("bit");
  const std::vector<std::byte> block = block_of(kernel, 3);
  std::vector<std::byte> changed = block;
  flip(changed, pointer * 8 + bit);
  const Regions before = memory_after(kernel, block, 3), after = memory_after(kernel, changed, 3);
  RC_ASSERT(before.read != after.read || before.written != after.written);
}

RC_GTEST_PROP(HostKernels, ChangingAnyBitOfAnInputElementChangesAnOutput, ()) {
  const HostKernel& kernel = any_kernel_but({"count_only", "no_arguments", "gemm_u32"});
  const auto seed = *rc::gen::arbitrary<std::uint64_t>().as("seed");
  const std::vector<std::byte> block = block_of(kernel, seed);
  const Regions before = memory_after(kernel, block, seed);
  const std::vector<std::pair<std::uint64_t, std::size_t>> inputs(before.read.begin(), before.read.end());
  const auto& [address, size] = inputs[*rc::gen::inRange<std::size_t>(0, inputs.size()).as("element")];
  const auto bit = *rc::gen::inRange<std::size_t>(0, size * 8).as("bit");

  Regions after(kernel.pointers.size(), seed);
  after.at(address + bit / 8) ^= static_cast<std::byte>(1u << (bit % 8));
  kernel.run(block, after);
  bool differs = false;
  for (const auto& [where, bytes] : before.written) differs |= before.bytes(where, bytes) != after.bytes(where, bytes);
  RC_ASSERT(differs);
}

RC_GTEST_PROP(HostKernels, PaddingNeverInfluencesAResult, ()) {
  const HostKernel& kernel = any_kernel_but({"count_only", "no_arguments", "gemm_u32"});
  const auto seed = *rc::gen::arbitrary<std::uint64_t>().as("seed");
  const std::vector<std::byte> block = block_of(kernel, seed);
  std::vector<bool> meaningful(block.size(), false);
  for (const Field& field : scalars_of(kernel)) std::fill_n(meaningful.begin() + field.offset, field.size, true);
  for (const std::uint32_t pointer : kernel.pointers) std::fill_n(meaningful.begin() + pointer, 8, true);
  std::vector<std::byte> changed = block;
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (!meaningful[i]) changed[i] = ~changed[i];
  }
  const Regions before = memory_after(kernel, block, seed), after = memory_after(kernel, changed, seed);
  RC_ASSERT(before.written == after.written);
  for (const auto& [address, size] : before.written) {
    RC_ASSERT(before.bytes(address, size) == after.bytes(address, size));
  }
}

// A block whose pointers are to regions at whatever addresses this process has.
std::vector<std::byte> block_at(const HostKernel& kernel, std::vector<std::vector<std::byte>>& regions,
                                std::uint64_t seed) {
  std::vector<std::byte> block = block_of(kernel, seed);
  const auto address = [&](std::size_t region) { return reinterpret_cast<std::uint64_t>(regions[region].data()); };
  for (std::size_t i = 0; i < regions.size(); ++i) put(block, {kernel.pointers[i], 8}, address(i));
  if (kernel.name == "reduce_range") put(block, {16, 8}, address(1) + kElements * 4);
  return block;
}

RC_GTEST_PROP(HostKernels, AnyNumberOfWorkItemsComputesWhatTheHostComputes, ()) {
  const HostKernel& kernel = any_kernel_but({"count_only", "no_arguments"});
  const auto seed = *rc::gen::arbitrary<std::uint64_t>().as("seed");
  native::items = *rc::gen::inRange<std::uint64_t>(1, 20).as("work items");
  std::vector<std::vector<std::byte>> device = random_regions(kernel.pointers.size(), 256, seed);
  std::vector<std::vector<std::byte>> host = device;
  const std::vector<std::byte> block = block_at(kernel, device, seed);
  for (native::current_item = 0; native::current_item < native::items; ++native::current_item) {
    native::call_named(kernel.name, block);
  }
  const std::vector<std::vector<std::byte>> before = host;
  hg::ThisProcess memory;
  kernel.run(block_at(kernel, host, seed), memory);
  RC_ASSERT(host != before);
  RC_ASSERT(device == host);
}

TEST(HostKernels, InPlaceKernelsRunTwiceAreNotRunOnce) {
  for (const std::string_view name : {"inplace_u32", "sgd_u32"}) {
    const HostKernel& kernel = kernel_named(name);
    const std::vector<std::byte> block = block_of(kernel, 5);
    const Regions once = memory_after(kernel, block, 5);
    Regions twice = once;
    kernel.run(block, twice);
    for (const auto& [address, size] : once.written) {
      EXPECT_NE(once.bytes(address, size), twice.bytes(address, size)) << name;
    }
  }
}

TEST(HostKernels, AFaultEndsAKernelWhateverItsCountSays) {
  for (const HostKernel& kernel : hg::host_kernels()) {
    if (is_any_of(kernel, {"count_only", "no_arguments"})) continue;
    std::vector<std::byte> block(kernel.argument_bytes, std::byte{0xff});
    for (const std::uint32_t pointer : kernel.pointers) put(block, {pointer, 8}, 0x1000);
    if (kernel.name == "reduce_range") put(block, {16, 8}, ~std::uint64_t{0});
    Regions memory(1, 1);
    kernel.run(block, memory);
    EXPECT_TRUE(memory.fault) << kernel.name;
    EXPECT_EQ(memory.asked, 1) << kernel.name;
  }
}

std::uint32_t element(const Regions& memory, std::size_t region, std::uint64_t index) {
  std::uint32_t value = 0;
  std::memcpy(&value, memory.bytes(Regions::address(region) + index * 4, 4).data(), 4);
  return value;
}

RC_GTEST_PROP(HostKernels, GemmIsTheSumOfProductsForAnyStrides, ()) {
  const HostKernel& kernel = kernel_named("gemm_u32");
  const auto small = rc::gen::inRange<std::uint32_t>(0, 5);
  const std::uint32_t m = *small, n = *small, k = *small;
  const std::uint32_t sa0 = *small, sa1 = *small, sb0 = *small, sb1 = *small;
  std::vector<std::byte> block = block_of(kernel, 1);
  const std::uint32_t sizes[] = {m, n, k, sa0, sa1, sb0, sb1};
  std::memcpy(block.data() + 24, sizes, sizeof(sizes));
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const Regions original(3, seed), memory = memory_after(kernel, block, seed);
  RC_ASSERT(memory.written.size() == std::size_t{m} * n);
  for (std::uint32_t i = 0; i < m; ++i) {
    for (std::uint32_t j = 0; j < n; ++j) {
      std::uint32_t sum = 0;
      for (std::uint32_t l = 0; l < k; ++l) {
        sum += element(original, 1, i * sa0 + l * sa1) * element(original, 2, l * sb0 + j * sb1);
      }
      RC_ASSERT(element(memory, 0, i * n + j) == sum);
    }
  }
}

// Memory whose first access runs a second kernel in other memory, like a host node that launches a kernel.
class Nested : public Regions {
 public:
  using Regions::Regions;
  std::byte* access(std::uint64_t address, std::size_t size, bool write) override {
    if (!std::exchange(entered_, true)) {
      const HostKernel& kernel = kernel_named("inplace_u32");
      std::vector<std::byte> block = block_of(kernel, 9);
      put(block, {0, 8}, 0x1000);
      kernel.run(block, inner);
    }
    return Regions::access(address, size, write);
  }
  Regions inner{1, 9};

 private:
  bool entered_ = false;
};

TEST(HostKernels, AKernelThatFaultsInsideOfAnotherLeavesTheOtherAlone) {
  const HostKernel& kernel = kernel_named("slices_u32");
  Nested nested(kernel.pointers.size(), 4);
  kernel.run(block_of(kernel, 4), nested);
  const Regions plain = memory_after(kernel, block_of(kernel, 4), 4);
  EXPECT_TRUE(nested.inner.fault);
  EXPECT_FALSE(nested.fault);
  ASSERT_EQ(nested.written, plain.written);
  for (const auto& [address, size] : plain.written) {
    EXPECT_EQ(nested.bytes(address, size), plain.bytes(address, size));
  }
}

}  // namespace
