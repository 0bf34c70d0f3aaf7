#include "hip/recorder/kernels.h"

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "hip/code_object/code_object.h"
#include "hip/recorder/host_memory.h"
#include "hip/sync/sync.h"

namespace hip::recorder {

namespace {

constexpr std::size_t kSmallestImage = 64;  // an ELF header

struct CodeObject {
  std::string hash = "-";  // of the gfx942 code object; "-" if none was found
  std::map<std::string, code_object::KernelMetadata> kernels;
};
struct Kernel {
  std::string name;
  const CodeObject* object = nullptr;
  const void* module = nullptr;  // that it was asked of; compiled-in kernels have none
};
using Said = std::map<const void*, pid_t>;  // addresses of a variable -> the process whose log has it there
struct Variable {
  std::string name;
  std::size_t bytes = 0;
  const CodeObject* object = nullptr;
  Said said{};
};

// Never destroyed: programs call HIP while they end.
struct Known {
  hip::sync::Mutex mutex;
  std::map<std::string, CodeObject> objects;
  std::map<const void*, const CodeObject*> modules;  // by module, or by handle of a registered binary
  std::map<const void*, Kernel> functions;
  std::map<const void*, Variable> symbols;
  std::map<const void*, std::map<std::string, Said>> variables;  // of modules, by module and name
};
Known& known() {
  static Known& instance = *new Known();
  return instance;
}

std::string hex(std::uint64_t value) {
  std::string text(16, '0');
  for (std::size_t i = 16; value != 0; value >>= 4) text[--i] = "0123456789abcdef"[value & 15];
  return text;
}

// Returns the hash of the code object.
std::string learn(const void* handle, const void* image) {
  const hip::sync::LockGuard lock(known().mutex);
  const Result<std::span<const std::byte>> elf = code_object::find_code_object(image);
  const std::string hash = elf ? hex(hash_of(elf.value())) : "-";
  const auto [place, fresh] = known().objects.try_emplace(hash);
  known().modules[handle] = &place->second;
  if (!fresh || !elf) return hash;
  place->second.hash = hash;
  keep_file("code." + hash, elf.value());
  Result<std::vector<code_object::KernelMetadata>> kernels = code_object::read_kernels(elf.value());
  if (!kernels) return hash;
  for (code_object::KernelMetadata& kernel : kernels.value()) {
    std::string name = kernel.name;
    place->second.kernels[std::move(name)] = std::move(kernel);
  }
  return hash;
}

// Null for a binary or module that was not seen.
const CodeObject* object_of(const void* handle) {
  const auto found = known().modules.find(handle);
  return found == known().modules.end() ? nullptr : found->second;
}

void name_function(const void* function, const void* handle, const char* name, const void* of_module) {
  const hip::sync::LockGuard lock(known().mutex);
  known().functions[function] = {name, object_of(handle), of_module};
}

// Says a variable once for each address. `said`: of that variable.
void say_variable(const void* address, const Variable& variable, const void* module, Said& said) {
  const pid_t process = getpid();
  if (std::exchange(said[address], process) == process) return;
  Line line("variable");
  line.address(address).number(variable.bytes).word(variable.name);
  line.word(variable.object == nullptr ? "" : variable.object->hash).address(module);
}

// The packed arguments of `extra`, or nothing.
const char* packed(void** extra) {
  for (std::size_t i = 0; extra != nullptr && extra[i] != HIP_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_POINTER) return static_cast<const char*>(extra[i + 1]);
  }
  return nullptr;
}

// The metadata that says where the values are, or null.
const code_object::KernelMetadata* metadata_of(const Kernel& kernel, void** params, void** extra) {
  if (kernel.object == nullptr || (params == nullptr && packed(extra) == nullptr)) return nullptr;
  const auto found = kernel.object->kernels.find(kernel.name);
  return found == kernel.object->kernels.end() ? nullptr : &found->second;
}

// Calls `take` for each argument that is not hidden, with its value.
template <class Take>
void each_argument(const code_object::KernelMetadata& metadata, void** params, void** extra, const Take& take) {
  std::size_t index = 0;
  for (const code_object::Argument& argument : metadata.arguments) {
    if (argument.kind == code_object::ArgumentKind::kHidden) continue;
    take(argument, params != nullptr ? static_cast<const char*>(params[index++]) : packed(extra) + argument.offset);
  }
}

}  // namespace

void hold_kernels() {
  known().mutex.lock();
}
void let_go_of_kernels() {
  known().mutex.unlock();
}

void module_loaded(hipModule_t module, const void* image) {
  Line("module").address(module).word(learn(module, image));
}
void module_file_loaded(hipModule_t module, const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string image((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (image.size() >= kSmallestImage) module_loaded(module, image.data());
}
void module_ends(hipModule_t module) {
  const hip::sync::LockGuard lock(known().mutex);
  known().variables.erase(module);
}
void function_found(hipFunction_t function, hipModule_t module, const char* name) {
  name_function(function, module, name, module);
}
void binary_registered(void** handle, const void* wrapper) {
  struct Wrapper {
    std::uint32_t magic, version;
    const void* binary;
    const void* unused;
  };
  learn(handle, static_cast<const Wrapper*>(wrapper)->binary);
}
void function_registered(void** handle, const void* host_function, const char* name) {
  name_function(host_function, handle, name, nullptr);
}

void variable_registered(void** handle, const void* symbol, const char* name, std::size_t bytes) {
  const hip::sync::LockGuard lock(known().mutex);
  known().symbols[symbol] = {name, bytes, object_of(handle)};
}
void variable_found(const void* address, std::size_t bytes, hipModule_t module, const char* name) {
  const hip::sync::LockGuard lock(known().mutex);
  say_variable(address, {name, bytes, object_of(module)}, module, known().variables[module][name]);
}
void symbol_found(const void* address, const void* symbol) {
  const hip::sync::LockGuard lock(known().mutex);
  const auto found = known().symbols.find(symbol);
  if (found != known().symbols.end()) say_variable(address, found->second, nullptr, found->second.said);
}
void* symbol_at(const void* symbol, std::size_t offset) {
  symbol_found(symbol, symbol);
  return const_cast<char*>(static_cast<const char*>(symbol)) + offset;
}

void describe_kernel(Line& line, const void* function, void** params, void** extra) {
  const hip::sync::LockGuard lock(known().mutex);
  const auto found = known().functions.find(function);
  if (found == known().functions.end()) {
    line.word("").word("").number(0).word("unknown");
    return;
  }
  const Kernel& kernel = found->second;
  line.word(kernel.name).word(kernel.object == nullptr ? "" : kernel.object->hash).address(kernel.module);
  const code_object::KernelMetadata* const metadata = metadata_of(kernel, params, extra);
  line.word(metadata == nullptr ? "unknown" : params != nullptr ? "params" : "extra");
  if (metadata == nullptr) return;
  each_argument(*metadata, params, extra, [&line](const code_object::Argument& argument, const char* value) {
    line.number(argument.offset).word(argument.kind == code_object::ArgumentKind::kPointer ? "pointer" : "value");
    line.data(value, argument.size);
  });
}

void kernel_may_write(const void* function, void** params, void** extra) {
  const hip::sync::LockGuard lock(known().mutex);
  const auto found = known().functions.find(function);
  const code_object::KernelMetadata* const metadata =
      found == known().functions.end() ? nullptr : metadata_of(found->second, params, extra);
  if (metadata == nullptr) return device_may_write_anywhere();
  each_argument(*metadata, params, extra, [](const code_object::Argument& argument, const char* value) {
    const void* target = nullptr;
    for (std::size_t at = 0; at + sizeof target <= argument.size; at += sizeof target) {
      std::memcpy(&target, value + at, sizeof target);
      device_may_write(target);
    }
  });
}

}  // namespace hip::recorder
