// A platform with a layer around its table of functions: the layer gives any runtime a known defect.
//
// All else but kept memory is forwarded to the inner platform. Callers see no difference: for them the runtime under
// test is the runtime together with its layer.
#pragma once

#include <memory>

#include "hip/api/layer.h"
#include "verify/execute/platform.h"

namespace verify {

class LayeredPlatform final : public Platform {
 public:
  // `inner` must outlive this.
  LayeredPlatform(Platform& inner, std::unique_ptr<hip::ApiLayer> layer) : inner_(inner), layer_(std::move(layer)) {}

  void enter() override;
  void leave() override;
  void on_thread(Id thread, const std::function<void()>& work) override { inner_.on_thread(thread, work); }
  // One after the other: several threads must not call a layer at the same time.
  void on_threads(const std::map<Id, std::function<void()>>& works) override {
    for (const auto& [thread, work] : works) inner_.on_thread(thread, work);
  }
  void begin(std::uint64_t schedule_seed) override;
  [[nodiscard]] const hip::Api& api() const override { return layer_->table(); }
  [[nodiscard]] hipFunction_t function(std::size_t kernel_index, Id device) override;
  [[nodiscard]] const void* kernel_symbol(const KernelSpec& kernel) override { return inner_.kernel_symbol(kernel); }
  void forget_symbols() override { inner_.forget_symbols(); }
  bool need_devices(Id count) override { return inner_.need_devices(count); }
  void know_kernel(hipFunction_t function, const KernelSpec& kernel) override;
  [[nodiscard]] const void* symbol(std::size_t n) override { return inner_.symbol(n); }
  hip::DeviceAddress allocate_pageable(std::size_t bytes) override { return inner_.allocate_pageable(bytes); }
  void free_pageable(hip::DeviceAddress address) override { inner_.free_pageable(address); }
  hip::Status store(hip::DeviceAddress address, const std::byte* bytes, std::size_t size) override {
    return inner_.store(address, bytes, size);
  }
  hip::Status load(hip::DeviceAddress address, std::byte* bytes, std::size_t size) override {
    return inner_.load(address, bytes, size);
  }
  std::byte* host_view(hip::DeviceAddress address, std::size_t bytes) override {
    return inner_.host_view(address, bytes);
  }
  bool place_next(hip::DeviceAddress address) override { return inner_.place_next(address); }
  [[nodiscard]] std::uint64_t steps() const override { return inner_.steps(); }
  [[nodiscard]] Platform& for_systems() override { return inner_.for_systems(); }
  void fail_below(Below call, std::uint64_t nth) override { inner_.fail_below(call, nth); }
  [[nodiscard]] std::uint64_t failed_below() const override { return inner_.failed_below(); }
  bool leave_free(std::uint64_t bytes) override { return inner_.leave_free(bytes); }
  [[nodiscard]] RuntimeNotes notes() override { return inner_.notes(); }
  [[nodiscard]] std::string leaks() override { return inner_.leaks(); }
  [[nodiscard]] std::vector<Held> held() override { return inner_.held(); }
  [[nodiscard]] bool white_box() const override { return inner_.white_box(); }
  [[nodiscard]] std::optional<std::vector<model::NodeView>> look_into(hipGraph_t graph, std::size_t most) override {
    return inner_.look_into(graph, most);
  }
  [[nodiscard]] std::optional<std::vector<model::NodeView>> look_into(hipGraphExec_t exec, std::size_t most) override {
    return inner_.look_into(exec, most);
  }

 private:
  Platform& inner_;
  std::unique_ptr<hip::ApiLayer> layer_;
};

}  // namespace verify
