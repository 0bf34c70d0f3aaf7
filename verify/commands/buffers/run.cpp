// How commands about buffers run.
#include "verify/execute/quirk_context.h"
#include "verify/run/run_command.h"

namespace verify {

namespace {

// The function, or the variables of device code, that the buffer needs and the runtime lacks; or null.
const char* lacking_for(const Run& run, const DeclareBuffer& c) {
  const hip::Api& api = run.context.api;
  if (c.module || c.variable) return api.hipModuleGetGlobal == nullptr ? "hipModuleGetGlobal" : nullptr;
  if (c.symbol && run.platform.symbol(*c.symbol) == nullptr) return "variables of device code";
  if (c.symbol && (api.hipGetSymbolAddress == nullptr || api.hipGetSymbolSize == nullptr)) return "hipGetSymbolAddress";
  if (c.memory == MemoryKind::kRegistered && api.hipHostRegister == nullptr) return "hipHostRegister";
  return c.memory == MemoryKind::kManaged && api.hipMallocManaged == nullptr ? "hipMallocManaged" : nullptr;
}

hip::Status declare_variable(Run& run, const DeclareBuffer& c, const std::string& name, Id module, hipModule_t loaded) {
  if (loaded == nullptr) return missing_object();
  hip::Status status = run.memory.declare_variable(c.buffer, c.bytes, name, module, loaded);
  // A model without an interpreter of device code has no variables of modules.
  const bool lacks = !status && status.error().code == hipErrorNotSupported;
  return lacks ? run.unsupported("variables of modules") : status;
}

// Whether a strategy may be told the kind of the buffer's memory. Systems that write to host memory take for granted
// that the process reaches it at its address; a model that is laid out like another runtime has addresses of its own.
bool is_known_kind(const Run& run, const DeclareBuffer& c) {
  if (c.memory == MemoryKind::kDevice) return true;
  const hip::DeviceAddress address = run.memory.address(c.buffer);
  return run.platform.host_view(address, c.bytes) == reinterpret_cast<std::byte*>(address);
}

}  // namespace

template <>
hip::Status run_command(Run& run, const DeclareBuffer& c) {
  if (const char* lacking = lacking_for(run, c)) {
    run.observation.unsupported = lacking;
    return missing_object();
  }
  run.context.buffer_bytes[c.buffer] = c.bytes;
  run.context.buffer_devices[c.buffer] = c.device;
  // Releases treat a variable of device code differently from allocated device memory.
  if (c.variable) {
    const auto& [object, name] = *c.variable;
    return declare_variable(run, c, name, BufferMemory::kOfCodeObject, run.records.code_objects().module(*object, 0));
  }
  if (c.module) {
    hip::Status status = declare_variable(run, c, variable_name(*c.symbol), *c.module, run.records.module(*c.module));
    return status ? run.memory.write(c.buffer, 0) : status;
  }
  if (c.symbol) return run.memory.declare_symbol(c.buffer, c.bytes, *c.symbol);
  hip::Status declared = run.memory.declare(c.buffer, c.bytes, c.memory, c.device);
  if (declared && is_known_kind(run, c)) run.context.memory[c.buffer] = buffer_memory(c.memory);
  return declared;
}

template <>
hip::Status run_command(Run& run, const MoveBuffers& c) {
  return run.memory.move(c.moves);
}

template <>
hip::Status run_command(Run& run, const Read& c) {
  BytesSeen seen{run.step, c.buffer, {}};
  run.graph_memory.show_live();
  hip::Status status = run.memory.read(c.buffer, seen.bytes);
  if (status) run.check_visibility(seen);
  run.observation.reads.push_back(std::move(seen));
  return status;
}

template <>
hip::Status run_command(Run& run, const Write& c) {
  return run.memory.write(c.buffer, c.seed, c.offset, c.data);
}

// Memory that a stream or a graph allocated is freed by the program's own hipFree.
template <>
hip::Status run_command(Run& run, const Free& c) {
  if (run.stream_memory.has(c.buffer)) return run.stream_memory.free(c.buffer);
  return run.graph_memory.has(c.buffer) ? run.graph_memory.free(c.buffer) : run.memory.release(c.buffer);
}

template struct FamilyRun<BuffersCommands>;

}  // namespace verify
