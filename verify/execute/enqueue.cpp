#include "verify/execute/enqueue.h"

#include "hip/errors.h"
#include "hip/kernel_parameters.h"

namespace verify {

namespace {

hip::Status no_call() {
  return hip::Error{hipErrorNotSupported, "there is no stream function for such a node"};
}

// hipEventRecordExternal and hipEventWaitExternal, which the headers of older releases do not name.
constexpr unsigned kExternal = 1;

// One overload for each type of record.
struct Enqueuer {
  const hip::Api& api;
  hipStream_t stream;

  template <class Function, class... Args>
  static EnqueueResult call(const char* name, Function function, Args... args) {
    const std::optional<hipError_t> code = call_if_there(function, args...);
    if (!code) return {{}, name};
    return {hip::called(*code, name), {}};
  }

  EnqueueResult operator()(hip::KernelRecord& r) const {
    const hip::KernelParameters made(r, r.style);
    const hipKernelNodeParams& p = *made.get();
    void** arguments = r.slots.empty() ? nullptr : p.kernelParams;  // HIP needs no array without arguments
    const auto* symbol = static_cast<const void*>(r.function);
    const bool cooperative = r.attributes.cooperative.value_or(false);
    if (cooperative && r.by_symbol)
      return call("hipLaunchCooperativeKernel", api.hipLaunchCooperativeKernel, symbol, r.grid, r.block, arguments,
                  r.shared_bytes, stream);
    if (cooperative)
      return call("hipModuleLaunchCooperativeKernel", api.hipModuleLaunchCooperativeKernel, r.function, r.grid.x,
                  r.grid.y, r.grid.z, r.block.x, r.block.y, r.block.z, r.shared_bytes, stream, arguments);
    if (r.by_symbol)
      return call("hipLaunchKernel", api.hipLaunchKernel, symbol, r.grid, r.block, arguments,
                  std::size_t{r.shared_bytes}, stream);
    return call("hipModuleLaunchKernel", api.hipModuleLaunchKernel, r.function, r.grid.x, r.grid.y, r.grid.z, r.block.x,
                r.block.y, r.block.z, r.shared_bytes, stream, arguments, p.extra);
  }
  EnqueueResult operator()(hip::CopyRecord& r) const {
    if (!r.linear) return call("hipMemcpy3DAsync", api.hipMemcpy3DAsync, &r.params, stream);
    const auto& [symbol, offset, to, device] = r.symbol;
    const std::size_t bytes = r.params.extent.width;
    if (symbol != nullptr && to)
      return call("hipMemcpyToSymbolAsync", api.hipMemcpyToSymbolAsync, symbol, r.params.srcPtr.ptr, bytes, offset,
                  r.params.kind, stream);
    if (symbol != nullptr)
      return call("hipMemcpyFromSymbolAsync", api.hipMemcpyFromSymbolAsync, r.params.dstPtr.ptr, symbol, bytes, offset,
                  r.params.kind, stream);
    return call("hipMemcpyAsync", api.hipMemcpyAsync, r.params.dstPtr.ptr, r.params.srcPtr.ptr, r.params.extent.width,
                r.params.kind, stream);
  }
  EnqueueResult operator()(hip::MemsetRecord& r) const {
    const hipMemsetParams& p = r.params;
    const auto short_value = static_cast<unsigned short>(p.value);
    const auto value = static_cast<int>(p.value);
    if (p.height == 1) {
      if (p.elementSize == 1) return call("hipMemsetAsync", api.hipMemsetAsync, p.dst, value, p.width, stream);
      if (p.elementSize == 2)
        return call("hipMemsetD16Async", api.hipMemsetD16Async, p.dst, short_value, p.width, stream);
      return call("hipMemsetD32Async", api.hipMemsetD32Async, p.dst, value, p.width, stream);
    }
    if (p.elementSize == 1)
      return call("hipMemset2DAsync", api.hipMemset2DAsync, p.dst, p.pitch, value, p.width, p.height, stream);
    if (p.elementSize == 2)
      return call("hipMemsetD2D16Async", api.hipMemsetD2D16Async, p.dst, p.pitch, short_value, p.width, p.height,
                  stream);
    return call("hipMemsetD2D32Async", api.hipMemsetD2D32Async, p.dst, p.pitch, p.value, p.width, p.height, stream);
  }
  EnqueueResult operator()(hip::HostRecord& r) const {
    return call("hipLaunchHostFunc", api.hipLaunchHostFunc, stream, r.params.fn, r.params.userData);
  }
  EnqueueResult operator()(hip::EventSignalRecord& r) const {
    return call("hipEventRecordWithFlags", api.hipEventRecordWithFlags, r.event, stream, kExternal);
  }
  EnqueueResult operator()(hip::EventWaitRecord& r) const {
    // Releases without hipEventRecordWithFlags do not know the external flag of hipStreamWaitEvent either.
    if (api.hipEventRecordWithFlags == nullptr) return {{}, "hipEventRecordWithFlags"};
    return call("hipStreamWaitEvent", api.hipStreamWaitEvent, stream, r.event, kExternal);
  }
  EnqueueResult operator()(hip::EmptyRecord&) const { return {no_call(), {}}; }
  EnqueueResult operator()(hip::ChildRecord&) const { return {no_call(), {}}; }
  EnqueueResult operator()(hip::OpaqueRecord&) const { return {no_call(), {}}; }
  EnqueueResult operator()(hip::MemoryAllocRecord&) const { return {no_call(), {}}; }
  EnqueueResult operator()(hip::BatchRecord&) const { return {no_call(), {}}; }
  EnqueueResult operator()(hip::SemaphoreRecord&) const { return {no_call(), {}}; }
  EnqueueResult operator()(hip::MemoryFreeRecord&) const { return {no_call(), {}}; }
};

EnqueueResult wait_for_copy(const hip::Api& api, const hip::CopyRecord& r, hipStream_t stream) {
  const auto& [symbol, offset, to, device] = r.symbol;
  const hipMemcpy3DParms& p = r.params;
  const std::size_t bytes = p.extent.width;
  if (!r.linear) return Enqueuer::call("hipMemcpy3D", api.hipMemcpy3D, &p);
  if (symbol != nullptr && to)
    return Enqueuer::call("hipMemcpyToSymbol", api.hipMemcpyToSymbol, symbol, p.srcPtr.ptr, bytes, offset, p.kind);
  if (symbol != nullptr)
    return Enqueuer::call("hipMemcpyFromSymbol", api.hipMemcpyFromSymbol, p.dstPtr.ptr, symbol, bytes, offset, p.kind);
  if (stream == nullptr) return Enqueuer::call("hipMemcpy", api.hipMemcpy, p.dstPtr.ptr, p.srcPtr.ptr, bytes, p.kind);
  return Enqueuer::call("hipMemcpyWithStream", api.hipMemcpyWithStream, p.dstPtr.ptr, p.srcPtr.ptr, bytes, p.kind,
                        stream);
}

EnqueueResult wait_for_memset(const hip::Api& api, const hipMemsetParams& p) {
  const auto short_value = static_cast<unsigned short>(p.value);
  const auto value = static_cast<int>(p.value);
  if (p.height == 1) {
    if (p.elementSize == 1) return Enqueuer::call("hipMemset", api.hipMemset, p.dst, value, p.width);
    if (p.elementSize == 2) return Enqueuer::call("hipMemsetD16", api.hipMemsetD16, p.dst, short_value, p.width);
    return Enqueuer::call("hipMemsetD32", api.hipMemsetD32, p.dst, value, p.width);
  }
  if (p.elementSize == 1)
    return Enqueuer::call("hipMemset2D", api.hipMemset2D, p.dst, p.pitch, value, p.width, p.height);
  if (p.elementSize == 2)
    return Enqueuer::call("hipMemsetD2D16", api.hipMemsetD2D16, p.dst, p.pitch, short_value, p.width, p.height);
  return Enqueuer::call("hipMemsetD2D32", api.hipMemsetD2D32, p.dst, p.pitch, p.value, p.width, p.height);
}

}  // namespace

EnqueueResult run_and_wait(const hip::Api& api, const hip::NodeRecord& record, hipStream_t stream) {
  if (const auto* copy = std::get_if<hip::CopyRecord>(&record)) return wait_for_copy(api, *copy, stream);
  const auto* memset = std::get_if<hip::MemsetRecord>(&record);
  return memset == nullptr ? EnqueueResult{no_call(), {}} : wait_for_memset(api, memset->params);
}

EnqueueResult enqueue(const hip::Api& api, const hip::NodeRecord& record, hipStream_t stream) {
  hip::NodeRecord copy = record;
  return std::visit(Enqueuer{api, stream}, copy);
}

EnqueueResult enqueue_peer(const hip::Api& api, const CopyOfPeers& peers, hipStream_t stream) {
  const hipMemcpy3DParms& p = peers.copy.params;
  if (peers.wait)
    return Enqueuer::call("hipMemcpyPeer", api.hipMemcpyPeer, p.dstPtr.ptr, peers.dst_device, p.srcPtr.ptr,
                          peers.src_device, p.extent.width);
  return Enqueuer::call("hipMemcpyPeerAsync", api.hipMemcpyPeerAsync, p.dstPtr.ptr, peers.dst_device, p.srcPtr.ptr,
                        peers.src_device, p.extent.width, stream);
}

}  // namespace verify
