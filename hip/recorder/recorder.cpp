// libhgrecorder.so: preloaded into a HIP program, it logs the program's HIP calls and does nothing else.
//
// For every function of hip/api/functions.inc there is a function here under its name. It calls HIP's function with the
// same arguments, returns the same result, and writes a line (log.h) about the call if HIP accepted it. If HIP refused
// it, the line is "failed" and the status. The end of an object is logged before the call and its begin after the call,
// so that in the log an address is freed before it is used again; where HIP refuses to end an object, the line "failed"
// takes the end back. Calls that HIP's library makes to its own functions are not logged. If there is no line for a
// function, its first call is logged as "other", unless the function only queries. The functions that HIP exports and
// that table lacks are in others.cpp.
//
// It adds no call to HIP, no thread, no handler but for forks, and holds no lock during a call. Its cost is in
// docs/recorder.md. Not seen: functions that the program looks up by itself (dlsym, hipGetProcAddress).
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>
#include <pthread.h>

#include "hip/recorder/actions.h"
#include "hip/recorder/copy_calls.h"
#include "hip/recorder/graph_calls.h"
#include "hip/recorder/kernels.h"
#include "hip/recorder/resource_calls.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace hip::recorder {

namespace {

// ---- modules and launches

AFTER_IS(hipModuleLoadData, module_loaded(*m, image), hipModule_t* m, const void* image)
AFTER_IS(hipModuleLoadDataEx, module_loaded(*m, image), hipModule_t* m, const void* image, unsigned, hipJitOption*,
         void**)
AFTER_IS(hipModuleLoad, module_file_loaded(*m, path), hipModule_t* m, const char* path)
ENDS(hipModuleUnload, hipModule_t, module_ends(ended); Line("unload").address(ended))
AFTER_IS(hipModuleGetFunction, function_found(*f, m, name), hipFunction_t* f, hipModule_t m, const char* name)
AFTER(hipModuleGetGlobal, hipDeviceptr_t* p, size_t* bytes, hipModule_t m, const char* name) {
  if (p != nullptr && bytes != nullptr) return variable_found(*p, *bytes, m, name);
  if (p != nullptr) Line("lost").word("a-variable-whose-size-the-program-did-not-ask-for");
}
AFTER_IS(hipGetSymbolAddress, symbol_found(*p, symbol), void** p, const void* symbol)
void launches(const void* function, void** params, void** extra) {
  gives_work(nullptr);
  kernel_may_write(function, params, extra);
}
BEFORE_IS(hipModuleLaunchKernel, launches(f, params, extra), hipFunction_t f, unsigned, unsigned, unsigned, unsigned,
          unsigned, unsigned, unsigned, hipStream_t, void** params, void** extra)
AFTER(hipModuleLaunchKernel, hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
      unsigned bz, unsigned shared, hipStream_t t, void** params, void** extra) {
  Work work(t);
  launch_words(work.line, f, dim3(gx, gy, gz), dim3(bx, by, bz), shared, params, extra);
}
BEFORE_IS(hipLaunchKernel, launches(f, params, nullptr), const void* f, dim3, dim3, void** params, size_t, hipStream_t)
AFTER(hipLaunchKernel, const void* f, dim3 g, dim3 b, void** params, size_t shared, hipStream_t t) {
  Work work(t);
  launch_words(work.line, f, g, b, shared, params, nullptr);
}
BEFORE_IS(hipModuleLaunchCooperativeKernel, launches(f, params, nullptr), hipFunction_t f, unsigned, unsigned, unsigned,
          unsigned, unsigned, unsigned, unsigned, hipStream_t, void** params)
AFTER(hipModuleLaunchCooperativeKernel, hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
      unsigned by, unsigned bz, unsigned shared, hipStream_t t, void** params) {
  Work work(t);
  launch_words(work.line, f, dim3(gx, gy, gz), dim3(bx, by, bz), shared, params, nullptr, "cooperative");
}
BEFORE_IS(hipLaunchCooperativeKernel, launches(f, params, nullptr), const void* f, dim3, dim3, void** params, unsigned,
          hipStream_t)
AFTER(hipLaunchCooperativeKernel, const void* f, dim3 g, dim3 b, void** params, unsigned shared, hipStream_t t) {
  Work work(t);
  launch_words(work.line, f, g, b, shared, params, nullptr, "cooperative");
}
BEFORE_IS(hipLaunchHostFunc, gives_work(nullptr), hipStream_t, hipHostFn_t, void*)
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
LOGS_END(hipStreamDestroy, hipStream_t, Line("gone").word("stream").address(ended))
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
ENDS(hipEventDestroy, hipEvent_t, Line("gone").word("event").address(ended))
AFTER_IS(hipEventRecord, Line("record").address(e).address(s), hipEvent_t e, hipStream_t s)
AFTER_IS(hipEventRecordWithFlags, Line("record").address(e).address(s).number(flags), hipEvent_t e, hipStream_t s,
         unsigned flags)
AFTER_IS(hipStreamWaitEvent, Line("wait").address(s).address(e).number(flags), hipStream_t s, hipEvent_t e,
         unsigned flags)

// ---- calls that HIP refused

void drop_node_set() {
  if (node_set) node_set->drop();
  node_set.reset();
}
REFUSED(hipGraphKernelNodeSetParams, hipGraphNode_t, const hipKernelNodeParams*) {
  drop_node_set();
}
REFUSED(hipGraphNodeSetParams, hipGraphNode_t, hipGraphNodeParams*) {
  drop_node_set();
}
REFUSED(hipStreamEndCapture, hipStream_t s, hipGraph_t*) {
  line.address(s);
}

// ---- processes that fork

// A child has no thread that lets go of a lock which another thread of the parent held, and what the lock guards may be
// half changed. So all locks are held during a fork. They are taken in the order in which calls take them.
void before_fork() {
  hold_kernels();
  hold_host_memory();
  hold_log();
}
void after_fork(bool in_child) {
  let_go_of_log(in_child);
  let_go_of_host_memory(in_child);
  let_go_of_kernels();
}
[[maybe_unused]] const bool forks_are_watched =
    pthread_atfork(before_fork, [] { after_fork(false); }, [] { after_fork(true); }) == 0;

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
    // No static variable with a guard: a child that was forked while another thread initialises it would wait for ever.
    static hip::sync::Atomic<hipError_t (*)(A...)> found{nullptr};
    auto* real = found.load();
    if (real == nullptr) found.store(real = behind<hipError_t (*)(A...)>(Tag::kName));
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
extern "C" __attribute__((visibility("default"))) void __hipRegisterVar(void** handle, void* symbol, char* host_name,
                                                                        char* name, int external, size_t bytes,
                                                                        int constant, int global) {
  using Register = void (*)(void**, void*, char*, char*, int, size_t, int, int);
  static const auto real = hip::recorder::behind<Register>("__hipRegisterVar");
  hip::recorder::variable_registered(handle, symbol, name, bytes);
  real(handle, symbol, host_name, name, external, bytes, constant, global);
}
extern "C" __attribute__((visibility("default"))) void __hipRegisterManagedVar(void* handle, void** pointer,
                                                                               void* initial, const char* name,
                                                                               size_t bytes, unsigned alignment) {
  using Register = void (*)(void*, void**, void*, const char*, size_t, unsigned);
  static const auto real = hip::recorder::behind<Register>("__hipRegisterManagedVar");
  hip::recorder::Line("lost").word("a-managed-variable:-work-that-names-it-is-not-recorded");
  real(handle, pointer, initial, name, bytes, alignment);
}
