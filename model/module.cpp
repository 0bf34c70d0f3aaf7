// Loaded kernels; the contract is in the header.
#include "model/module.h"

namespace model {

Module::Module(ObjectTable& objects, std::vector<std::shared_ptr<const Kernel>> kernels, int device)
    : objects_(objects), id_(objects.add(ObjectKind::kModule, this)) {
  functions_.reserve(kernels.size());
  for (auto& kernel : kernels) {
    auto loaded = std::make_shared<LoadedKernel>(LoadedKernel{std::move(kernel), 0, false, device});
    auto function = std::make_unique<Function>(loaded);
    loaded->id = objects.add(ObjectKind::kFunction, function.get());
    functions_.push_back({std::move(loaded), std::move(function)});
  }
}

Module::~Module() {
  for (Entry& entry : functions_) {
    entry.loaded->unloaded = true;
    objects_.remove(entry.function->id());
  }
  objects_.remove(id_);
}

Function* Module::find(std::string_view name) const {
  for (const Entry& entry : functions_) {
    if (entry.loaded->kernel->name == name) return entry.function.get();
  }
  return nullptr;
}

}  // namespace model
