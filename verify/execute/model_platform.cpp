#include "verify/execute/model_platform.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "hip/kernels/host_kernels.h"
#include "verify/execute/devices.h"
#include "verify/execute/resources.h"

namespace verify {

namespace {

// The host semantics of a kernel access the model's memory through this class.
class ModelMemory final : public hg::HostMemory {
 public:
  explicit ModelMemory(model::MemoryAccess& memory) : memory_(memory) {}
  std::byte* access(std::uint64_t address, std::size_t size, bool write) override {
    return memory_.access(address, size, write);
  }

 private:
  model::MemoryAccess& memory_;
};

model::Signature signature_of(const KernelSpec& spec) {
  model::Signature signature;
  signature.argument_bytes = spec.argument_bytes;
  for (const ArgumentSpec& argument : spec.arguments) {
    const bool pointer = [&] {
      for (const FieldSpec& field : spec.fields) {
        if (field.name == argument.name) return field.kind == FieldKind::kPointer;
      }
      return false;
    }();
    signature.arguments.push_back(
        {argument.offset, argument.size, pointer ? model::ArgumentKind::kPointer : model::ArgumentKind::kValue});
  }
  return signature;
}

std::shared_ptr<const model::Kernel> make_kernel(const KernelSpec& spec) {
  auto kernel = std::make_shared<model::Kernel>();
  kernel->name = spec.name;
  kernel->signature = signature_of(spec);
  for (const hg::HostKernel& host : hg::host_kernels()) {
    if (host.name != spec.name) continue;
    kernel->semantics = [run = host.run](std::span<const std::byte> arguments, const model::LaunchShape&,
                                         model::MemoryAccess& memory) {
      ModelMemory adapter(memory);
      run(arguments, adapter);
    };
  }
  assert(kernel->semantics);
  return kernel;
}

model::abi::InProcessOptions options_for(const ModelPlatformOptions& chosen, Id needed, std::uint64_t schedule_seed) {
  model::abi::InProcessOptions options;
  options.model.schedule_seed = schedule_seed;
  options.model.devices = std::max(chosen.devices, static_cast<int>(needed));
  options.model.memory.identity = chosen.identity;
  options.model.memory.unknown_is_host = true;
  options.kernels = hg::host_kernels();
  return options;
}

}  // namespace

ModelPlatform::ModelPlatform(const ModelPlatformOptions& options)
    : options_(options), instance_(options_for(options, 1, 0)) {
  for (const KernelSpec& spec : kernel_catalogue()) kernels_.push_back(make_kernel(spec));
}
ModelPlatform::~ModelPlatform() = default;

void ModelPlatform::enter() {
  active_.emplace(instance_);
}
void ModelPlatform::leave() {
  active_.reset();
}

// The model is told the number of the calling thread, so it needs no real threads.
void ModelPlatform::on_thread(Id thread, const std::function<void()>& work) {
  instance_.use_thread(thread);
  work();
  instance_.use_thread(0);
}

void ModelPlatform::on_threads(const std::map<Id, std::function<void()>>& works) {
  for (const auto& [thread, work] : works) on_thread(thread, work);
}

void ModelPlatform::begin(std::uint64_t schedule_seed) {
  instance_.reset(options_for(options_, needed_, schedule_seed));
  modules_.clear();
  registered_.clear();
  registered_modules_.clear();
  for (Id device = 0; device < needed_; ++device) {
    modules_.push_back(&instance_.runtime().load_module(kernels_, static_cast<int>(device)));
  }
  for (const char& shadow : shadows_) instance_.add_variable(&shadow, kSymbolBytes);
}

hipFunction_t ModelPlatform::function(std::size_t kernel_index, Id device) {
  return model::abi::InProcess::function_handle(modules_[device]->find(kernels_[kernel_index]->name)->id());
}

// Registered code is a module of its own, beside the modules that a program takes the same kernels from.
void ModelPlatform::register_kernels(Id device) {
  const model::Module& module = instance_.runtime().load_module(kernels_, static_cast<int>(device));
  for (const KernelSpec& kernel : kernel_catalogue()) {
    instance_.add_kernel(&host_functions_[&kernel], *module.find(kernel.name));
  }
}

void ModelPlatform::register_kernels(const CodeObject& object, Id device) {
  const hip::Status loaded = on_device(api(), device, [&]() -> hip::Status {
    hipModule_t module = nullptr;
    hip::Status status = hip::call<&hip::Api::hipModuleLoadData>(api(), &module, object.elf.data());
    if (!status) return status;
    registered_modules_.push_back(module);
    for (const KernelSpec& kernel : object.kernels) {
      hipFunction_t function = nullptr;
      const std::string name = kernel.name.substr(0, kernel.name.rfind('@'));
      status = hip::call<&hip::Api::hipModuleGetFunction>(api(), &function, module, name.c_str());
      if (!status) return status;
      instance_.add_kernel(&host_functions_[&kernel], *instance_.function(function));
    }
    return {};
  });
  static_cast<void>(loaded);  // HIP refuses a host function that stands for no kernel
}

const void* ModelPlatform::kernel_symbol(const KernelSpec& kernel) {
  if (registered_.insert(kernel.object).second) {
    for (Id device = 0; device < needed_; ++device) {
      if (kernel.object == nullptr) register_kernels(device);
      if (kernel.object != nullptr) register_kernels(*kernel.object, device);
    }
  }
  return &host_functions_[&kernel];
}

void ModelPlatform::forget_symbols() {
  for (const hipModule_t module : registered_modules_) static_cast<void>(api().hipModuleUnload(module));
  registered_modules_.clear();
  registered_.clear();
}

hip::DeviceAddress ModelPlatform::allocate_pageable(std::size_t bytes) {
  model::Address address = 0;
  const model::Status status = instance_.runtime().memory().allocate(bytes, model::MemoryKind::kPageable, 0, &address);
  return status == model::Status::kSuccess ? address : 0;
}

void ModelPlatform::free_pageable(hip::DeviceAddress address) {
  static_cast<void>(instance_.runtime().memory().release(address));  // 0 when the allocation had failed
}

hip::Status ModelPlatform::store(hip::DeviceAddress address, const std::byte* bytes, std::size_t size) {
  std::byte* memory = instance_.runtime().memory().peek(address, size);
  if (memory == nullptr) return hip::Error{hipErrorInvalidValue, "no such memory in the model"};
  std::memcpy(memory, bytes, size);
  return {};
}

hip::Status ModelPlatform::load(hip::DeviceAddress address, std::byte* bytes, std::size_t size) {
  const std::byte* memory = instance_.runtime().memory().peek(address, size);
  if (memory == nullptr) return hip::Error{hipErrorInvalidValue, "no such memory in the model"};
  std::memcpy(bytes, memory, size);
  return {};
}

std::byte* ModelPlatform::host_view(hip::DeviceAddress address, std::size_t bytes) {
  return instance_.runtime().memory().view(address, bytes);
}

bool ModelPlatform::place_next(hip::DeviceAddress address) {
  instance_.runtime().memory().place_next(address);
  return true;
}

Platform& ModelPlatform::for_systems() {
  constexpr int kDevices = 2;
  if (for_systems_ == nullptr) {
    for_systems_ = std::make_unique<ModelPlatform>(ModelPlatformOptions{kDevices, true});
  }
  return *for_systems_;
}

bool ModelPlatform::leave_free(std::uint64_t bytes) {
  instance_.runtime().leave_free(bytes);
  return true;
}

RuntimeNotes ModelPlatform::notes() {
  const model::Runtime& runtime = instance_.runtime();
  RuntimeNotes notes;
  if (runtime.fault()) notes.fault = runtime.fault()->text;
  notes.races = runtime.races_seen();
  if (!runtime.races().empty()) {
    const model::DataRace& race = runtime.races().front();
    notes.first_race = fmt::format("bytes {:#x} to {:#x}, nodes {} and {} of operations {} and {}", race.bytes.begin,
                                   race.bytes.end, race.a.node, race.b.node, race.a.operation, race.b.operation);
  }
  return notes;
}

std::optional<std::vector<model::NodeView>> ModelPlatform::look_into(hipGraph_t graph, std::size_t most) {
  const model::Graph* found = instance_.graph(graph);
  if (found == nullptr) return {};
  return model::inspect(*found, most);
}

std::optional<std::vector<model::NodeView>> ModelPlatform::look_into(hipGraphExec_t exec, std::size_t most) {
  const model::GraphExec* found = instance_.exec(exec);
  if (found == nullptr) return {};
  return found->inspect(most);
}

std::uint64_t ModelPlatform::steps() const {
  return instance_.runtime().visited();
}

std::uint64_t ModelPlatform::operations() const {
  return instance_.runtime().operations();
}

std::optional<RaceSeen> ModelPlatform::first_race() const {
  const std::vector<model::DataRace>& races = instance_.runtime().races();
  if (races.empty()) return {};
  const auto party = [](const model::RaceParty& each) {
    return RaceSeen::Party{model::abi::InProcess::node_handle(each.node), each.operation, each.wrote};
  };
  const model::DataRace& race = races.front();
  return RaceSeen{party(race.a), party(race.b), race.bytes.begin, race.bytes.end};
}

std::vector<Held> ModelPlatform::held() {
  const model::LiveHandles live = instance_.runtime().live_handles();
  return {{"graphs", live.graphs},
          {"executable graphs", live.graph_execs},
          {"streams", live.streams},
          {"events", live.events},
          {kAllocations, live.allocations - instance_.variables_in_memory()},
          {kBytesOfMemory, live.bytes - instance_.variables_in_memory() * kSymbolBytes},
          {"user objects", live.user_objects},
          {"memory pools", live.pools},
          {"reservations", instance_.runtime().virtual_memory().ranges().size()},
          {"physical memories", instance_.runtime().virtual_memory().memories()},
          {"semaphores", instance_.semaphores()}};
}

std::string ModelPlatform::leaks() {
  const model::LiveHandles live = instance_.runtime().live_handles();
  std::string text;
  const auto note = [&text](std::size_t count, const char* what) {
    if (count != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  note(live.graphs, "graphs");
  note(live.graph_execs, "executable graphs");
  note(live.streams - instance_.per_thread_streams(), "streams");
  note(live.events, "events");
  note(live.allocations - instance_.variables_in_memory(), "allocations");
  note(live.user_objects, "user objects");
  note(live.pools, "memory pools");
  note(instance_.runtime().virtual_memory().ranges().size(), "reservations");
  note(instance_.runtime().virtual_memory().memories(), "physical memories");
  note(instance_.semaphores(), "semaphores");
  return text;
}

}  // namespace verify
