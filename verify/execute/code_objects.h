// Code objects of recorded programs: read from an image, and loaded into a runtime for one run.
#pragma once

#include <map>
#include <span>
#include <string>

#include "hip/api/api.h"
#include "hip/result/result.h"
#include "verify/language/foreign_kernels.h"
#include "verify/program/program.h"

namespace verify {

// Makes the kernels of a code object known as NAME@id. The fields of a kernel are its arguments in order: a0, a1 and so
// on. A by-value struct has a field for each piece of at most eight bytes: a1.0, a1.8 (named by the byte at which it
// begins). A field of eight bytes is a number or a pointer, as a program says. Fails when the metadata cannot be read.
// A kernel that takes an image, a sampler or the like is left out.
hip::Status read_code_object(const std::string& id, std::span<const std::byte> elf);

// The image of the project's own kernels, for hipModuleLoadData. Null in a build that has no device kernels.
[[nodiscard]] const void* project_code();

// The code objects that a program's kernels and variables are in, loaded into one runtime. unload() has to be called
// while that runtime is still loaded.
class LoadedCodeObjects {
 public:
  // Loads the code objects of `program` for each of its devices. An error names the kernel (NAME@id) or the code
  // object and HIP's status.
  hip::Status load(const hip::Api& api, const Program& program);
  // Null for a code object of another program.
  [[nodiscard]] hipModule_t module(const CodeObject& object, Id device) const;
  // Null for a kernel that is in none of these code objects.
  [[nodiscard]] hipFunction_t function(const KernelSpec& kernel, Id device) const;
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [key, function] : functions_) visit(*key.first, function);
  }
  void unload();

 private:
  hip::Status load_module(const CodeObject& object, Id device);
  hip::Status load_kernel(const KernelSpec& kernel, Id device);

  const hip::Api* api_ = nullptr;
  // A module and its functions belong to one device.
  std::map<std::pair<const CodeObject*, Id>, hipModule_t> modules_;
  std::map<std::pair<const KernelSpec*, Id>, hipFunction_t> functions_;
};

}  // namespace verify
