// Code objects of recorded programs: read from an image, and loaded into a runtime for one run.
#pragma once

#include <map>
#include <span>
#include <string>

#include "hip/api/api.h"
#include "hip/result/result.h"
#include "verify/program/foreign_kernels.h"
#include "verify/program/program.h"

namespace verify {

// Makes the kernels of a code object known under NAME@id. Their fields are its arguments in order, a0, a1 and so on; of
// a by-value struct pieces of at most eight bytes, a1.0, a1.8 (the byte at which they begin). Fields of eight bytes are
// numbers or pointers, as a program says. Fails when the metadata cannot be read. A kernel that takes an image, a
// sampler or the like is left out.
hip::Status read_code_object(const std::string& id, std::span<const std::byte> elf);

// The code objects that a program's kernels are in, loaded into one runtime. Unloaded by unload(), while that runtime
// is still there.
class LoadedCodeObjects {
 public:
  // Loads the code objects of `program` for each of its devices. An error names the code object and HIP's answer.
  hip::Status load(const hip::Api& api, const Program& program);
  // Null for a kernel of none of them.
  [[nodiscard]] hipFunction_t function(const KernelSpec& kernel, Id device) const;
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [key, function] : functions_) visit(*key.first, function);
  }
  void unload();

 private:
  hip::Status load_kernel(const KernelSpec& kernel, Id device);

  const hip::Api* api_ = nullptr;
  // A module is one device's, and so are its functions.
  std::map<std::pair<const CodeObject*, Id>, hipModule_t> modules_;
  std::map<std::pair<const KernelSpec*, Id>, hipFunction_t> functions_;
};

}  // namespace verify
