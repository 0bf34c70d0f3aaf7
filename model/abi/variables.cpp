// Variables of device code (__device__ int x). A program registers them (libhgmodel.so), or the owner of the instance
// adds them (InProcess::add_variable). Sources: HIP's header documentation of hipMemcpyToSymbol and its
// neighbours; catch/unit/memory: hipMemcpyToSymbol.cc, hipGetSymbolAddress.cc; for nodes catch/unit/graph:
// hipGraphAddMemcpyNodeToSymbol.cc, hipGraphMemcpyNodeSetParamsToSymbol.cc.
#include "model/abi/node_place.h"

namespace model::abi {
namespace {

enum class Toward : std::uint8_t { kSymbol, kMemory };

struct SymbolCopy {
  const void* symbol;
  const void* memory;  // the other side of the copy
  std::size_t bytes, offset;
  hipMemcpyKind kind;
  Toward toward;
};

// hipMemcpyToSymbol takes memory of the host or of the device, hipMemcpyFromSymbol gives to either.
bool kind_fits(const SymbolCopy& copy) {
  if (copy.kind == hipMemcpyDefault || copy.kind == hipMemcpyDeviceToDevice) return true;
  return copy.kind == (copy.toward == Toward::kSymbol ? hipMemcpyHostToDevice : hipMemcpyDeviceToHost);
}

Status find_symbol(State& state, const void* symbol, DeviceImage::Variable* out) {
  if (state.variable_of_symbol != nullptr) return state.variable_of_symbol(state, symbol, out);
  const auto found = state.variables.find(symbol);
  if (found == state.variables.end()) return Status::kInvalidSymbol;
  DeviceImage::Variable& variable = found->second;
  // The memory is allocated at the first request, as for the variables of a program's own code.
  if (variable.address == 0) {
    const Status status = state.runtime.memory().allocate(variable.size, MemoryKind::kDevice, 0, &variable.address);
    if (status != Status::kSuccess) return status;
  }
  return put(out, variable);
}

Status from_hip(State& state, const SymbolCopy* given, CopyParams* out) {
  const SymbolCopy& copy = *given;
  if (copy.symbol == nullptr) return Status::kInvalidSymbol;
  if (copy.memory == nullptr || copy.bytes == 0) return Status::kInvalidValue;
  if (!kind_fits(copy)) return Status::kInvalidMemcpyDirection;
  DeviceImage::Variable variable;
  const Status found = find_symbol(state, copy.symbol, &variable);
  if (found != Status::kSuccess) return found;
  if (copy.offset > variable.size || copy.bytes > variable.size - copy.offset) return Status::kInvalidValue;
  const Address at = variable.address + copy.offset, other = to_address(copy.memory);
  const bool to = copy.toward == Toward::kSymbol;
  return put(out, linear_copy(to ? at : other, to ? other : at, copy.bytes, static_cast<CopyKind>(copy.kind)));
}

hipError_t copy_now(const SymbolCopy& copy, hipStream_t stream, bool async) {
  return call([&](State& state) {
    CopyParams params;
    if (copy.bytes == 0) return Status::kSuccess;
    const Status resolved = from_hip(state, &copy, &params);
    return resolved == Status::kSuccess ? copy_on_stream(state, params, stream, async) : resolved;
  });
}

hipError_t add_node(const Where& where, const SymbolCopy& copy) {
  return call([&](State& state) {
    if (where.count > 0 && where.dependencies == nullptr) return Status::kInvalidValue;
    return convert_and_add<CopyParams>(state, where, &copy);
  });
}

hipError_t set_node(hipGraphNode_t node, const SymbolCopy& copy) {
  return call([&](State& state) { return convert_and_set<CopyParams>(state, node, &copy); });
}

hipError_t set_exec_node(hipGraphExec_t exec, hipGraphNode_t node, const SymbolCopy& copy) {
  return call([&](State& state) { return convert_and_set<CopyParams>(state, exec, node, &copy); });
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipGetSymbolAddress(void** address, const void* symbol) {
  return call([&](State& state) {
    if (address == nullptr) return Status::kInvalidValue;
    DeviceImage::Variable variable;
    const Status found = find_symbol(state, symbol, &variable);
    if (found == Status::kSuccess) *address = to_pointer(variable.address);
    return found;
  });
}

hipError_t hipGetSymbolSize(size_t* size, const void* symbol) {
  return call([&](State& state) {
    if (size == nullptr) return Status::kInvalidValue;
    DeviceImage::Variable variable;
    const Status found = find_symbol(state, symbol, &variable);
    if (found == Status::kSuccess) *size = variable.size;
    return found;
  });
}

hipError_t hipMemcpyToSymbol(const void* symbol, const void* src, size_t bytes, size_t offset, hipMemcpyKind kind) {
  return copy_now({symbol, src, bytes, offset, kind, Toward::kSymbol}, nullptr, false);
}

hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* src, size_t bytes, size_t offset, hipMemcpyKind kind,
                                  hipStream_t stream) {
  return copy_now({symbol, src, bytes, offset, kind, Toward::kSymbol}, stream, true);
}

hipError_t hipMemcpyFromSymbol(void* dst, const void* symbol, size_t bytes, size_t offset, hipMemcpyKind kind) {
  return copy_now({symbol, dst, bytes, offset, kind, Toward::kMemory}, nullptr, false);
}

hipError_t hipMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t bytes, size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream) {
  return copy_now({symbol, dst, bytes, offset, kind, Toward::kMemory}, stream, true);
}

#ifdef HGMODEL_SHARED
hipError_t hipMemcpyToSymbol_spt(const void* symbol, const void* src, size_t bytes, size_t offset, hipMemcpyKind kind) {
  return copy_now({symbol, src, bytes, offset, kind, Toward::kSymbol}, hipStreamPerThread, false);
}

hipError_t hipMemcpyFromSymbol_spt(void* dst, const void* symbol, size_t bytes, size_t offset, hipMemcpyKind kind) {
  return copy_now({symbol, dst, bytes, offset, kind, Toward::kMemory}, hipStreamPerThread, false);
}

hipError_t hipMemcpyToSymbolAsync_spt(const void* symbol, const void* src, size_t bytes, size_t offset,
                                      hipMemcpyKind kind, hipStream_t stream) {
  return copy_now({symbol, src, bytes, offset, kind, Toward::kSymbol}, stream ? stream : hipStreamPerThread, true);
}

hipError_t hipMemcpyFromSymbolAsync_spt(void* dst, const void* symbol, size_t bytes, size_t offset, hipMemcpyKind kind,
                                        hipStream_t stream) {
  return copy_now({symbol, dst, bytes, offset, kind, Toward::kMemory}, stream ? stream : hipStreamPerThread, true);
}
#endif

hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                         size_t dependency_count, const void* symbol, const void* src, size_t bytes,
                                         size_t offset, hipMemcpyKind kind) {
  return add_node({node, graph, dependencies, dependency_count}, {symbol, src, bytes, offset, kind, Toward::kSymbol});
}

hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                           size_t dependency_count, void* dst, const void* symbol, size_t bytes,
                                           size_t offset, hipMemcpyKind kind) {
  return add_node({node, graph, dependencies, dependency_count}, {symbol, dst, bytes, offset, kind, Toward::kMemory});
}

hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, const void* symbol, const void* src, size_t bytes,
                                               size_t offset, hipMemcpyKind kind) {
  return set_node(node, {symbol, src, bytes, offset, kind, Toward::kSymbol});
}

hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void* dst, const void* symbol, size_t bytes,
                                                 size_t offset, hipMemcpyKind kind) {
  return set_node(node, {symbol, dst, bytes, offset, kind, Toward::kMemory});
}

hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t exec, hipGraphNode_t node, const void* symbol,
                                                   const void* src, size_t bytes, size_t offset, hipMemcpyKind kind) {
  return set_exec_node(exec, node, {symbol, src, bytes, offset, kind, Toward::kSymbol});
}

hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t exec, hipGraphNode_t node, void* dst,
                                                     const void* symbol, size_t bytes, size_t offset,
                                                     hipMemcpyKind kind) {
  return set_exec_node(exec, node, {symbol, dst, bytes, offset, kind, Toward::kMemory});
}

HGMODEL_FUNCTIONS_END
