// The registry and the functions that compilers emit calls to; the contract is in the header. Sources: clang's code
// generation for HIP host code (CGCUDANV), ROCm/clr's hip_fatbin and hip_platform for the meaning of the arguments.
#include "model/abi/registration.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <unordered_map>

#include "hip/sync/sync.h"

namespace model::abi {
namespace {

constexpr unsigned kFatBinaryMagic = 0x48495046;  // "HIPF"

// The structure that the compiler passes.
struct FatBinaryWrapper {
  unsigned magic;
  unsigned version;
  const void* binary;
  void* unused;
};

struct Managed {
  void** pointer = nullptr;
  std::string name;
  std::size_t size = 0;
  bool adopted = false;
};

struct FatBinary {
  const void* image = nullptr;
  std::map<int, ObjectId> modules;  // by device
  std::list<Managed> managed;
  bool complained = false;  // on stderr, that the code cannot be loaded
};

struct Symbol {
  FatBinary* code = nullptr;
  std::string name;
};

struct Registry {
  hip::sync::Mutex mutex;
  std::list<FatBinary> code;
  std::unordered_map<const void*, Symbol> functions, variables;
  std::unordered_map<ObjectId, const void*> hosts;  // of loaded kernels
};

// Never destroyed: code is unregistered after the destructors of this library have run.
Registry& registry() {
  static Registry* const only = new Registry;
  return *only;
}

const Symbol* find(const std::unordered_map<const void*, Symbol>& symbols, const void* host) {
  const auto found = symbols.find(host);
  return found == symbols.end() ? nullptr : &found->second;
}

// Makes managed memory known to the model and stores its address in the module's variable of the same name.
Status connect(State& state, const Module& module, Managed& managed) {
  AddressSpace& memory = state.runtime.memory();
  if (!managed.adopted) {
    const Status adopted =
        memory.adopt(static_cast<std::byte*>(*managed.pointer), managed.size, MemoryKind::kManaged, 0);
    if (adopted != Status::kSuccess) return adopted;
    managed.adopted = true;
  }
  Status status = Status::kSuccess;
  const auto variable = find_variable(state, module, managed.name.c_str(), &status);
  if (!variable) return status;  // the code does not use the variable
  std::byte* bytes = memory.peek(variable->address, sizeof(void*));
  if (bytes == nullptr || variable->size < sizeof(void*)) return Status::kInvalidSymbol;
  std::memcpy(bytes, managed.pointer, sizeof(void*));
  return Status::kSuccess;
}

// The module of a fat binary on a device. Loads the module at the first request.
Status module_of(State& state, FatBinary& code, int device, Module** out) {
  const auto known = code.modules.find(device);
  if (known != code.modules.end()) {
    *out = state.runtime.find_module(known->second);
    return *out != nullptr ? Status::kSuccess : Status::kInvalidImage;
  }
  Status status = load_module(state, code.image, device, out);
  if (status != Status::kSuccess && !code.complained) {
    code.complained = true;
    std::fprintf(stderr, "hgmodel: the program's device code cannot be loaded: %s\n", state.load_error.c_str());
  }
  if (status != Status::kSuccess) return status;
  code.modules.emplace(device, (*out)->id());
  for (Managed& managed : code.managed) {
    if (status = connect(state, **out, managed); status != Status::kSuccess) return status;
  }
  return Status::kSuccess;
}

}  // namespace

const Function* registered_kernel(State& state, const void* host_function, int device, Status* status) {
  Registry& all = registry();
  const hip::sync::LockGuard lock(all.mutex);
  const Symbol* symbol = find(all.functions, host_function);
  *status = Status::kInvalidDeviceFunction;
  if (symbol == nullptr) return nullptr;
  Module* module = nullptr;
  const Status loaded = module_of(state, *symbol->code, device, &module);
  if (loaded != Status::kSuccess) {
    *status = loaded;
    return nullptr;
  }
  const Function* function = module->find(symbol->name);
  if (function != nullptr) all.hosts[function->id()] = host_function;
  return function;
}

const void* host_function_of_kernel(ObjectId function) {
  Registry& all = registry();
  const hip::sync::LockGuard lock(all.mutex);
  const auto found = all.hosts.find(function);
  return found == all.hosts.end() ? nullptr : found->second;
}

const char* registered_name(const void* host_function) {
  Registry& all = registry();
  const hip::sync::LockGuard lock(all.mutex);
  const Symbol* symbol = find(all.functions, host_function);
  return symbol == nullptr ? nullptr : symbol->name.c_str();
}

Status registered_variable(State& state, const void* symbol, DeviceImage::Variable* out) {
  Registry& all = registry();
  const hip::sync::LockGuard lock(all.mutex);
  const Symbol* found = find(all.variables, symbol);
  if (found == nullptr) return Status::kInvalidSymbol;
  Module* module = nullptr;
  const Status loaded = module_of(state, *found->code, state.thread->device, &module);
  if (loaded != Status::kSuccess) return loaded;
  for (const Managed& managed : found->code->managed) {
    if (managed.name != found->name) continue;
    *out = {to_address(*managed.pointer), managed.size};
    return Status::kSuccess;
  }
  Status status = Status::kSuccess;
  const auto variable = find_variable(state, *module, found->name.c_str(), &status);
  if (!variable) return status != Status::kSuccess ? status : Status::kInvalidSymbol;
  return put(out, *variable);
}

// Synchronises first: programs end without waiting for their last kernels, and expect the output of these kernels.
static void finish_and_unload(FatBinary& code) {
  const Entry entry;
  if (entry.state() == nullptr) return;
  State& state = *entry.state();
  static_cast<void>(state.runtime.synchronize_device());  // ~Entry() reports a fault
  for (const auto& [device, id] : code.modules) {
    if (Module* module = state.runtime.find_module(id)) unload_module(state, *module);
  }
}
}  // namespace model::abi

using model::abi::FatBinary;
using model::abi::registry;

extern "C" void** __hipRegisterFatBinary(const void* data) {
  const auto* wrapper = static_cast<const model::abi::FatBinaryWrapper*>(data);
  if (wrapper->magic != model::abi::kFatBinaryMagic) {
    std::fprintf(stderr, "hgmodel: an unknown fat binary was registered and is ignored\n");
    return nullptr;
  }
  auto& all = registry();
  const hip::sync::LockGuard lock(all.mutex);
  all.code.emplace_back();
  all.code.back().image = wrapper->binary;
  return reinterpret_cast<void**>(&all.code.back());
}

extern "C" void __hipRegisterFunction(void** handle, const void* host_function, char*, const char* name, unsigned,
                                      void*, void*, void*, void*, int*) {
  if (handle == nullptr) return;
  auto& all = registry();
  const hip::sync::LockGuard lock(all.mutex);
  all.functions[host_function] = {reinterpret_cast<FatBinary*>(handle), name};
}

extern "C" void __hipRegisterVar(void** handle, void* variable, char*, char* name, int, size_t, int, int) {
  if (handle == nullptr) return;
  auto& all = registry();
  const hip::sync::LockGuard lock(all.mutex);
  all.variables[variable] = {reinterpret_cast<FatBinary*>(handle), name};
}

extern "C" void __hipRegisterManagedVar(void* handle, void** pointer, void* initial, const char* name, size_t size,
                                        unsigned align) {
  if (handle == nullptr) return;
  const std::size_t wanted = std::max<std::size_t>({align, model::kAlignment, sizeof(void*)});
  void* memory = std::aligned_alloc(wanted, (size + wanted - 1) / wanted * wanted);
  if (memory == nullptr) {
    std::fprintf(stderr, "hgmodel: no memory for the managed variable '%s'\n", name);
    std::abort();  // the call returns no status, and the program will use the pointer
  }
  std::memcpy(memory, initial, size);
  *pointer = memory;
  auto& all = registry();
  const hip::sync::LockGuard lock(all.mutex);
  auto* code = static_cast<FatBinary*>(handle);
  code->managed.push_back({pointer, name, size, false});
  all.variables[pointer] = {code, name};
}

// Finishes all work first, unless none of the code was ever used: then there may be no instance, and none is made.
extern "C" void __hipUnregisterFatBinary(void** handle) {
  auto* code = reinterpret_cast<FatBinary*>(handle);
  if (code == nullptr) return;
  if (!code->modules.empty()) model::abi::finish_and_unload(*code);
  auto& all = registry();
  const hip::sync::LockGuard lock(all.mutex);
  std::erase_if(all.functions, [code](const auto& entry) { return entry.second.code == code; });
  std::erase_if(all.variables, [code](const auto& entry) { return entry.second.code == code; });
  // The memory of managed variables stays: the program's own destructors may still look at it.
  all.code.remove_if([code](const FatBinary& one) { return &one == code; });
}
