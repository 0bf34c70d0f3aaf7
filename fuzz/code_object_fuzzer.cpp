// libFuzzer target: reads any bytes as an image for hipModuleLoadData, down to the metadata of its kernels.
// Run under AddressSanitizer and UBSan. Beyond the tests it finds reads outside of libelf's copy.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "hip/code_object/code_object.h"

namespace {

// Checks the promises of every accepted kernel; a violation is a finding like a crash.
void check(const hip::code_object::KernelMetadata& kernel) {
  std::uint32_t end = 0;
  for (const hip::code_object::Argument& argument : kernel.arguments) {
    if (argument.size == 0 || argument.offset > kernel.kernarg_bytes) std::abort();
    if (argument.size > kernel.kernarg_bytes - argument.offset) std::abort();
    if (argument.kind != hip::code_object::ArgumentKind::kHidden) end = argument.offset + argument.size;
  }
  if (end != kernel.explicit_bytes || kernel.name.empty()) std::abort();
}

void check_metadata(std::span<const std::byte> elf) {
  const auto read = hip::code_object::read_kernels(elf);
  if (!read && (read.error().code == 0 || read.error().message.empty())) std::abort();
  if (!read) return;
  for (const hip::code_object::KernelMetadata& kernel : read.value()) check(kernel);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span image(reinterpret_cast<const std::byte*>(data), size);
  const auto found = hip::code_object::find_code_object(image);
  if (found && (found.value().data() < image.data() ||
                found.value().data() + found.value().size() > image.data() + image.size())) {
    std::abort();
  }
  // The metadata reader takes any bytes, not only the code objects that find_code_object() accepts.
  check_metadata(found ? found.value() : image);
  return 0;
}
