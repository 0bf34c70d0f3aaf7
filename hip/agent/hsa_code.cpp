// HSA's functions about code objects, executables and symbols.
#include <cstring>
#include <span>

#include "hip/agent/machine.h"

using agent::Executable;
using agent::Machine;
using agent::pointer_to;
using agent::put;
using agent::Symbol;
using agent::u32;
using agent::u64;

namespace {

// The caller keeps the bytes until the reader is destroyed, as HSA asks: they can be hundreds of megabytes.
struct Reader {
  std::span<const std::byte> bytes;
};

hsa_status_t variable_info(const Symbol& s, hsa_executable_symbol_info_t attribute, void* value) {
  switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
      return put<u64>(value, s.address);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
      return put<u32>(value, static_cast<u32>(s.size));
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION:
      return put<u32>(value, HSA_VARIABLE_ALLOCATION_AGENT);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT:
      return put<u32>(value, HSA_VARIABLE_SEGMENT_GLOBAL);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST:
      return put<bool>(value, false);
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t kernel_info(const Symbol& s, hsa_executable_symbol_info_t attribute, void* value) {
  const gfx942::Kernel& k = *s.kernel;
  switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
      return put<u64>(value, s.address);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
      return put<u32>(value, k.kernarg_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
      return put<u32>(value, 16);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
      return put<u32>(value, k.group_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
      return put<u32>(value, k.private_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
      return put<bool>(value, k.dynamic_stack);
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_executable_symbol_t handle_of(const Symbol& s) {
  return {agent::address_of(&s)};
}

}  // namespace

extern "C" {

hsa_status_t hsa_code_object_reader_create_from_memory(const void* bytes, size_t size,
                                                       hsa_code_object_reader_t* reader) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (bytes == nullptr || size == 0 || reader == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const auto* begin = static_cast<const std::byte*>(bytes);
  reader->handle = agent::address_of(new Reader{{begin, begin + size}});
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t reader) {
  if (reader.handle == 0) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
  delete pointer_to<Reader>(reader.handle);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_create_alt(hsa_profile_t /*profile*/, hsa_default_float_rounding_mode_t /*mode*/,
                                       const char* /*options*/, hsa_executable_t* executable) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (executable == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  executable->handle = agent::address_of(Machine::get().code().create());
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_destroy(hsa_executable_t executable) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return Machine::get().code().destroy(pointer_to<Executable>(executable.handle));
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t handle, hsa_agent_t agent_handle,
                                                   hsa_code_object_reader_t reader, const char* /*options*/,
                                                   hsa_loaded_code_object_t* loaded) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  auto* executable = pointer_to<Executable>(handle.handle);
  if (!machine.code().known(executable)) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (executable->frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
  u32 index = 0;
  if (!machine.agent_of(agent_handle, index) || index == agent::kHostAgent) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (reader.handle == 0) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
  if (machine.must_fail(agent::Call::kCodeObject)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  const hsa_status_t status = machine.code().load(*executable, index, pointer_to<Reader>(reader.handle)->bytes);
  if (status == HSA_STATUS_SUCCESS && loaded != nullptr) loaded->handle = executable->objects.size();
  return status;
}

hsa_status_t hsa_executable_freeze(hsa_executable_t handle, const char* /*options*/) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  auto* executable = pointer_to<Executable>(handle.handle);
  if (!Machine::get().code().known(executable)) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (executable->frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
  executable->frozen = true;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t handle, const char* name, const hsa_agent_t* where,
                                               hsa_executable_symbol_t* symbol) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  auto* executable = pointer_to<Executable>(handle.handle);
  if (!Machine::get().code().known(executable)) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (name == nullptr || symbol == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (const agent::LoadedObject& object : executable->objects) {
    if (where != nullptr && where->handle != Machine::agent_handle(object.agent).handle) continue;
    for (const auto& s : object.symbols) {
      if (s->name != name) continue;
      *symbol = handle_of(*s);
      return HSA_STATUS_SUCCESS;
    }
  }
  return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
}

hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t handle,
                                            hsa_status_t (*callback)(hsa_executable_t, hsa_executable_symbol_t, void*),
                                            void* data) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  auto* executable = pointer_to<Executable>(handle.handle);
  if (!Machine::get().code().known(executable)) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (const agent::LoadedObject& object : executable->objects) {
    for (const auto& s : object.symbols) {
      const hsa_status_t status = callback(handle, handle_of(*s), data);
      if (status != HSA_STATUS_SUCCESS) return status;
    }
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t handle, hsa_executable_symbol_info_t attribute,
                                            void* value) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (handle.handle == 0) return HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const Symbol& s = *pointer_to<Symbol>(handle.handle);
  switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
      return put<u32>(value, s.kind);
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
      return put<u32>(value, static_cast<u32>(s.name.size()));
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
      std::memcpy(value, s.name.data(), s.name.size());
      return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH:
      return put<u32>(value, 0);
    case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
      return put(value, Machine::agent_handle(s.agent));
    case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
      return put<u32>(value, HSA_SYMBOL_LINKAGE_PROGRAM);
    case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
      return put<bool>(value, true);
    default:
      return s.kernel != nullptr ? kernel_info(s, attribute, value) : variable_info(s, attribute, value);
  }
}
}
