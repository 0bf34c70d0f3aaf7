// Any HIP runtime library as a platform: lib=PATH, loaded into this process.
//
// Its addresses are real memory of this process (host memory is accessed directly). Allocations cannot be placed, and
// the runtime's internal state cannot be inspected. One library per process, because a runtime's state is global. A
// sticky error that a program caused stays in the runtime: a caller that runs many programs has to start a new process.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hip/agent/configure.h"
#include "verify/execute/platform.h"
#include "verify/language/foreign_kernels.h"

namespace verify {

class LibraryPlatform final : public Platform {
 public:
  // An error names the path and the missing part. For a library that runs on the software gfx942: `devices`, the number
  // of its devices (a machine's own number is fixed), and `stepped`, whether the threads of the host that wait step it,
  // instead of threads of its own (docs/agent.md).
  static hip::Result<std::unique_ptr<LibraryPlatform>> open(const std::string& path, Id devices = 1,
                                                            bool stepped = false);

  void begin(std::uint64_t schedule_seed) override;
  [[nodiscard]] const hip::Api& api() const override { return library_.api; }
  [[nodiscard]] hipFunction_t function(std::size_t kernel_index, Id device) override {
    return functions_[device][kernel_index];
  }
  bool need_devices(Id count) override { return count <= functions_.size(); }
  [[nodiscard]] const void* symbol(std::size_t n) override;
  [[nodiscard]] const void* kernel_symbol(const KernelSpec& kernel) override;
  hip::DeviceAddress allocate_pageable(std::size_t bytes) override;
  void free_pageable(hip::DeviceAddress address) override;
  std::byte* host_view(hip::DeviceAddress address, std::size_t bytes) override;
  bool place_next(hip::DeviceAddress) override { return false; }
  [[nodiscard]] KeptMemory* kept_memory() override { return counted_ ? nullptr : &kept_memory_; }
  // Whether the runtime orders its work by `schedule_seed`.
  [[nodiscard]] bool schedulable() const { return agent_.configure != nullptr; }
  [[nodiscard]] int devices() const { return static_cast<int>(functions_.size()); }
  void fail_below(Below call, std::uint64_t nth) override;
  bool leave_free(std::uint64_t bytes) override;
  [[nodiscard]] std::uint64_t failed_below() const override;
  [[nodiscard]] RuntimeNotes notes() override;
  [[nodiscard]] std::vector<Held> held() override;
  // For a process that forks (hip/agent/configure.h): does a first operation on each device and ends the threads of the
  // software gfx942; and starts them again. False where the runtime does not run on it, or does not come to rest.
  [[nodiscard]] bool rest();
  void wake();
  // A function that steps the machine and returns whether it did, for threads that yield in a loop; null where the
  // library does not run on the software gfx942.
  [[nodiscard]] auto stepping() const { return agent_.step; }
  void begin_signature() override;
  [[nodiscard]] std::vector<std::uint16_t> signature() override;

 private:
  // The functions of the software gfx942, found by name; null where the runtime does not run on it.
  struct Agent {
    decltype(&hgagent_configure) configure = nullptr;
    decltype(&hgagent_counters) counters = nullptr;
    decltype(&hgagent_last_fault) last_fault = nullptr;
    decltype(&hgagent_signature_begin) signature_begin = nullptr;
    decltype(&hgagent_signature) signature = nullptr;
    decltype(&hgagent_rest) rest = nullptr;
    decltype(&hgagent_wake) wake = nullptr;
    decltype(&hgagent_step) step = nullptr;
    hgagent_options options{};
    std::uint64_t device_memory = 0;  // of this program
    std::uint64_t faults = 0;         // counted before the program began
  };
  struct RegisteredCode;
  explicit LibraryPlatform(hip::LoadedApi library) : library_(std::move(library)) { find_agent(); }
  void find_agent();
  [[nodiscard]] std::string lost_context() const;
  hip::Status give_devices_to_model();
  hip::Status load_kernels();
  hip::Status load_kernels_of(Id device);
  void register_project_code();
  [[nodiscard]] RegisteredCode* register_code(std::span<const std::byte> elf, std::span<const KernelSpec> kernels);

  hip::LoadedApi library_;
  Agent agent_;
  bool counted_ = false;  // the agent or the model reports the remaining allocations after each program
  KeptMemory kept_memory_;
  std::vector<std::vector<hipFunction_t>> functions_;  // by device, then in the order of kernel_catalogue()
  // Null where the library cannot register code: then there are no variables and no kernels by symbol.
  RegisteredCode* registered_ = nullptr;
  std::map<const CodeObject*, RegisteredCode*> registered_objects_;
};

}  // namespace verify
