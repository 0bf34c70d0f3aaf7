// verify::ArgumentBlock: the packed arguments of a kernel of the project, filled by field name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "verify/language/kernel_spec.h"

namespace verify {

class ArgumentBlock {
 public:
  // `kernel` is the name of a kernel in kernel_catalogue().
  explicit ArgumentBlock(std::string_view kernel) : spec_(find_kernel(kernel)), bytes_(spec_->argument_bytes) {}
  template <class T>
  ArgumentBlock& set(std::string_view name, T value) {
    const std::uint32_t size = std::min<std::uint32_t>(field(name).size, sizeof value);
    std::memcpy(bytes_.data() + offset(name), &value, size);
    return *this;
  }
  [[nodiscard]] std::uint32_t offset(std::string_view name) const { return field(name).offset; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::string_view kernel() const { return spec_->name; }
  [[nodiscard]] std::size_t index() const { return static_cast<std::size_t>(spec_ - kernel_catalogue().data()); }
  // HIP's kernelParams: pointers to the arguments in this block, which has to outlive them.
  [[nodiscard]] std::vector<void*> pointers() {
    std::vector<void*> pointers;
    for (const ArgumentSpec& argument : spec_->arguments) pointers.push_back(bytes_.data() + argument.offset);
    return pointers;
  }

 private:
  [[nodiscard]] const FieldSpec& field(std::string_view name) const {
    return *std::ranges::find(spec_->fields, name, &FieldSpec::name);
  }
  const KernelSpec* spec_;
  std::vector<std::byte> bytes_;
};

}  // namespace verify
