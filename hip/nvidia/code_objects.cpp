#include "hip/nvidia/code_objects.h"

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#ifdef HGCHECK_HAVE_DEVICE_KERNELS
#include "hip/kernels/device_kernels.h"
#include "hip/kernels/ptx_kernels.h"
#endif

namespace nvidia {
namespace {

constexpr std::string_view kElf = "\177ELF", kBundle = "__CLANG_OFFLOAD_BUNDLE__", kCompressedBundle = "CCOB";
constexpr Elf64_Half kAmdGpu = 224;  // EM_AMDGPU (ELF registry of machines)

// Reads no further than the first byte that differs, so that a shorter image is not overrun.
bool starts_with(const std::byte* image, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (static_cast<char>(image[i]) != text[i]) return false;
  }
  return true;
}

bool is_amd_elf(const std::byte* image) {
  if (!starts_with(image, kElf)) return false;
  Elf64_Half machine = 0;
  std::memcpy(&machine, image + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
  return machine == kAmdGpu;
}

bool is_own(const std::byte* elf) {
#ifdef HGCHECK_HAVE_DEVICE_KERNELS
  const std::span<const std::byte> own = hg::device_code_object();
  return starts_with(elf, {reinterpret_cast<const char*>(own.data()), own.size()});
#else
  static_cast<void>(elf);
  return false;
#endif
}

std::uint64_t number_at(const std::byte* at) {
  std::uint64_t number = 0;
  std::memcpy(&number, at, sizeof number);
  return number;
}

// The mark, the number of entries, and for each: offset, size, length of its target's name, the name.
bool has_own_entry(const std::byte* bundle) {
  const std::byte* at = bundle + kBundle.size();
  std::uint64_t entries = number_at(at);
  for (at += sizeof entries; entries > 0; --entries) {
    const std::uint64_t offset = number_at(at), size = number_at(at + 8), length = number_at(at + 16);
    if (size != 0 && is_own(bundle + offset)) return true;
    at += 24 + length;
  }
  return false;
}

CodeForCuda own_or_refused(bool own) {
#ifdef HGCHECK_HAVE_DEVICE_KERNELS
  if (own) return {hg::ptx_kernels(), hipSuccess};
#else
  static_cast<void>(own);
#endif
  return {nullptr, hipErrorNoBinaryForGpu};
}

}  // namespace

CodeForCuda code_for_cuda(const void* image) {
  const auto* bytes = static_cast<const std::byte*>(image);
  if (bytes == nullptr) return {};
  if (is_amd_elf(bytes)) return own_or_refused(is_own(bytes));
  if (starts_with(bytes, kBundle)) return own_or_refused(has_own_entry(bytes));
  if (starts_with(bytes, kCompressedBundle)) return own_or_refused(false);
  return {image, hipSuccess};
}

}  // namespace nvidia
