// libhgrecorder.so: preloaded into a HIP program, it logs the program's HIP calls and does nothing else.
//
// For every function of hip/api/functions.inc there is a function here under its name. It calls HIP's function with the
// same arguments, returns the same result, and writes a line (log.h) about the call if HIP accepted it. The end of an
// object is logged before the call and its begin after the call, so that in the log an address is freed before it is
// used again. Calls that HIP's library makes to its own functions are not logged. If there is no line for a function,
// its first call is logged as "other", unless the function only queries. The functions that HIP exports and that table
// lacks are in others.cpp.
//
// It adds no call to HIP, no thread, no handler, and holds no lock during a call. Its cost is in docs/recorder.md.
// Not seen: functions that the program looks up by itself (dlsym, hipGetProcAddress).
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>

#include <optional>

#include "hip/api/api.h"
#include "hip/recorder/calls.h"
#include "hip/recorder/host_memory.h"
#include "hip/recorder/kernels.h"
#include "hip/recorder/log.h"
#include "hip/recorder/words.h"
#include "hip/sync/sync.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace hip::recorder {

namespace {

// ---- the actions for each function; Tag names it. before(): before the call. after(): after a call that HIP accepted.

// TAG and EXPORTED expand a name that HIP's header renames: the runtime exports the function under the new name.
#define TAG(name)                               \
  struct Tag_##name {                           \
    static constexpr const char* kName = #name; \
  };
#define HIP_FUNCTION(name, ...) TAG(name)
#include "hip/api/functions.inc"
#undef HIP_FUNCTION

template <class Tag, class... A>
void before(Tag, const A&...) {}
template <class Tag, class... A>
void after(Tag, const A&...) {
  static hip::sync::Atomic<bool> said{false};
  if (!only_asks(Tag::kName) && !said.exchange(true)) Line("other").word(Tag::kName);
}

#define BEFORE(name, ...) void before(Tag_##name __VA_OPT__(, ) __VA_ARGS__)
#define AFTER(name, ...) void after(Tag_##name __VA_OPT__(, ) __VA_ARGS__)
// The same for functions whose action is one statement: one row for each function.
#define BEFORE_IS(name, statement, ...)     \
  BEFORE(name __VA_OPT__(, ) __VA_ARGS__) { \
    statement;                              \
  }
#define AFTER_IS(name, statement, ...)     \
  AFTER(name __VA_OPT__(, ) __VA_ARGS__) { \
    statement;                             \
  }

// memory
void begins(const char* kind, const void* address, std::size_t bytes) {
  if (address == nullptr) return;
  Line("alloc").word(kind).address(address).number(bytes);
  if (std::string_view(kind) != "device") host_range_begins(address, bytes);
}
void ends(const void* address) {
  if (address == nullptr) return;
  host_range_ends(address);
  Line("free").address(address);
}
AFTER_IS(hipMalloc, begins("device", *p, n), void** p, size_t n)
// What it becomes depends on whether the stream captures.
void begins_async(const void* address, std::size_t bytes, hipStream_t stream) {
  Line("alloc").word("async").address(address).number(bytes).address(stream);
}
AFTER_IS(hipMallocAsync, begins_async(*p, n, t), void** p, size_t n, hipStream_t t)
AFTER_IS(hipMallocFromPoolAsync, begins_async(*p, n, t), void** p, size_t n, hipMemPool_t, hipStream_t t)
AFTER_IS(hipHostMalloc, begins("pinned", *p, n), void** p, size_t n, unsigned)
AFTER_IS(hipHostAlloc, begins("pinned", *p, n), void** p, size_t n, unsigned)
AFTER_IS(hipMallocHost, begins("pinned", *p, n), void** p, size_t n)
AFTER_IS(hipMemAllocHost, begins("pinned", *p, n), void** p, size_t n)
AFTER_IS(hipMallocManaged, begins("managed", *p, n), void** p, size_t n, unsigned)
AFTER_IS(hipHostRegister, begins("registered", p, n), void* p, size_t n, unsigned)
BEFORE_IS(hipFree, ends(p), void* p)
AFTER(hipFree, void*) {}
BEFORE(hipFreeAsync, void* p, hipStream_t t) {
  if (p != nullptr) Line("freeasync").address(p).address(t);
}
AFTER(hipFreeAsync, void*, hipStream_t) {}
BEFORE_IS(hipHostFree, ends(p), void* p)
AFTER(hipHostFree, void*) {}
BEFORE_IS(hipFreeHost, ends(p), void* p)
AFTER(hipFreeHost, void*) {}
BEFORE_IS(hipHostUnregister, ends(p), void* p)
AFTER(hipHostUnregister, void*) {}

// copies that the host waits for
void copied(void* dst, const void* src, std::size_t bytes, hipMemcpyKind kind, hipStream_t stream = nullptr) {
  Line line("copied");
  line.address(dst).address(src).number(bytes).number(static_cast<std::uint64_t>(kind)).address(stream);
  const bool from_host = kind == hipMemcpyHostToDevice || kind == hipMemcpyHostToHost;
  const bool to_host = kind == hipMemcpyDeviceToHost;
  if (from_host) line.data(src, bytes);
  if (to_host) line.number(hash_of({static_cast<const std::byte*>(dst), bytes}));
}
BEFORE_IS(hipMemcpy, write_changes(), void*, const void*, size_t, hipMemcpyKind)
AFTER_IS(hipMemcpy, copied(d, s, n, k), void* d, const void* s, size_t n, hipMemcpyKind k)
BEFORE_IS(hipMemcpyWithStream, write_changes(), void*, const void*, size_t, hipMemcpyKind, hipStream_t)
AFTER_IS(hipMemcpyWithStream, copied(d, s, n, k, t), void* d, const void* s, size_t n, hipMemcpyKind k, hipStream_t t)
AFTER_IS(hipMemcpyHtoD, copied(d, s, n, hipMemcpyHostToDevice), hipDeviceptr_t d, const void* s, size_t n)
AFTER_IS(hipMemcpyDtoH, copied(d, s, n, hipMemcpyDeviceToHost), void* d, hipDeviceptr_t s, size_t n)
AFTER_IS(hipMemcpyDtoD, copied(d, s, n, hipMemcpyDeviceToDevice), hipDeviceptr_t d, hipDeviceptr_t s, size_t n)

// work given to a stream
struct Work {
  explicit Work(hipStream_t stream) : line("work") { stream_word(line, stream); }
  Line line;
};
void copy_later(void* d, const void* s, size_t n, hipMemcpyKind k, hipStream_t stream) {
  Work work(stream);
  copy_words(work.line, d, s, n, k);
}
BEFORE(hipMemcpyAsync, void* d, const void* s, size_t n, hipMemcpyKind k, hipStream_t) {
  adopt_ends(d, s, n, k);
  write_changes();
}
AFTER_IS(hipMemcpyAsync, copy_later(d, s, n, k, t), void* d, const void* s, size_t n, hipMemcpyKind k, hipStream_t t)
BEFORE(hipMemcpyHtoDAsync, hipDeviceptr_t, const void* s, size_t n, hipStream_t) {
  adopt(s, n);
  write_changes();
}
AFTER_IS(hipMemcpyHtoDAsync, copy_later(d, s, n, hipMemcpyHostToDevice, t), hipDeviceptr_t d, const void* s, size_t n,
         hipStream_t t)
BEFORE_IS(hipMemcpyDtoHAsync, adopt(d, n), void* d, hipDeviceptr_t, size_t n, hipStream_t)
AFTER_IS(hipMemcpyDtoHAsync, copy_later(d, s, n, hipMemcpyDeviceToHost, t), void* d, hipDeviceptr_t s, size_t n,
         hipStream_t t)
AFTER_IS(hipMemcpyDtoDAsync, copy_later(d, s, n, hipMemcpyDeviceToDevice, t), hipDeviceptr_t d, hipDeviceptr_t s,
         size_t n, hipStream_t t)
BEFORE(hipMemcpy3DAsync, const hipMemcpy3DParms* p, hipStream_t) {
  adopt_ends(p);
  write_changes();
}
AFTER(hipMemcpy3DAsync, const hipMemcpy3DParms* p, hipStream_t t) {
  Work work(t);
  copy_words(work.line, *p);
}
void filled(hipStream_t t, const void* d, std::uint64_t v, unsigned e, size_t w, size_t h = 1, size_t pitch = 0) {
  Work work(t);
  fill_words(work.line, d, v, e, w, h, h > 1 ? pitch : 0);
}
std::uint64_t byte(int value) {
  return static_cast<unsigned char>(value);
}
void filled_at_once(const void* d, std::uint64_t v, unsigned e, size_t w, size_t h = 1, size_t pitch = 0) {
  Work work(nullptr);
  fill_words(work.line, d, v, e, w, h, h > 1 ? pitch : 0);
  work.line.word("wait");
}
AFTER_IS(hipMemset, filled_at_once(d, byte(v), 1, n), void* d, int v, size_t n)
AFTER_IS(hipMemset2D, filled_at_once(d, byte(v), 1, w, h, p), void* d, size_t p, int v, size_t w, size_t h)
AFTER_IS(hipMemsetAsync, filled(t, d, byte(v), 1, n), void* d, int v, size_t n, hipStream_t t)
AFTER_IS(hipMemset2DAsync, filled(t, d, byte(v), 1, w, h, p), void* d, size_t p, int v, size_t w, size_t h,
         hipStream_t t)
AFTER_IS(hipMemsetD8, filled_at_once(d, v, 1, n), hipDeviceptr_t d, unsigned char v, size_t n)
AFTER_IS(hipMemsetD16, filled_at_once(d, v, 2, n), hipDeviceptr_t d, unsigned short v, size_t n)
AFTER_IS(hipMemsetD32, filled_at_once(d, static_cast<unsigned>(v), 4, n), hipDeviceptr_t d, int v, size_t n)
AFTER_IS(hipMemsetD8Async, filled(t, d, v, 1, n), hipDeviceptr_t d, unsigned char v, size_t n, hipStream_t t)
AFTER_IS(hipMemsetD16Async, filled(t, d, v, 2, n), hipDeviceptr_t d, unsigned short v, size_t n, hipStream_t t)
AFTER_IS(hipMemsetD32Async, filled(t, d, static_cast<unsigned>(v), 4, n), hipDeviceptr_t d, int v, size_t n,
         hipStream_t t)

// modules and launches
AFTER_IS(hipModuleLoadData, module_loaded(*m, image), hipModule_t* m, const void* image)
AFTER_IS(hipModuleLoadDataEx, module_loaded(*m, image), hipModule_t* m, const void* image, unsigned, hipJitOption*,
         void**)
AFTER_IS(hipModuleLoad, module_file_loaded(*m, path), hipModule_t* m, const char* path)
AFTER_IS(hipModuleUnload, Line("unload").address(m), hipModule_t m)
AFTER_IS(hipModuleGetFunction, function_found(*f, m, name), hipFunction_t* f, hipModule_t m, const char* name)
BEFORE_IS(hipModuleLaunchKernel, write_changes(), hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
          unsigned, unsigned, hipStream_t, void**, void**)
AFTER(hipModuleLaunchKernel, hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
      unsigned bz, unsigned shared, hipStream_t t, void** params, void** extra) {
  Work work(t);
  launch_words(work.line, f, dim3(gx, gy, gz), dim3(bx, by, bz), shared, params, extra);
}
BEFORE_IS(hipLaunchKernel, write_changes(), const void*, dim3, dim3, void**, size_t, hipStream_t)
AFTER(hipLaunchKernel, const void* f, dim3 g, dim3 b, void** params, size_t shared, hipStream_t t) {
  Work work(t);
  launch_words(work.line, f, g, b, shared, params, nullptr);
}
AFTER(hipLaunchHostFunc, hipStream_t t, hipHostFn_t f, void*) {
  Work work(t);
  host_words(work.line, reinterpret_cast<const void*>(f));
}

AFTER(hipSetDevice, int device) {
  if (device != 0) Line("lost").word("the-device:-everything-is-taken-to-be-of-device-0");
}

// streams and events
AFTER_IS(hipStreamCreate, Line("stream").address(*s).number(0).number(0), hipStream_t* s)
AFTER_IS(hipStreamCreateWithFlags, Line("stream").address(*s).number(flags).number(0), hipStream_t* s, unsigned flags)
AFTER_IS(
    hipStreamCreateWithPriority,
    Line("stream").address(*s).number(flags).number(static_cast<std::uint64_t>(static_cast<std::int64_t>(priority))),
    hipStream_t* s, unsigned flags, int priority)
BEFORE_IS(hipStreamDestroy, Line("gone").word("stream").address(s), hipStream_t s)
AFTER_IS(hipStreamDestroy, device_waited_for(), hipStream_t)
AFTER(hipStreamSynchronize, hipStream_t s) {
  device_waited_for();
  Line("sync").word("stream").address(s);
}
AFTER(hipDeviceSynchronize) {
  device_waited_for();
  Line("sync").word("device").number(0);
}
AFTER(hipEventSynchronize, hipEvent_t e) {
  device_waited_for();
  Line("sync").word("event").address(e);
}
AFTER_IS(hipEventCreate, Line("event").address(*e).number(0), hipEvent_t* e)
AFTER_IS(hipEventCreateWithFlags, Line("event").address(*e).number(flags), hipEvent_t* e, unsigned flags)
BEFORE_IS(hipEventDestroy, Line("gone").word("event").address(e), hipEvent_t e)
AFTER(hipEventDestroy, hipEvent_t) {}
AFTER_IS(hipEventRecord, Line("record").address(e).address(s), hipEvent_t e, hipStream_t s)
AFTER_IS(hipEventRecordWithFlags, Line("record").address(e).address(s).number(flags), hipEvent_t e, hipStream_t s,
         unsigned flags)
AFTER_IS(hipStreamWaitEvent, Line("wait").address(s).address(e).number(flags), hipStream_t s, hipEvent_t e,
         unsigned flags)

// capture
AFTER_IS(hipStreamBeginCapture, Line("capture").address(s).number(static_cast<std::uint64_t>(mode)), hipStream_t s,
         hipStreamCaptureMode mode)
void nodes(Line& line, const hipGraphNode_t* nodes, size_t count) {
  line.number(count);
  for (size_t i = 0; i < count; ++i) line.address(nodes[i]);
}
AFTER(hipStreamBeginCaptureToGraph, hipStream_t s, hipGraph_t g, const hipGraphNode_t* after, const hipGraphEdgeData*,
      size_t count, hipStreamCaptureMode mode) {
  Line line("capture");
  line.address(s).number(static_cast<std::uint64_t>(mode)).address(g);
  nodes(line, after, count);
}
AFTER_IS(hipStreamEndCapture, Line("endcapture").address(s).address(*g), hipStream_t s, hipGraph_t* g)

// The answers name nodes of the capture.
AFTER(hipStreamGetCaptureInfo_v2, hipStream_t s, hipStreamCaptureStatus* status, unsigned long long*, hipGraph_t* g,
      const hipGraphNode_t** after, size_t* count) {
  if (*status != hipStreamCaptureStatusActive) return;
  Line line("info");
  line.address(s).address(g == nullptr ? nullptr : *g);
  nodes(line, after == nullptr ? nullptr : *after, after == nullptr || count == nullptr ? 0 : *count);
}
AFTER(hipStreamUpdateCaptureDependencies, hipStream_t s, hipGraphNode_t* after, size_t count, unsigned flags) {
  Line line("depend");
  line.address(s).number(flags);
  nodes(line, after, count);
}
BEFORE(hipThreadExchangeStreamCaptureMode, hipStreamCaptureMode* mode) {
  if (mode != nullptr) Line("mode").number(static_cast<std::uint64_t>(*mode));
}
AFTER(hipThreadExchangeStreamCaptureMode, hipStreamCaptureMode*) {}

// graphs
AFTER(hipGraphGetNodes, hipGraph_t g, hipGraphNode_t* all, size_t* count) {
  if (all == nullptr) return;
  Line line("nodes");
  line.address(g);
  nodes(line, all, *count);
}
AFTER_IS(hipGraphCreate, Line("graph").address(*g), hipGraph_t* g, unsigned)
BEFORE_IS(hipGraphDestroy, Line("gone").word("graph").address(g), hipGraph_t g)
AFTER(hipGraphDestroy, hipGraph_t) {}
AFTER_IS(hipGraphClone, Line("clone").address(*g).address(from), hipGraph_t* g, hipGraph_t from)
AFTER_IS(hipGraphNodeFindInClone, Line("found").address(*n).address(from).address(g), hipGraphNode_t* n,
         hipGraphNode_t from, hipGraph_t g)
void node_words(Line& line, hipGraphNode_t* n, hipGraph_t g, const hipGraphNode_t* after, size_t count) {
  line.address(*n).address(g);
  nodes(line, after, count);
}
#define ADDS(name, words, ...)                                                                                 \
  AFTER(name, hipGraphNode_t* n, hipGraph_t g, const hipGraphNode_t* d, size_t c __VA_OPT__(, ) __VA_ARGS__) { \
    Line line("node");                                                                                         \
    node_words(line, n, g, d, c);                                                                              \
    words;                                                                                                     \
  }
ADDS(hipGraphAddKernelNode, kernel_words(line, *p), const hipKernelNodeParams* p)
ADDS(hipGraphAddMemcpyNode, copy_words(line, *p), const hipMemcpy3DParms* p)
ADDS(hipGraphAddMemcpyNode1D, copy_words(line, dst, src, n1, k), void* dst, const void* src, size_t n1, hipMemcpyKind k)
ADDS(hipGraphAddMemsetNode, fill_words(line, *p), const hipMemsetParams* p)
ADDS(hipGraphAddHostNode, host_words(line, reinterpret_cast<const void*>(p->fn)), const hipHostNodeParams* p)
ADDS(hipGraphAddEmptyNode, line.word("empty"))
ADDS(hipGraphAddChildGraphNode, line.word("child").address(child), hipGraph_t child)
ADDS(hipGraphAddEventRecordNode, line.word("eventrecord").address(e), hipEvent_t e)
void memory_words(Line& line, const hipMemAllocNodeParams& p) {
  Line("alloc").word("graph").address(p.dptr).number(p.bytesize);
  line.word("alloc").address(p.dptr);
}
ADDS(hipGraphAddMemAllocNode, memory_words(line, *p), hipMemAllocNodeParams* p)
ADDS(hipGraphAddMemFreeNode, line.word("free").address(p), void* p)
ADDS(hipGraphAddEventWaitNode, line.word("eventwait").address(e), hipEvent_t e)
BEFORE_IS(hipGraphAddMemcpyNode, adopt_ends(p), hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
          const hipMemcpy3DParms* p)
BEFORE_IS(hipGraphAddMemcpyNode1D, adopt_ends(d, s, n, k), hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
          void* d, const void* s, size_t n, hipMemcpyKind k)
BEFORE_IS(hipGraphDestroyNode, Line("gone").word("node").address(n), hipGraphNode_t n)
AFTER(hipGraphDestroyNode, hipGraphNode_t) {}
void edges(const char* word, hipGraph_t g, const hipGraphNode_t* from, const hipGraphNode_t* to, size_t count) {
  for (size_t i = 0; i < count; ++i) Line(word).address(g).address(from[i]).address(to[i]);
}
AFTER_IS(hipGraphAddDependencies, edges("edge", g, from, to, n), hipGraph_t g, const hipGraphNode_t* from,
         const hipGraphNode_t* to, size_t n)
AFTER_IS(hipGraphRemoveDependencies, edges("unedge", g, from, to, n), hipGraph_t g, const hipGraphNode_t* from,
         const hipGraphNode_t* to, size_t n)

// setters: where they set a node of the graph itself, 0 stands for the executable graph
#define SETS(name, words, ...)                 \
  AFTER(name, hipGraphNode_t n, __VA_ARGS__) { \
    Line line("set");                          \
    line.number(0).address(n);                 \
    words;                                     \
  }
#define EXEC_SETS(name, words, ...)                              \
  AFTER(name, hipGraphExec_t e, hipGraphNode_t n, __VA_ARGS__) { \
    Line line("set");                                            \
    line.address(e).address(n);                                  \
    words;                                                       \
  }
// The values may be the node's own, which HIP frees in the call: the line is made before the call.
thread_local std::optional<Line> kernel_set;
BEFORE(hipGraphKernelNodeSetParams, hipGraphNode_t n, const hipKernelNodeParams* p) {
  if (p != nullptr) kernel_words(kernel_set.emplace("set").number(0).address(n), *p);
}
AFTER_IS(hipGraphKernelNodeSetParams, kernel_set.reset(), hipGraphNode_t, const hipKernelNodeParams*)
SETS(hipGraphMemcpyNodeSetParams, copy_words(line, *p), const hipMemcpy3DParms* p)
SETS(hipGraphMemcpyNodeSetParams1D, copy_words(line, d, s, c, k), void* d, const void* s, size_t c, hipMemcpyKind k)
SETS(hipGraphMemsetNodeSetParams, fill_words(line, *p), const hipMemsetParams* p)
SETS(hipGraphHostNodeSetParams, host_words(line, reinterpret_cast<const void*>(p->fn)), const hipHostNodeParams* p)
EXEC_SETS(hipGraphExecKernelNodeSetParams, kernel_words(line, *p), const hipKernelNodeParams* p)
EXEC_SETS(hipGraphExecMemcpyNodeSetParams, copy_words(line, *p), hipMemcpy3DParms* p)
EXEC_SETS(hipGraphExecMemcpyNodeSetParams1D, copy_words(line, d, s, c, k), void* d, const void* s, size_t c,
          hipMemcpyKind k)
EXEC_SETS(hipGraphExecMemsetNodeSetParams, fill_words(line, *p), const hipMemsetParams* p)
EXEC_SETS(hipGraphExecHostNodeSetParams, host_words(line, reinterpret_cast<const void*>(p->fn)),
          const hipHostNodeParams* p)
EXEC_SETS(hipGraphExecChildGraphNodeSetParams, line.word("child").address(child), hipGraph_t child)
AFTER_IS(hipGraphNodeSetEnabled, Line("enable").address(e).address(n).number(enabled), hipGraphExec_t e,
         hipGraphNode_t n, unsigned enabled)

// executable graphs
AFTER_IS(hipGraphInstantiate, Line("instantiate").address(*e).address(g).word("plain").number(0), hipGraphExec_t* e,
         hipGraph_t g, hipGraphNode_t*, char*, size_t)
AFTER_IS(hipGraphInstantiateWithFlags, Line("instantiate").address(*e).address(g).word("flags").number(flags),
         hipGraphExec_t* e, hipGraph_t g, unsigned long long flags)
AFTER_IS(hipGraphInstantiateWithParams, Line("instantiate").address(*e).address(g).word("params").number(p->flags),
         hipGraphExec_t* e, hipGraph_t g, hipGraphInstantiateParams* p)
BEFORE_IS(hipGraphExecDestroy, Line("gone").word("exec").address(e), hipGraphExec_t e)
AFTER(hipGraphExecDestroy, hipGraphExec_t) {}
BEFORE_IS(hipGraphLaunch, write_changes(), hipGraphExec_t, hipStream_t)
AFTER_IS(hipGraphLaunch, Line("launch").address(e).address(s), hipGraphExec_t e, hipStream_t s)
AFTER_IS(hipGraphUpload, Line("upload").address(e).address(s), hipGraphExec_t e, hipStream_t s)
AFTER_IS(hipGraphExecUpdate, Line("update").address(e).address(g), hipGraphExec_t e, hipGraph_t g, hipGraphNode_t*,
         hipGraphExecUpdateResult*)

AFTER(hipDeviceGraphMemTrim, int device) {
  if (device == 0) {
    Line("trim");
  } else {
    Line("other").word("hipDeviceGraphMemTrim-of-another-device");
  }
}

// ---- calls that HIP refused

template <class Tag, class... A>
void refused(Tag, Line&, const A&...) {}
void refused(Tag_hipGraphKernelNodeSetParams, Line&, hipGraphNode_t, const hipKernelNodeParams*) {
  if (kernel_set) kernel_set->drop();
  kernel_set.reset();
}
void refused(Tag_hipStreamEndCapture, Line& line, hipStream_t s, hipGraph_t*) {
  line.address(s);
}

// ---- calling HIP's own functions

template <class F>
F behind(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

template <class Tag, class F>
struct Wrapped;
template <class Tag, class... A>
struct Wrapped<Tag, hipError_t (*)(A...)> {
  static hipError_t call(A... arguments) {
    static const auto real = behind<hipError_t (*)(A...)>(Tag::kName);
    if (real == nullptr) return hipErrorNotSupported;  // the program is newer than its runtime
    if (Depth::now != 0) return real(arguments...);
    const Depth depth;
    before(Tag(), arguments...);
    const hipError_t status = real(arguments...);
    if (status == hipSuccess) {
      after(Tag(), arguments...);
    } else if (!only_asks(Tag::kName)) {
      Line line("failed");
      line.word(Tag::kName).number(static_cast<std::uint64_t>(status));
      refused(Tag(), line, arguments...);
    }
    return status;
  }
};

}  // namespace

}  // namespace hip::recorder

// ---- the exported names. Each jumps to its wrapper. The wrapper's type comes from hip::Api; it is not spelled out.

#define EXPORTED(name)                                                                                             \
  extern "C" {                                                                                                     \
  __attribute__((visibility("hidden"), used)) void* hgrecorder_##name =                                            \
      reinterpret_cast<void*>(&hip::recorder::Wrapped<hip::recorder::Tag_##name, decltype(hip::Api::name)>::call); \
  }                                                                                                                \
  asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n  jmp *hgrecorder_" #name                  \
      "(%rip)\n.size " #name ", .-" #name "\n");
#define HIP_FUNCTION(name, ...) EXPORTED(name)
#include "hip/api/functions.inc"
#undef HIP_FUNCTION

// Compiled-in kernels: the functions that compiler-generated code calls before main().
extern "C" __attribute__((visibility("default"))) void** __hipRegisterFatBinary(const void* wrapper) {
  static const auto real = hip::recorder::behind<void** (*)(const void*)>("__hipRegisterFatBinary");
  void** const handle = real(wrapper);
  hip::recorder::binary_registered(handle, wrapper);
  return handle;
}
extern "C" __attribute__((visibility("default"))) void __hipRegisterFunction(void** handle, const void* host_function,
                                                                             char* device_function, const char* name,
                                                                             unsigned limit, void* tid, void* bid,
                                                                             void* block, void* grid, int* size) {
  using Register = void (*)(void**, const void*, char*, const char*, unsigned, void*, void*, void*, void*, int*);
  static const auto real = hip::recorder::behind<Register>("__hipRegisterFunction");
  hip::recorder::function_registered(handle, host_function, name);
  real(handle, host_function, device_function, name, limit, tid, bid, block, grid, size);
}
