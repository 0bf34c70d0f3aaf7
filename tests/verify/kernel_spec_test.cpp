// The catalogue of kernels, held against the two other places that state a layout: the host functions and the metadata
// of the code object.
#include "verify/language/kernel_spec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "hip/kernels/host_kernels.h"
#ifdef HGCHECK_HAVE_DEVICE_KERNELS
#include "hip/code_object/code_object.h"
#include "hip/kernels/device_kernels.h"
#endif

namespace verify {
namespace {

const hg::HostKernel* host_kernel(const std::string& name) {
  for (const hg::HostKernel& kernel : hg::host_kernels()) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

TEST(KernelSpec, TheCatalogueHasEveryKernelOfTheHostAndNoOther) {
  EXPECT_EQ(kernel_catalogue().size(), hg::host_kernels().size());
  for (const KernelSpec& spec : kernel_catalogue()) EXPECT_NE(host_kernel(spec.name), nullptr) << spec.name;
}

TEST(KernelSpec, ArgumentsLieWhereTheHostReadsThem) {
  for (const KernelSpec& spec : kernel_catalogue()) {
    const hg::HostKernel& host = *host_kernel(spec.name);
    EXPECT_EQ(spec.argument_bytes, host.argument_bytes) << spec.name;
    ASSERT_EQ(spec.arguments.size(), host.arguments.size()) << spec.name;
    for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
      EXPECT_EQ(spec.arguments[i].offset, host.arguments[i].offset) << spec.name << " " << spec.arguments[i].name;
      EXPECT_EQ(spec.arguments[i].size, host.arguments[i].size) << spec.name << " " << spec.arguments[i].name;
    }
  }
}

TEST(KernelSpec, PointersAreWhereTheHostHasPointers) {
  for (const KernelSpec& spec : kernel_catalogue()) {
    const hg::HostKernel& host = *host_kernel(spec.name);
    std::set<std::uint32_t> offsets;
    for (const FieldSpec& field : spec.fields) {
      if (field.kind == FieldKind::kPointer) offsets.insert(field.offset);
    }
    EXPECT_EQ(offsets, std::set<std::uint32_t>(host.pointers.begin(), host.pointers.end())) << spec.name;
    EXPECT_EQ(static_cast<std::size_t>(spec.pointer_count()), offsets.size());
  }
}

TEST(KernelSpec, FieldsLieInsideOfTheirArgumentsAndDoNotOverlap) {
  for (const KernelSpec& spec : kernel_catalogue()) {
    std::vector<char> taken(spec.argument_bytes, 0);
    for (const FieldSpec& field : spec.fields) {
      const std::string owner = field.name.substr(0, field.name.find('.'));
      const auto argument = std::find_if(spec.arguments.begin(), spec.arguments.end(),
                                         [&](const ArgumentSpec& a) { return a.name == owner; });
      ASSERT_NE(argument, spec.arguments.end()) << spec.name << " " << field.name;
      EXPECT_GE(field.offset, argument->offset);
      EXPECT_LE(field.offset + field.size, argument->offset + argument->size) << spec.name << " " << field.name;
      if (argument->alignment != 1) {
        EXPECT_EQ(field.offset % field.size, 0u) << spec.name << " " << field.name;
      }
      for (std::uint32_t i = 0; i < field.size; ++i)
        EXPECT_EQ(taken[field.offset + i]++, 0) << spec.name << " " << field.name;
    }
  }
}

TEST(KernelSpec, NamesAreDistinctAndFound) {
  std::set<std::string> names;
  for (const KernelSpec& spec : kernel_catalogue()) {
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_EQ(find_kernel(spec.name), &spec);
    std::set<std::string> fields;
    for (std::size_t i = 0; i < spec.fields.size(); ++i) {
      EXPECT_TRUE(fields.insert(spec.fields[i].name).second) << spec.name << " " << spec.fields[i].name;
      EXPECT_EQ(spec.field_index(spec.fields[i].name), static_cast<int>(i));
    }
    EXPECT_EQ(spec.field_index("no such field"), -1);
  }
  EXPECT_EQ(find_kernel("no_such_kernel"), nullptr);
}

// Records the memory that a kernel touches when it runs: the catalogue bounds the accesses of the host function.
class Touched final : public hg::HostMemory {
 public:
  std::byte* access(std::uint64_t address, std::size_t size, bool write) override {
    const std::uint64_t region = address >> 20;
    const std::uint64_t offset = address & 0xfffff;
    if (offset + size > kBytes) return nullptr;
    (write ? written : read)[region] = std::max((write ? written : read)[region], offset + size);
    return bytes_.data() + region * kBytes + offset;
  }
  std::map<std::uint64_t, std::uint64_t> read, written;  // region -> one past the last byte

 private:
  static constexpr std::size_t kBytes = 4096;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(64 * kBytes);
};

TEST(KernelSpec, AKernelOfNElementsTouchesNElementsBehindEachPointerTheWayItIsSaid) {
  constexpr std::uint64_t kElements = 5;
  for (const KernelSpec& spec : kernel_catalogue()) {
    if (spec.extent != Extent::kElements) continue;
    std::vector<std::byte> arguments(spec.argument_bytes);
    const FieldSpec& count = spec.fields[static_cast<std::size_t>(spec.count_field)];
    std::memcpy(arguments.data() + count.offset, &kElements, count.size);
    for (std::size_t i = 0; i < spec.fields.size(); ++i) {
      const std::uint64_t address = std::uint64_t{i % 63 + 1} << 20;
      if (spec.fields[i].kind == FieldKind::kPointer)
        std::memcpy(arguments.data() + spec.fields[i].offset, &address, 8);
    }
    Touched memory;
    host_kernel(spec.name)->run(arguments, memory);
    for (std::size_t i = 0; i < spec.fields.size() && spec.fields.size() < 63; ++i) {
      const FieldSpec& field = spec.fields[i];
      if (field.kind != FieldKind::kPointer) continue;
      const bool reads = field.touch == Touch::kRead || field.touch == Touch::kReadWrite;
      const bool writes = field.touch == Touch::kWrite || field.touch == Touch::kReadWrite;
      EXPECT_EQ(memory.read[i + 1], reads ? kElements * field.element : 0) << spec.name << " " << field.name;
      EXPECT_EQ(memory.written[i + 1], writes ? kElements * field.element : 0) << spec.name << " " << field.name;
    }
  }
}

#ifdef HGCHECK_HAVE_DEVICE_KERNELS
TEST(KernelSpec, ArgumentsLieWhereTheCodeObjectsMetadataHasThem) {
  const auto read = hip::code_object::read_kernels(hg::device_code_object());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().size(), kernel_catalogue().size());
  for (const hip::code_object::KernelMetadata& kernel : read.value()) {
    const KernelSpec* spec = find_kernel(kernel.name);
    ASSERT_NE(spec, nullptr) << kernel.name;
    EXPECT_EQ(kernel.explicit_bytes, spec->argument_bytes) << kernel.name;
    ASSERT_GE(kernel.arguments.size(), spec->arguments.size()) << kernel.name;
    for (std::size_t i = 0; i < spec->arguments.size(); ++i) {
      const hip::code_object::Argument& argument = kernel.arguments[i];
      EXPECT_EQ(argument.name, spec->arguments[i].name) << kernel.name;
      EXPECT_EQ(argument.offset, spec->arguments[i].offset) << kernel.name << " " << argument.name;
      EXPECT_EQ(argument.size, spec->arguments[i].size) << kernel.name << " " << argument.name;
      const int field = spec->field_index(argument.name);
      const bool pointer = field >= 0 && spec->fields[static_cast<std::size_t>(field)].kind == FieldKind::kPointer;
      EXPECT_EQ(argument.kind == hip::code_object::ArgumentKind::kPointer, pointer)
          << kernel.name << " " << argument.name;
    }
  }
}
#endif

}  // namespace
}  // namespace verify
