// Kernels of code objects that are not the project's, as a recorded program names them: NAME@CODE_OBJECT.
//
// A code object is known by its name (16 hex digits: a hash of its bytes) once it was given to know_code_object(); its
// kernels are found by find_kernel() from then on, and live as long as the process, so that two parses of one program
// name the same kernel. The memory that a foreign kernel touches behind its pointers is unknown (Extent::kUnknown).
//
// Not thread-safe: code objects are made known before programs that name them are read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "verify/language/kernel_spec.h"

namespace verify {

struct CodeObject {
  std::string id;
  std::vector<std::byte> elf;  // for gfx942
  std::vector<KernelSpec> kernels;
  bool has_variables = false;  // kernels of two instances of the code do not share them
};

// A variable of a code object, which hipModuleGetGlobal finds by its name: NAME@CODE_OBJECT.
struct ForeignVariable {
  const CodeObject* object = nullptr;
  std::string name;
  bool operator==(const ForeignVariable&) const = default;
};

// Returns the code object that is kept: an earlier code object with this id, where there is one.
const CodeObject& know_code_object(CodeObject object);
[[nodiscard]] const CodeObject* find_code_object(std::string_view id);
[[nodiscard]] const KernelSpec* find_foreign_kernel(std::string_view name);  // NAME@CODE_OBJECT
// The code objects that the kernels and variables of a program's text name, each once.
[[nodiscard]] std::vector<std::string> code_objects_named_in(std::string_view text);

}  // namespace verify
