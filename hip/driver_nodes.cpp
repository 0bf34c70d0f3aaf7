#include "hip/driver_nodes.h"

#include <cassert>
#include <string>

namespace hip {

namespace {

Error failed(const char* function, hipError_t status) {
  return Error{status, std::string(function) + ": " + status_name(status)};
}

const char* adder_of(const NodeRecord& record) {
  if (std::holds_alternative<CopyRecord>(record)) return "hipDrvGraphAddMemcpyNode";
  if (std::holds_alternative<MemsetRecord>(record)) return "hipDrvGraphAddMemsetNode";
  assert(std::holds_alternative<MemoryFreeRecord>(record));
  return "hipDrvGraphAddMemFreeNode";
}

const char* setter_of(hipGraphExec_t exec, const NodeRecord& record) {
  if (std::holds_alternative<MemsetRecord>(record)) return "hipDrvGraphExecMemsetNodeSetParams";
  return exec != nullptr ? "hipDrvGraphExecMemcpyNodeSetParams" : "hipDrvGraphMemcpyNodeSetParams";
}

}  // namespace

#if HIP_VERSION >= 60200000

namespace {

void* pointer(DeviceAddress address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

struct Ends {
  bool to_host = false, from_host = false, unified = false;
};

Ends ends_of(hipMemcpyKind kind) {
  return {kind == hipMemcpyHostToHost || kind == hipMemcpyDeviceToHost,
          kind == hipMemcpyHostToHost || kind == hipMemcpyHostToDevice, kind == hipMemcpyDefault};
}

HIP_MEMCPY3D driver_params(const hipMemcpy3DParms& copy) {
  const Ends ends = ends_of(copy.kind);
  HIP_MEMCPY3D params{};
  params.dstMemoryType = ends.unified ? hipMemoryTypeUnified : ends.to_host ? hipMemoryTypeHost : hipMemoryTypeDevice;
  params.srcMemoryType = ends.unified ? hipMemoryTypeUnified : ends.from_host ? hipMemoryTypeHost : hipMemoryTypeDevice;
  (ends.to_host ? params.dstHost : params.dstDevice) = copy.dstPtr.ptr;
  if (ends.from_host) {
    params.srcHost = copy.srcPtr.ptr;
  } else {
    params.srcDevice = copy.srcPtr.ptr;
  }
  params.dstPitch = copy.dstPtr.pitch, params.dstHeight = copy.dstPtr.ysize;
  params.srcPitch = copy.srcPtr.pitch, params.srcHeight = copy.srcPtr.ysize;
  params.dstXInBytes = copy.dstPos.x, params.dstY = copy.dstPos.y, params.dstZ = copy.dstPos.z;
  params.srcXInBytes = copy.srcPos.x, params.srcY = copy.srcPos.y, params.srcZ = copy.srcPos.z;
  params.WidthInBytes = copy.extent.width, params.Height = copy.extent.height, params.Depth = copy.extent.depth;
  return params;
}

// Releases before 7 have a struct of the driver's own, with the same members.
template <class Driver>
Driver memset_params(hipError_t (*)(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, std::size_t, const Driver*,
                                    hipCtx_t),
                     const hipMemsetParams& memset) {
  Driver params{};
  params.dst = memset.dst;
  params.elementSize = memset.elementSize;
  params.height = memset.height;
  params.pitch = memset.pitch;
  params.value = memset.value;
  params.width = memset.width;
  return params;
}

Result<hipCtx_t> current_context(const Api& api) {
  if (api.hipCtxGetCurrent == nullptr) return failed("hipCtxGetCurrent", hipErrorNotSupported);
  hipCtx_t context = nullptr;
  const hipError_t status = api.hipCtxGetCurrent(&context);
  if (status != hipSuccess) return failed("hipCtxGetCurrent", status);
  return context;
}

}  // namespace

const char* missing_driver_adder(const Api& api, const NodeRecord& record) {
  const bool there = std::holds_alternative<CopyRecord>(record)     ? api.hipDrvGraphAddMemcpyNode != nullptr
                     : std::holds_alternative<MemsetRecord>(record) ? api.hipDrvGraphAddMemsetNode != nullptr
                                                                    : api.hipDrvGraphAddMemFreeNode != nullptr;
  return there ? nullptr : adder_of(record);
}

const char* missing_driver_setter(const Api& api, hipGraphExec_t exec, const NodeRecord& record) {
  const bool there = std::holds_alternative<MemsetRecord>(record) ? api.hipDrvGraphExecMemsetNodeSetParams != nullptr
                     : exec != nullptr                            ? api.hipDrvGraphExecMemcpyNodeSetParams != nullptr
                                                                  : api.hipDrvGraphMemcpyNodeSetParams != nullptr;
  return there ? nullptr : setter_of(exec, record);
}

Result<hipGraphNode_t> add_driver_node(const Api& api, hipGraph_t graph, NodeRecord& record,
                                       std::span<const hipGraphNode_t> dependencies,
                                       std::span<const DeviceAddress> addresses) {
  if (const char* function = missing_driver_adder(api, record)) return failed(function, hipErrorNotSupported);
  const Result<hipCtx_t> context = current_context(api);
  if (!context) return context.error();
  hipGraphNode_t node = nullptr;
  hipError_t status = hipSuccess;
  if (const auto* copy = std::get_if<CopyRecord>(&record)) {
    const HIP_MEMCPY3D params = driver_params(copy->params);
    status =
        api.hipDrvGraphAddMemcpyNode(&node, graph, dependencies.data(), dependencies.size(), &params, context.value());
  } else if (const auto* memset = std::get_if<MemsetRecord>(&record)) {
    const auto params = memset_params(api.hipDrvGraphAddMemsetNode, memset->params);
    status =
        api.hipDrvGraphAddMemsetNode(&node, graph, dependencies.data(), dependencies.size(), &params, context.value());
  } else {
    // The runtime refuses an address outside of all allocations.
    const hipDeviceptr_t memory = pointer(addresses[std::get<MemoryFreeRecord>(record).buffer]);
    status = api.hipDrvGraphAddMemFreeNode(&node, graph, dependencies.data(), dependencies.size(), memory);
  }
  if (status != hipSuccess) return failed(adder_of(record), status);
  return node;
}

hipError_t call_driver_copy_setter(const Api& api, hipGraphExec_t exec, hipGraphNode_t node,
                                   const hipMemcpy3DParms& copy) {
  const HIP_MEMCPY3D params = driver_params(copy);
  if (exec == nullptr) {
    if (api.hipDrvGraphMemcpyNodeSetParams == nullptr) return hipErrorNotSupported;
    return api.hipDrvGraphMemcpyNodeSetParams(node, &params);
  }
  if (api.hipDrvGraphExecMemcpyNodeSetParams == nullptr) return hipErrorNotSupported;
  const Result<hipCtx_t> context = current_context(api);
  if (!context) return static_cast<hipError_t>(context.error().code);
  return api.hipDrvGraphExecMemcpyNodeSetParams(exec, node, &params, context.value());
}

Status set_driver_node(const Api& api, hipGraphExec_t exec, hipGraphNode_t node, NodeRecord& record) {
  const char* function = setter_of(exec, record);
  if (const auto* copy = std::get_if<CopyRecord>(&record)) {
    const hipError_t status = call_driver_copy_setter(api, exec, node, copy->params);
    if (status != hipSuccess) return failed(function, status);
    return {};
  }
  assert(exec != nullptr);
  if (missing_driver_setter(api, exec, record) != nullptr) return failed(function, hipErrorNotSupported);
  const Result<hipCtx_t> context = current_context(api);
  if (!context) return context.error();
  const auto params = memset_params(api.hipDrvGraphAddMemsetNode, std::get<MemsetRecord>(record).params);
  const hipError_t status = api.hipDrvGraphExecMemsetNodeSetParams(exec, node, &params, context.value());
  if (status != hipSuccess) return failed(function, status);
  return {};
}

#else  // these headers lack some of the functions: none is used

const char* missing_driver_adder(const Api&, const NodeRecord& record) {
  return adder_of(record);
}

const char* missing_driver_setter(const Api&, hipGraphExec_t exec, const NodeRecord& record) {
  return setter_of(exec, record);
}

Result<hipGraphNode_t> add_driver_node(const Api&, hipGraph_t, NodeRecord& record, std::span<const hipGraphNode_t>,
                                       std::span<const DeviceAddress>) {
  return failed(adder_of(record), hipErrorNotSupported);
}

hipError_t call_driver_copy_setter(const Api&, hipGraphExec_t, hipGraphNode_t, const hipMemcpy3DParms&) {
  return hipErrorNotSupported;
}

Status set_driver_node(const Api&, hipGraphExec_t exec, hipGraphNode_t, NodeRecord& record) {
  return failed(setter_of(exec, record), hipErrorNotSupported);
}

#endif

}  // namespace hip
