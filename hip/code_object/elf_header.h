// The header of an ELF code object, checked against the bytes that are there. Private to hip/code_object.
//
// Both tables that the header names lie inside of the bytes and have entries of the expected size, so that reading an
// entry needs no further check. The contents of an entry do need checks.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "hip/result/result.h"

namespace hip::code_object {

// Numbers of hipError_t, since hip/code_object includes no HIP headers.
inline constexpr int kInvalidImage = 200;    // hipErrorInvalidImage
inline constexpr int kNoBinaryForGpu = 209;  // hipErrorNoBinaryForGpu

[[nodiscard]] inline Error invalid_image(const std::string& what) {
  return {kInvalidImage, "not a code object that can be read: " + what};
}

// Whether [offset, offset + size) lies inside of `total` bytes, without overflow.
[[nodiscard]] constexpr bool inside(std::uint64_t offset, std::uint64_t size, std::uint64_t total) {
  return offset <= total && size <= total - offset;
}

// The entry `index`, of type T, of a table at `offset`. The entry has to lie inside of `bytes`.
template <class T>
[[nodiscard]] T read_entry(std::span<const std::byte> bytes, std::uint64_t offset, std::size_t index) {
  T entry{};
  std::memcpy(&entry, bytes.data() + offset + index * sizeof(T), sizeof(T));
  return entry;
}

[[nodiscard]] Result<Elf64_Ehdr> read_elf_header(std::span<const std::byte> bytes);

}  // namespace hip::code_object
