// model::Module and model::Function: loaded kernels.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "model/kernel.h"
#include "model/object.h"

namespace model {

// A kernel of a module as HIP hands it out (hipFunction_t).
class Function {
 public:
  explicit Function(KernelRef kernel) : kernel_(std::move(kernel)) {}
  [[nodiscard]] ObjectId id() const { return kernel_->id; }
  [[nodiscard]] const KernelRef& kernel() const { return kernel_; }

 private:
  KernelRef kernel_;
};

class Module {
 public:
  // Registers itself and its functions, which are for one device.
  Module(ObjectTable& objects, std::vector<std::shared_ptr<const Kernel>> kernels, int device);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();  // marks every kernel as unloaded

  [[nodiscard]] ObjectId id() const { return id_; }
  [[nodiscard]] Function* find(std::string_view name) const;  // null: no such kernel
  [[nodiscard]] std::size_t function_count() const { return functions_.size(); }

 private:
  struct Entry {
    std::shared_ptr<LoadedKernel> loaded;
    std::unique_ptr<Function> function;
  };
  ObjectTable& objects_;
  ObjectId id_;
  std::vector<Entry> functions_;
};

}  // namespace model
