// hip::code_object: the kernels of an AMD GPU code object, from its metadata.
//
// Reads the msgpack metadata (note NT_AMDGPU_METADATA) of an ELF code object: names, argument layouts and sizes, as
// AMD's loader would. The bytes may be hostile: every error names the fault and its place; no function crashes, reads
// outside of the span, recurses or allocates without a bound (the bounds are below).
//
// Not checked, because no user here relies on it: the instructions, kernel descriptors and relocations of the code
// object; that a kernel's symbol exists; metadata older than code object version 3 (a different note, refused).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hip/result/result.h"

namespace hip::code_object {

// Larger numbers are refused, not truncated. Real code objects stay far below.
inline constexpr std::size_t kMaxImageBytes = std::size_t{1} << 32;     // the size that headers may claim
inline constexpr std::size_t kMaxMetadataBytes = std::size_t{1} << 25;  // the metadata note
inline constexpr std::size_t kMaxProgramHeaders = 4096;
inline constexpr std::size_t kMaxNotes = 4096;
inline constexpr std::size_t kMaxMetadataDepth = 16;  // nested arrays and maps
inline constexpr std::size_t kMaxKernels = 65536;     // also the longest array anywhere
inline constexpr std::size_t kMaxArguments = 4096;    // of one kernel, hidden ones included
inline constexpr std::size_t kMaxMapEntries = 256;
inline constexpr std::size_t kMaxNameBytes = 65536;  // mangled names of templates are long
inline constexpr std::uint32_t kMaxKernargBytes = 1 << 16;
inline constexpr std::uint32_t kMaxKernargAlign = 4096;
inline constexpr std::size_t kMaxBundleEntries = 1024;
inline constexpr std::size_t kMaxSymbols = std::size_t{1} << 20;  // of all symbol tables together

enum class ArgumentKind : std::uint8_t {
  kPointer,  // global_buffer: a device address
  kValue,    // by_value: a scalar or a struct (which may hold pointers that the metadata does not show)
  kHidden,   // filled in by the runtime
  kOther,    // images, samplers, pipes, queues, dynamic shared pointers
};

struct Argument {
  std::string name;  // empty where the compiler wrote none
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  ArgumentKind kind = ArgumentKind::kValue;
};

struct KernelMetadata {
  std::string name;
  std::string symbol;                // of the kernel descriptor, "name.kd"
  std::vector<Argument> arguments;   // explicit ones first, then hidden ones; each by offset, never overlapping
  std::uint32_t explicit_bytes = 0;  // end of the last explicit argument
  std::uint32_t kernarg_bytes = 0;
  std::uint32_t kernarg_align = 0;
  std::uint32_t group_bytes = 0;
  std::uint32_t private_bytes = 0;
  std::uint32_t wavefront_size = 0;
};

// The kernels of a code object, in the order of its metadata.
[[nodiscard]] Result<std::vector<KernelMetadata>> read_kernels(std::span<const std::byte> elf);

// Whether the code object has variables of device code, __device__ or __constant__ ones, by its symbol tables. False
// for bytes that are no ELF code object; true, as the careful answer, for more than kMaxSymbols symbols.
[[nodiscard]] bool has_variables(std::span<const std::byte> elf);

// The ELF code object for `processor` ("gfx942") in an image: the image itself, or the entry of a clang offload bundle
// (an entry without target features before one with them). The result is the part of `image` that the ELF's own headers
// claim.
[[nodiscard]] Result<std::span<const std::byte>> find_code_object(std::span<const std::byte> image,
                                                                  std::string_view processor = "gfx942");

// The same for an image of unknown size (as hipModuleLoadData gets it). Reads as many bytes as the headers claim, up to
// kMaxImageBytes from `image`: the caller guarantees that the image is as long as its headers claim.
[[nodiscard]] Result<std::span<const std::byte>> find_code_object(const void* image,
                                                                  std::string_view processor = "gfx942");

// The size of the ELF code object that find_code_object(image) finds.
[[nodiscard]] Result<std::size_t> elf_size(const void* image);

}  // namespace hip::code_object
