// Variables of registered code (__device__ int x), libhgmodel.so only. Sources: HIP's header documentation of
// hipMemcpyToSymbol and its neighbours; catch/unit/memory: hipMemcpyToSymbol.cc, hipGetSymbolAddress.cc; for nodes
// catch/unit/graph: hipGraphAddMemcpyNodeToSymbol.cc.
#include "model/abi/convert.h"
#include "model/abi/registration.h"

namespace model::abi {
namespace {

enum class Toward : std::uint8_t { kSymbol, kMemory };

struct SymbolCopy {
  const void* symbol;
  const void* memory;  // the other side
  std::size_t bytes, offset;
  hipMemcpyKind kind;
  Toward toward;
};

// hipMemcpyToSymbol takes memory of the host or of the device, hipMemcpyFromSymbol gives to either.
bool kind_fits(const SymbolCopy& copy) {
  if (copy.kind == hipMemcpyDefault || copy.kind == hipMemcpyDeviceToDevice) return true;
  return copy.kind == (copy.toward == Toward::kSymbol ? hipMemcpyHostToDevice : hipMemcpyDeviceToHost);
}

Status resolve(State& state, const SymbolCopy& copy, CopyParams* out) {
  if (copy.symbol == nullptr) return Status::kInvalidSymbol;
  if (copy.memory == nullptr || copy.bytes == 0) return Status::kInvalidValue;
  if (!kind_fits(copy)) return Status::kInvalidMemcpyDirection;
  DeviceImage::Variable variable;
  const Status found = registered_variable(state, copy.symbol, &variable);
  if (found != Status::kSuccess) return found;
  if (copy.offset > variable.size || copy.bytes > variable.size - copy.offset) return Status::kInvalidValue;
  const Address at = variable.address + copy.offset, other = to_address(copy.memory);
  const bool to = copy.toward == Toward::kSymbol;
  *out = linear_copy(to ? at : other, to ? other : at, copy.bytes, static_cast<CopyKind>(copy.kind));
  return Status::kSuccess;
}

hipError_t copy_now(const SymbolCopy& copy, hipStream_t stream, bool async) {
  CopyParams params;
  if (copy.bytes == 0) return hipSuccess;
  const hipError_t resolved = call([&](State& state) { return resolve(state, copy, &params); });
  if (resolved != hipSuccess) return resolved;
  void* dst = to_pointer(params.dst.base);
  const void* src = to_pointer(params.src.base);
  return async ? hipMemcpyAsync(dst, src, copy.bytes, copy.kind, stream)
               : hipMemcpyWithStream(dst, src, copy.bytes, copy.kind, stream);
}

hipError_t add_node(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, std::size_t count,
                    const SymbolCopy& copy) {
  CopyParams params;
  const hipError_t resolved = call([&](State& state) { return resolve(state, copy, &params); });
  if (resolved != hipSuccess) return resolved;
  return hipGraphAddMemcpyNode1D(node, graph, dependencies, count, to_pointer(params.dst.base),
                                 to_pointer(params.src.base), copy.bytes, copy.kind);
}

hipError_t set_node(hipGraphNode_t node, const SymbolCopy& copy) {
  CopyParams params;
  const hipError_t resolved = call([&](State& state) { return resolve(state, copy, &params); });
  if (resolved != hipSuccess) return resolved;
  return hipGraphMemcpyNodeSetParams1D(node, to_pointer(params.dst.base), to_pointer(params.src.base), copy.bytes,
                                       copy.kind);
}

hipError_t set_exec_node(hipGraphExec_t exec, hipGraphNode_t node, const SymbolCopy& copy) {
  CopyParams params;
  const hipError_t resolved = call([&](State& state) { return resolve(state, copy, &params); });
  if (resolved != hipSuccess) return resolved;
  return hipGraphExecMemcpyNodeSetParams1D(exec, node, to_pointer(params.dst.base), to_pointer(params.src.base),
                                           copy.bytes, copy.kind);
}

}  // namespace
}  // namespace model::abi

using namespace model;
using namespace model::abi;

extern "C" {

hipError_t hipGetSymbolAddress(void** address, const void* symbol) {
  return call([&](State& state) {
    if (address == nullptr) return Status::kInvalidValue;
    DeviceImage::Variable variable;
    const Status found = registered_variable(state, symbol, &variable);
    if (found == Status::kSuccess) *address = to_pointer(variable.address);
    return found;
  });
}

hipError_t hipGetSymbolSize(size_t* size, const void* symbol) {
  return call([&](State& state) {
    if (size == nullptr) return Status::kInvalidValue;
    DeviceImage::Variable variable;
    const Status found = registered_variable(state, symbol, &variable);
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

hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                         size_t dependency_count, const void* symbol, const void* src, size_t bytes,
                                         size_t offset, hipMemcpyKind kind) {
  return add_node(node, graph, dependencies, dependency_count, {symbol, src, bytes, offset, kind, Toward::kSymbol});
}

hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                           size_t dependency_count, void* dst, const void* symbol, size_t bytes,
                                           size_t offset, hipMemcpyKind kind) {
  return add_node(node, graph, dependencies, dependency_count, {symbol, dst, bytes, offset, kind, Toward::kMemory});
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

}  // extern "C"
