#include "verify/execute/library_platform.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <deque>
#include <span>
#include <string_view>
#include <utility>

#include "model/abi/shared.h"
#include "verify/execute/resources.h"

#ifdef HGCHECK_HAVE_DEVICE_KERNELS
#include "hip/kernels/device_kernels.h"
#endif

namespace verify {

namespace {

// The most wave instructions of one launch: some hundred times the number in the largest kernel of a valid program, and
// a few seconds of the interpreter's time.
constexpr std::uint64_t kMaxDelays = 400;  // of a program: a graph of thousands of nodes would wait for seconds
constexpr std::uint64_t kInstructionBudget = std::uint64_t{1} << 28;

#ifdef HGCHECK_HAVE_DEVICE_KERNELS
void append_number(std::vector<std::byte>& bytes, std::uint64_t number) {
  const auto* raw = reinterpret_cast<const std::byte*>(&number);
  bytes.insert(bytes.end(), raw, raw + sizeof number);
}
void append_text(std::vector<std::byte>& bytes, std::string_view text) {
  const auto* raw = reinterpret_cast<const std::byte*>(text.data());
  bytes.insert(bytes.end(), raw, raw + text.size());
}

// Wraps a code object as clang's offload bundler does (clang documentation, "Clang Offload Bundler"): an empty entry
// for the host, and an entry for the device whose code begins at a page boundary.
std::vector<std::byte> bundle(std::span<const std::byte> code) {
  constexpr std::uint64_t kPage = 4096;
  constexpr std::pair<std::string_view, bool> kEntries[] = {{"host-x86_64-unknown-linux--", false},
                                                            {"hipv4-amdgcn-amd-amdhsa--gfx942", true}};
  std::vector<std::byte> bytes;
  append_text(bytes, "__CLANG_OFFLOAD_BUNDLE__");
  append_number(bytes, std::size(kEntries));
  for (const auto& [target, device] : kEntries) {
    append_number(bytes, kPage);
    append_number(bytes, device ? code.size() : 0);
    append_number(bytes, target.size());
    append_text(bytes, target);
  }
  bytes.resize(kPage);
  bytes.insert(bytes.end(), code.begin(), code.end());
  return bytes;
}
#endif

}  // namespace

hip::Result<std::unique_ptr<LibraryPlatform>> LibraryPlatform::open(const std::string& path, Id devices, bool stepped) {
  // A subject is any HIP runtime of any version. Asking for the version would start the runtime before its devices are
  // chosen below.
  hip::Result<hip::LoadedApi> library = hip::load_api(path, {.minimum_version = 0});
  if (!library) return library.error();
  std::unique_ptr<LibraryPlatform> platform(new LibraryPlatform(std::move(library).value()));
  if (hip::Status status = platform->give_devices_to_model(); !status) return status.error();
  if (platform->agent_.configure != nullptr && (devices > 1 || stepped)) {
    platform->agent_.options.agents = devices;
    platform->agent_.options.stepped = stepped ? 1 : 0;
    if (platform->agent_.configure(&platform->agent_.options) != 0)
      return hip::Error{hipErrorNotSupported, "the software gfx942 does not take so many agents, or runs already"};
  }
  if (hip::Status status = platform->load_kernels(); !status) return status.error();
  return platform;
}

static hip::Error unusable(const std::string& path, const char* what, hipError_t code) {
  return {code, fmt::format("{}: {} answered {}; is there a GPU that it can use?", path, what, hip::status_name(code))};
}

hip::Status LibraryPlatform::load_kernels() {
#ifdef HGCHECK_HAVE_DEVICE_KERNELS
  const hip::Api& api = library_.api;
  int devices = 0;
  if (const hipError_t code = api.hipGetDeviceCount(&devices); code != hipSuccess || devices == 0) {
    return unusable(library_.path, "hipGetDeviceCount", code == hipSuccess ? hipErrorNoDevice : code);
  }
  // In descending order, so that device 0 is current afterwards.
  functions_.resize(std::min(static_cast<Id>(devices), kMaxDevices));
  for (Id device = static_cast<Id>(functions_.size()); device-- > 0;) {
    if (hip::Status loaded = load_kernels_of(device); !loaded) return loaded;
  }
  register_project_code();
  return {};
#else
  return hip::Error{hipErrorNotSupported,
                    "this build has no device kernels: configure with a clang that has the amdgcn target"};
#endif
}

// A module is loaded for the current device, and its functions belong to that device.
hip::Status LibraryPlatform::load_kernels_of([[maybe_unused]] Id device) {
#ifdef HGCHECK_HAVE_DEVICE_KERNELS
  const hip::Api& api = library_.api;
  if (functions_.size() > 1) {
    if (const hipError_t code = api.hipSetDevice(static_cast<int>(device)); code != hipSuccess)
      return unusable(library_.path, "hipSetDevice", code);
  }
  hipModule_t module = nullptr;
  if (const hipError_t code = api.hipModuleLoadData(&module, hg::device_code_object().data()); code != hipSuccess) {
    return unusable(library_.path, "hipModuleLoadData", code);
  }
  for (const KernelSpec& spec : kernel_catalogue()) {
    hipFunction_t function = nullptr;
    const hipError_t code = api.hipModuleGetFunction(&function, module, spec.name.c_str());
    if (code != hipSuccess) return unusable(library_.path, "hipModuleGetFunction", code);
    functions_[device].push_back(function);
  }
  // The first synchronization of a GPU takes longer than many programs. Here it comes before the greeting, when no
  // program waits for its result.
  if (!counted_) static_cast<void>(api.hipDeviceSynchronize());
#endif
  return {};
}

// Device code, registered with its kernels and variables as compiled programs do it. Runtimes keep pointers into all of
// it for as long as they are loaded and identify a variable or kernel by its address, so these objects are never freed.
struct LibraryPlatform::RegisteredCode {
  struct Wrapper {                // the struct that compilers pass to __hipRegisterFatBinary
    unsigned magic = 0x48495046;  // "HIPF"
    unsigned version = 1;
    const void* binary = nullptr;
    void* unused = nullptr;
  };
  std::vector<std::byte> fat_binary;
  Wrapper wrapper;
  void** handle = nullptr;
  char shadows[kVariables] = {};                     // the address of each element identifies a variable
  std::deque<std::string> names;                     // compilers pass texts that stay
  std::map<const KernelSpec*, char> host_functions;  // the address of each element identifies a kernel
};

const void* LibraryPlatform::symbol(std::size_t n) {
  return registered_ == nullptr ? nullptr : &registered_->shadows[n];
}

// The code of other programs is registered when its first kernel is asked for.
const void* LibraryPlatform::kernel_symbol(const KernelSpec& kernel) {
  if (library_.api.hipLaunchKernel == nullptr || registered_ == nullptr) return nullptr;
  if (kernel.object == nullptr) return &registered_->host_functions[&kernel];
  const auto [place, fresh] = registered_objects_.try_emplace(kernel.object);
  if (fresh) place->second = register_code(kernel.object->elf, kernel.object->kernels);
  return place->second == nullptr ? nullptr : &place->second->host_functions[&kernel];
}

// Null where the library lacks the compilers' entry points (__hipRegister*).
LibraryPlatform::RegisteredCode* LibraryPlatform::register_code([[maybe_unused]] std::span<const std::byte> elf,
                                                                [[maybe_unused]] std::span<const KernelSpec> kernels) {
#ifdef HGCHECK_HAVE_DEVICE_KERNELS
  void* library = library_.library.get();
  using RegisterCode = void** (*)(const void*);
  using RegisterKernel =
      void (*)(void**, const void*, char*, const char*, unsigned, uint3*, uint3*, dim3*, dim3*, int*);
  const auto register_binary = reinterpret_cast<RegisterCode>(dlsym(library, "__hipRegisterFatBinary"));
  const auto register_kernel = reinterpret_cast<RegisterKernel>(dlsym(library, "__hipRegisterFunction"));
  if (register_binary == nullptr || register_kernel == nullptr) return nullptr;
  static auto* const all = new std::vector<std::unique_ptr<RegisteredCode>>;
  RegisteredCode& code = *all->emplace_back(std::make_unique<RegisteredCode>());
  code.fat_binary = bundle(elf);
  code.wrapper.binary = code.fat_binary.data();
  code.handle = register_binary(&code.wrapper);
  if (code.handle == nullptr) return nullptr;
  for (const KernelSpec& kernel : kernels) {
    std::string& name = code.names.emplace_back(kernel.name.substr(0, kernel.name.rfind('@')));
    register_kernel(code.handle, &code.host_functions[&kernel], name.data(), name.c_str(), ~0U, nullptr, nullptr,
                    nullptr, nullptr, nullptr);
  }
  return &code;
#else
  return nullptr;
#endif
}

// Copies to and from symbols need variables that a program has registered; variables of a loaded module do not count.
void LibraryPlatform::register_project_code() {
#ifdef HGCHECK_HAVE_DEVICE_KERNELS
  using RegisterVariable = void (*)(void**, void*, char*, char*, int, std::size_t, int, int);
  const auto register_variable = reinterpret_cast<RegisterVariable>(dlsym(library_.library.get(), "__hipRegisterVar"));
  if (register_variable == nullptr) return;
  registered_ = register_code(hg::device_code_object(), kernel_catalogue());
  for (std::size_t n = 0; registered_ != nullptr && n < kVariables; ++n) {
    std::string name = variable_name(n);
    register_variable(registered_->handle, &registered_->shadows[n], name.data(), name.data(), 0, kSymbolBytes, 0, 0);
  }
#endif
}

void LibraryPlatform::find_agent() {
  void* library = library_.library.get();
  const auto defaults = reinterpret_cast<decltype(&hgagent_defaults)>(dlsym(library, "hgagent_defaults"));
  const auto configure = reinterpret_cast<decltype(&hgagent_configure)>(dlsym(library, "hgagent_configure"));
  const auto counters = reinterpret_cast<decltype(&hgagent_counters)>(dlsym(library, "hgagent_counters"));
  const auto last_fault = reinterpret_cast<decltype(&hgagent_last_fault)>(dlsym(library, "hgagent_last_fault"));
  const auto begin = reinterpret_cast<decltype(&hgagent_signature_begin)>(dlsym(library, "hgagent_signature_begin"));
  const auto signature = reinterpret_cast<decltype(&hgagent_signature)>(dlsym(library, "hgagent_signature"));
  if (defaults == nullptr || configure == nullptr || counters == nullptr || last_fault == nullptr) return;
  const auto rest = reinterpret_cast<decltype(&hgagent_rest)>(dlsym(library, "hgagent_rest"));
  const auto wake = reinterpret_cast<decltype(&hgagent_wake)>(dlsym(library, "hgagent_wake"));
  const auto step = reinterpret_cast<decltype(&hgagent_step)>(dlsym(library, "hgagent_step"));
  if (begin == nullptr || signature == nullptr || rest == nullptr || wake == nullptr || step == nullptr) return;
  agent_ = {configure, counters, last_fault, begin, signature, rest, wake, step, {}, 0, 0};
  defaults(&agent_.options);
  agent_.options.instruction_budget = kInstructionBudget;
  agent_.options.max_delays = kMaxDelays;
}

// The model's own library gets as many devices as any program asks for; other libraries keep their number of devices.
hip::Status LibraryPlatform::give_devices_to_model() {
  const auto configure =
      reinterpret_cast<decltype(&hgmodel_configure)>(dlsym(library_.library.get(), "hgmodel_configure"));
  counted_ = configure != nullptr || agent_.counters != nullptr;
  if (configure == nullptr) return {};
  const HgModelOptions options{static_cast<int>(kMaxDevices), 0, 1};
  const int code = configure(&options);
  // This process has configured the library before, and the library keeps the devices that it got then.
  if (code == hipSuccess || code == hipErrorSetOnActiveProcess) return {};
  return hip::Error{code, fmt::format("{}: hgmodel_configure answered {}", library_.path, code)};
}

void LibraryPlatform::begin(std::uint64_t schedule_seed) {
  // The executor destroyed all objects of the last program; only the last error of a call may remain.
  static_cast<void>(library_.api.hipGetLastError());
  if (agent_.configure == nullptr) return;
  agent_.options.schedule_seed = schedule_seed;
  agent_.device_memory = agent_.options.device_memory_bytes;
  [[maybe_unused]] const int refused = agent_.configure(&agent_.options);
  assert(refused == 0);  // nothing but the seed has changed
  agent_.faults = agent_.counters(HGAGENT_FAULTS);
}

// Describes a sticky error: after a kernel accessed wrong memory, for example, every call returns the same error (CUDA,
// "Error handling": the process has to be ended). No stream is capturing any more when this is called.
std::string LibraryPlatform::lost_context() const {
  const hipError_t first = library_.api.hipDeviceSynchronize();
  if (first == hipSuccess) return {};
  const hipError_t again = library_.api.hipDeviceSynchronize();
  return again != first ? std::string() : fmt::format("the context is lost: {}", hip::status_name(again));
}

void LibraryPlatform::fail_below(Below call, std::uint64_t nth) {
  if (agent_.configure == nullptr) return;
  hgagent_options options = agent_.options;
  options.device_memory_bytes = agent_.device_memory;
  std::uint64_t* const counts[] = {&options.fail_allocation, &options.fail_queue, &options.fail_signal,
                                   &options.fail_code_object};
  *counts[static_cast<std::size_t>(call)] = nth;
  [[maybe_unused]] const int refused = agent_.configure(&options);
  assert(refused == 0);  // nothing but a count has changed
}

// HIP's answer is the agent's: ROCm/clr asks HSA how much is free. Memory that earlier programs left in the pool would
// not be counted as free, and would still be given away.
bool LibraryPlatform::leave_free(std::uint64_t bytes) {
  const hip::Api& api = library_.api;
  std::size_t free = 0, total = 0;
  if (agent_.configure == nullptr || api.hipMemGetInfo == nullptr) return false;
  hipMemPool_t pool = nullptr;
  if (api.hipDeviceGetDefaultMemPool != nullptr && api.hipMemPoolTrimTo != nullptr &&
      api.hipDeviceGetDefaultMemPool(&pool, 0) == hipSuccess)
    static_cast<void>(api.hipMemPoolTrimTo(pool, 0));
  if (api.hipMemGetInfo(&free, &total) != hipSuccess) return false;
  agent_.device_memory = agent_.options.device_memory_bytes - free + bytes;
  hgagent_options options = agent_.options;
  options.device_memory_bytes = agent_.device_memory;
  [[maybe_unused]] const int refused = agent_.configure(&options);
  assert(refused == 0);  // nothing but the size has changed
  return true;
}

std::uint64_t LibraryPlatform::failed_below() const {
  return agent_.counters == nullptr ? 0 : agent_.counters(HGAGENT_FAILED_CALLS);
}

RuntimeNotes LibraryPlatform::notes() {
  RuntimeNotes notes;
  if (agent_.counters == nullptr) notes.fault = lost_context();
  if (agent_.counters == nullptr || agent_.counters(HGAGENT_FAULTS) == agent_.faults) return notes;
  char text[1024];
  agent_.last_fault(text, sizeof text);
  notes.fault = text;
  return notes;
}

// The agent's resources that belong to programs. Signals and threads belong to the runtime, which keeps and reuses
// them.
std::vector<Held> LibraryPlatform::held() {
  if (agent_.counters == nullptr) return {};
  return {{kAllocations, agent_.counters(HGAGENT_ALLOCATIONS)},
          {kBytesOfMemory, agent_.counters(HGAGENT_ALLOCATED_BYTES)},
          {"locked ranges", agent_.counters(HGAGENT_LOCKS)},
          {"reservations", agent_.counters(HGAGENT_RESERVATIONS)},
          {"memory handles", agent_.counters(HGAGENT_MEMORY_HANDLES)}};
}

// The first memset of a device makes the runtime build its own kernels, and the first question for a variable loads the
// registered code: a program in which that load is refused would leave the variable broken for later ones.
bool LibraryPlatform::rest() {
  if (agent_.rest == nullptr) return false;
  const hip::Api& api = library_.api;
  bool done = true;
  for (Id device = static_cast<Id>(functions_.size()); device-- > 0;) {
    hipStream_t stream = nullptr;
    void* memory = nullptr;
    done = api.hipSetDevice(static_cast<int>(device)) == hipSuccess && done;
    done = api.hipStreamCreateWithFlags(&stream, hipStreamNonBlocking) == hipSuccess && done;
    done = api.hipMalloc(&memory, 1) == hipSuccess && done;
    done = done && api.hipMemsetAsync(memory, 0, 1, stream) == hipSuccess;
    done = done && api.hipStreamSynchronize(stream) == hipSuccess;
    done = api.hipFree(memory) == hipSuccess && done;
    done = stream != nullptr && api.hipStreamDestroy(stream) == hipSuccess && done;
    void* variable = nullptr;
    if (registered_ != nullptr) done = api.hipGetSymbolAddress(&variable, symbol(0)) == hipSuccess && done;
  }
  // Memory handles would be common to all forks.
  return done && agent_.counters(HGAGENT_MEMORY_HANDLES) == 0 && agent_.rest() == 0;
}

void LibraryPlatform::wake() {
  agent_.wake();
}

void LibraryPlatform::begin_signature() {
  if (agent_.signature_begin != nullptr) agent_.signature_begin();
}

std::vector<std::uint16_t> LibraryPlatform::signature() {
  if (agent_.signature == nullptr) return {};
  std::vector<std::uint16_t> features(agent_.signature(nullptr, 0));
  features.resize(std::min(features.size(), agent_.signature(features.data(), features.size())));
  return features;
}

hip::DeviceAddress LibraryPlatform::allocate_pageable(std::size_t bytes) {
  constexpr std::size_t kAlignment = 256;  // the same as the model's, so that programs see no difference
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
