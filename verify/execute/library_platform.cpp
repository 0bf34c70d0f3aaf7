#include "verify/execute/library_platform.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cassert>
#include <cstdlib>

#ifdef HGCHECK_HAVE_DEVICE_KERNELS
#include "hip/kernels/device_kernels.h"
#endif

namespace verify {

namespace {

// Wave instructions of one launch: some hundred times what the largest kernel of a valid program takes, and a few
// seconds of the interpreter's time.
constexpr std::uint64_t kInstructionBudget = std::uint64_t{1} << 28;

}  // namespace

hip::Result<std::unique_ptr<LibraryPlatform>> LibraryPlatform::open(const std::string& path) {
  hip::Result<hip::LoadedApi> library = hip::load_api(path);
  if (!library) return library.error();
  std::unique_ptr<LibraryPlatform> platform(new LibraryPlatform(std::move(library).value()));
  if (hip::Status status = platform->load_kernels(); !status) return status.error();
  return platform;
}

hip::Status LibraryPlatform::load_kernels() {
#ifdef HGCHECK_HAVE_DEVICE_KERNELS
  const hip::Api& api = library_.api;
  const auto failed = [this](const char* what, hipError_t code) {
    return hip::Error{code, fmt::format("{}: {} answered {}; is there a GPU that it can use?", library_.path, what,
                                        hip::status_name(code))};
  };
  int devices = 0;
  if (const hipError_t code = api.hipGetDeviceCount(&devices); code != hipSuccess || devices == 0) {
    return failed("hipGetDeviceCount", code == hipSuccess ? hipErrorNoDevice : code);
  }
  if (const hipError_t code = api.hipModuleLoadData(&module_, hg::device_code_object().data()); code != hipSuccess) {
    return failed("hipModuleLoadData", code);
  }
  for (const KernelSpec& spec : kernel_catalogue()) {
    hipFunction_t function = nullptr;
    const hipError_t code = api.hipModuleGetFunction(&function, module_, spec.name.c_str());
    if (code != hipSuccess) return failed("hipModuleGetFunction", code);
    functions_.push_back(function);
  }
  return {};
#else
  return hip::Error{hipErrorNotSupported,
                    "this build has no device kernels: configure with a clang that has the amdgcn target"};
#endif
}

void LibraryPlatform::find_agent() {
  void* library = library_.library.get();
  const auto defaults = reinterpret_cast<decltype(&hgagent_defaults)>(dlsym(library, "hgagent_defaults"));
  const auto configure = reinterpret_cast<decltype(&hgagent_configure)>(dlsym(library, "hgagent_configure"));
  const auto counters = reinterpret_cast<decltype(&hgagent_counters)>(dlsym(library, "hgagent_counters"));
  const auto last_fault = reinterpret_cast<decltype(&hgagent_last_fault)>(dlsym(library, "hgagent_last_fault"));
  if (defaults == nullptr || configure == nullptr || counters == nullptr || last_fault == nullptr) return;
  agent_ = {configure, counters, last_fault, {}, 0};
  defaults(&agent_.options);
  agent_.options.instruction_budget = kInstructionBudget;
}

void LibraryPlatform::begin(std::uint64_t schedule_seed) {
  // Nothing of the last program is left: the executor destroyed it all. The last error of a call may be.
  static_cast<void>(library_.api.hipGetLastError());
  if (agent_.configure == nullptr) return;
  agent_.options.schedule_seed = schedule_seed;
  [[maybe_unused]] const int refused = agent_.configure(&agent_.options);
  assert(refused == 0);  // nothing but the seed has changed
  agent_.faults = agent_.counters(HGAGENT_FAULTS);
}

RuntimeNotes LibraryPlatform::notes() {
  RuntimeNotes notes;
  if (agent_.counters == nullptr || agent_.counters(HGAGENT_FAULTS) == agent_.faults) return notes;
  char text[1024];
  agent_.last_fault(text, sizeof text);
  notes.fault = text;
  return notes;
}

// Of the agent: what belongs to programs. Signals and threads are the runtime's own, which it keeps and gives out
// again.
std::vector<Held> LibraryPlatform::held() {
  if (agent_.counters == nullptr) return {};
  return {{"allocations", agent_.counters(HGAGENT_ALLOCATIONS)},
          {"bytes of memory", agent_.counters(HGAGENT_ALLOCATED_BYTES)},
          {"locked ranges", agent_.counters(HGAGENT_LOCKS)},
          {"reservations", agent_.counters(HGAGENT_RESERVATIONS)},
          {"memory handles", agent_.counters(HGAGENT_MEMORY_HANDLES)}};
}

hip::DeviceAddress LibraryPlatform::allocate_pageable(std::size_t bytes) {
  constexpr std::size_t kAlignment = 256;  // as the model's, so that programs need not care
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return reinterpret_cast<hip::DeviceAddress>(std::aligned_alloc(kAlignment, rounded));
}

void LibraryPlatform::free_pageable(hip::DeviceAddress address) {
  std::free(reinterpret_cast<void*>(address));
}

std::byte* LibraryPlatform::host_view(hip::DeviceAddress address, std::size_t) {
  return reinterpret_cast<std::byte*>(address);
}

}  // namespace verify
