// The description of kernels for programs: the names, places and meaning of a kernel's arguments.
//
// A code object's metadata gives offsets and sizes; it gives neither the places of pointers inside a by-value struct
// nor the number of bytes that a kernel touches behind a pointer. Programs need both: to be written by name, to be
// generated in bounds, and to state relocations. This catalogue has both for the project's kernels
// (hip/kernels/kernels.inc). tests/verify/kernel_spec_test.cpp checks it against a code object; nothing here reads one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace verify {

enum class FieldKind : std::uint8_t {
  kPointer,
  kScalar,
  kEither,  // eight bytes, a pointer or a scalar: the program decides at each launch
};
enum class Touch : std::uint8_t { kNothing, kRead, kWrite, kReadWrite };

// One leaf of the argument list: a plain argument ("out") or a member of a by-value struct ("p.out").
struct FieldSpec {
  std::string name;
  std::uint32_t offset = 0;  // bytes into the packed argument block
  std::uint32_t size = 0;    // 1, 2, 4 or 8
  FieldKind kind = FieldKind::kScalar;
  Touch touch = Touch::kNothing;  // pointers only
  std::uint32_t element = 1;      // bytes; a pointer's required alignment
};

// One parameter of the kernel's signature, as the metadata lists it.
struct ArgumentSpec {
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  std::uint32_t alignment = 1;
};

// How the scalars of a kernel bound the memory that it touches behind its pointers.
enum class Extent : std::uint8_t {
  kElements,  // every pointer: `n` elements
  kRange,     // [begin, end) is read, out[0] is written; `end` itself is one past the last byte
  kMatrix,    // c[m*n], a and b by strides sa0, sa1, sb0, sb1
  kNone,      // no pointer at all
  kUnknown,   // a foreign kernel: nothing is known
};

struct CodeObject;  // verify/language/foreign_kernels.h

struct KernelSpec {
  std::string name;
  std::vector<ArgumentSpec> arguments;
  std::vector<FieldSpec> fields;
  std::uint32_t argument_bytes = 0;  // size of the explicit arguments: the end of the last argument
  Extent extent = Extent::kElements;
  int count_field = -1;                // index of the field with the number of elements, where extent is kElements
  const CodeObject* object = nullptr;  // the code object of a foreign kernel; null for the project's
  bool drawn = true;                   // generators draw this kernel

  [[nodiscard]] int field_index(std::string_view name) const;  // -1 when there is none
  [[nodiscard]] int pointer_count() const;
};

// Every kernel of the project, in a fixed order.
[[nodiscard]] std::span<const KernelSpec> kernel_catalogue();
// The beginning of the catalogue. Generators draw from it by index: one more kernel changes the programs of every seed.
[[nodiscard]] std::span<const KernelSpec> drawn_kernels();
// A kernel of the catalogue, or NAME@CODE_OBJECT of a known code object (verify/language/foreign_kernels.h); else null.
[[nodiscard]] const KernelSpec* find_kernel(std::string_view name);

}  // namespace verify
