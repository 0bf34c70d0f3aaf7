// The host model as a platform: the model behind its C ABI, with the project's kernels loaded.
//
// Signatures come from kernel_catalogue(), and tests compare them with the code object's metadata; semantics come from
// the host functions. (Behind lib=libhgmodel.so the same kernels come in as a module, with signatures read from its
// metadata.)
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "model/abi/in_process.h"
#include "verify/execute/platform.h"
#include "verify/language/foreign_kernels.h"

namespace verify {

struct ModelPlatformOptions {
  int devices = 1;
  bool identity = false;  // addresses are valid in the process, so that pinned memory can be dereferenced
};

class ModelPlatform : public Platform {
 public:
  ModelPlatform() : ModelPlatform(ModelPlatformOptions{}) {}
  explicit ModelPlatform(const ModelPlatformOptions& options);
  ~ModelPlatform() override;

  void enter() override;
  void leave() override;
  void on_thread(Id thread, const std::function<void()>& work) override;
  void on_threads(const std::map<Id, std::function<void()>>& works) override;
  void begin(std::uint64_t schedule_seed) override;
  [[nodiscard]] const hip::Api& api() const override { return model::abi::InProcess::api(); }
  [[nodiscard]] hipFunction_t function(std::size_t kernel_index, Id device) override;
  bool need_devices(Id count) override {
    needed_ = count;
    return true;
  }
  [[nodiscard]] const void* symbol(std::size_t n) override { return &shadows_[n]; }
  [[nodiscard]] const void* kernel_symbol(const KernelSpec& kernel) override;
  void forget_symbols() override;
  hip::DeviceAddress allocate_pageable(std::size_t bytes) override;
  void free_pageable(hip::DeviceAddress address) override;
  hip::Status store(hip::DeviceAddress address, const std::byte* bytes, std::size_t size) override;
  hip::Status load(hip::DeviceAddress address, std::byte* bytes, std::size_t size) override;
  std::byte* host_view(hip::DeviceAddress address, std::size_t bytes) override;
  bool place_next(hip::DeviceAddress address) override;
  [[nodiscard]] std::uint64_t steps() const override;
  [[nodiscard]] std::uint64_t operations() const override;
  [[nodiscard]] std::optional<RaceSeen> first_race() const override;
  [[nodiscard]] Platform& for_systems() override;
  bool leave_free(std::uint64_t bytes) override;
  [[nodiscard]] RuntimeNotes notes() override;
  [[nodiscard]] std::string leaks() override;
  [[nodiscard]] std::vector<Held> held() override;
  [[nodiscard]] bool white_box() const override { return true; }
  [[nodiscard]] std::optional<std::vector<model::NodeView>> look_into(hipGraph_t graph, std::size_t most) override;
  [[nodiscard]] std::optional<std::vector<model::NodeView>> look_into(hipGraphExec_t exec, std::size_t most) override;

 private:
  void register_kernels(Id device);
  void register_kernels(const CodeObject& object, Id device);

  ModelPlatformOptions options_;
  model::abi::InProcess instance_;
  std::vector<std::shared_ptr<const model::Kernel>> kernels_;  // in the order of kernel_catalogue()
  Id needed_ = 1;                                              // devices that the program needs
  std::vector<model::Module*> modules_;                        // one for each of these devices
  char shadows_[kVariables] = {};                              // the address of each element identifies a variable
  std::map<const KernelSpec*, char> host_functions_;           // the address of each element identifies a kernel
  std::set<const CodeObject*> registered_;                     // for this program; null: the project's code
  std::vector<hipModule_t> registered_modules_;                // of other code objects
  std::optional<model::abi::Activate> active_;
  std::unique_ptr<ModelPlatform> for_systems_;  // made when for_systems() is first called
};

}  // namespace verify
