// The common entry and exit of every function of the C ABI. For the implementation of model/abi only.
//
// The functions are written once and compiled twice: into namespace model::abi::functions for the in-process table, and
// under their HIP names for libhgmodel.so. The two differ in which instance a call acts on (Entry).
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/abi/device_image.h"
#include "model/abi/in_process.h"

#ifdef HGMODEL_SHARED
#define HGMODEL_FUNCTIONS_BEGIN \
  using namespace model;        \
  using namespace model::abi;   \
  extern "C" {
#define HGMODEL_FUNCTIONS_END }
#else
#define HGMODEL_FUNCTIONS_BEGIN namespace model::abi::functions {
#define HGMODEL_FUNCTIONS_END }
#endif

namespace model::abi {

inline constexpr std::size_t kMaxCachedImages = 8;  // parsed code objects that an instance remembers

// Limits of a device before a program sets them.
inline constexpr std::size_t kHeapBytes = std::size_t{8} << 20, kStackBytes = 16384;
inline constexpr std::size_t kPrintfBytes = std::size_t{1} << 20;

inline constexpr int kLowestPriority = 1, kHighestPriority = -1;  // of streams, as on AMD's runtime

// The state that HIP keeps for each host thread.
struct ThreadState {
  hipError_t last_error = hipSuccess;
  int device = 0;
  CaptureMode capture_mode = CaptureMode::kGlobal;  // hipThreadExchangeStreamCaptureMode
};
// No destructor: programs call HIP from destructors that run after the destructors of thread-local objects.
static_assert(std::is_trivially_destructible_v<ThreadState>);

using KernelList = std::vector<std::shared_ptr<const Kernel>>;
using CodeBytes = std::shared_ptr<const std::vector<std::byte>>;

// A parsed code object whose kernels all have host functions.
struct CachedImage {
  CodeBytes code;
  KernelList kernels;
};

// The code that a module was made from.
struct LoadedCode {
  CodeBytes code;
  std::shared_ptr<DeviceImage> image;  // null until its memory is needed
};

[[nodiscard]] inline std::map<hipLimit_t, std::size_t> default_limits() {
  return {
      {hipLimitMallocHeapSize, kHeapBytes}, {hipLimitStackSize, kStackBytes}, {hipLimitPrintfFifoSize, kPrintfBytes}};
}

struct InProcess::State {
  explicit State(const InProcessOptions& chosen) : options(chosen), runtime(chosen.model) {}

  InProcessOptions options;
  Runtime runtime;
  ThreadState own_thread;
  ThreadState* thread = &own_thread;                                // of the thread that is calling
  std::map<std::uint32_t, ThreadState> other_threads;               // InProcess::use_thread
  std::vector<CachedImage> images;                                  // latest last
  std::map<ObjectId, LoadedCode> code;                              // of live modules
  std::shared_ptr<HostcallService> hostcalls;                       // made for the first device image
  std::map<std::pair<ThreadState*, int>, ObjectId> thread_streams;  // hipStreamPerThread, by thread and device
  std::string load_error;                  // why the last image that failed could not be loaded, for people
  std::map<Address, unsigned> host_flags;  // of hipHostMalloc's memory, by its beginning
  std::map<hipLimit_t, std::size_t> limits = default_limits();
  std::map<hipExternalSemaphore_t, std::shared_ptr<Semaphore>> semaphores;  // imported; the handle is the object
  std::vector<hipGraphNode_t> capture_nodes;  // that hipStreamGetCaptureInfo_v2 handed out last
  // Look-ups between host symbols and the kernels and variables of a program's own code; null: no such code.
  const Function* (*registered_kernel)(State& state, const void* function, int device, Status* status) = nullptr;
  const void* (*host_function_of_kernel)(ObjectId function) = nullptr;
  Status (*variable_of_symbol)(State& state, const void* symbol, DeviceImage::Variable* out) = nullptr;
  // The variables of InProcess::add_variable, for an instance without such code. Address 0: no memory yet.
  std::map<const void*, DeviceImage::Variable> variables;
  std::map<std::pair<const void*, int>, ObjectId> kernels;  // of InProcess::add_kernel, by symbol and device
};

using State = InProcess::State;

// Access to an instance for the duration of one call. In libhgmodel.so an Entry holds the lock.
class Entry {
 public:
  Entry();
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry();
  [[nodiscard]] State* state() const { return state_; }          // null: the call is refused
  [[nodiscard]] hipError_t refusal() const { return refusal_; }  // the status of such a call

 private:
  State* state_ = nullptr;
  hipError_t refusal_ = hipErrorNotInitialized;
};

// The identity of the calling thread, for captures.
[[nodiscard]] inline ThreadId thread_id(const State& state) {
  return reinterpret_cast<ThreadId>(state.thread);
}

// Refuse calls that are forbidden while a stream captures: unsafe calls, and waiting for the capturing stream itself.
[[nodiscard]] inline Status refuse_unsafe_call(State& state) {
  return state.runtime.refuse_unsafe_call(state.thread->capture_mode, thread_id(state));
}
[[nodiscard]] inline Status refuse_waiting(State& state, const Stream& stream, bool async) {
  return async ? Status::kSuccess : state.runtime.refuse_while_capturing(stream);
}

enum class CallKind : std::uint8_t {
  kNormal,
  kTeardown,  // does its work even after a fault, and then answers the fault's status
};

[[nodiscard]] inline hipError_t to_hip(Status status) {
  return static_cast<hipError_t>(status);
}

// hipGetLastError remembers errors; "not ready" is an answer, not an error (CUDA's documentation of cudaStreamQuery).
[[nodiscard]] inline hipError_t remembered(State& state, Status status) {
  if (status != Status::kSuccess && status != Status::kNotReady) state.thread->last_error = to_hip(status);
  return to_hip(status);
}

template <class Body>
[[nodiscard]] hipError_t call(Body&& body, CallKind kind = CallKind::kNormal) {
  const Entry entry;
  if (entry.state() == nullptr) return entry.refusal();
  State& state = *entry.state();
  state.runtime.visit();
  const Status before = state.runtime.sticky();
  if (before != Status::kSuccess && kind == CallKind::kNormal) return remembered(state, before);
  Status status = std::forward<Body>(body)(state);
  if (before != Status::kSuccess && status == Status::kSuccess) status = before;
  return remembered(state, status);
}

// A call that does its work even after a fault (CallKind::kTeardown).
template <class Body>
[[nodiscard]] hipError_t teardown(Body&& body) {
  return call(std::forward<Body>(body), CallKind::kTeardown);
}

// Writes an answer of a call through a pointer of the caller. A null pointer is kInvalidValue.
template <class T>
[[nodiscard]] Status put(T* out, const std::type_identity_t<T>& value) {
  if (out == nullptr) return Status::kInvalidValue;
  *out = value;
  return Status::kSuccess;
}

// A handle is a number: the object's id, and a tag so that no handle is an address. hipStreamLegacy: the null stream.
inline constexpr std::uint64_t kHandleTag = std::uint64_t{0x4847} << 48;
inline constexpr int kHandleShift = 4;

template <class Handle>
[[nodiscard]] Handle to_handle(ObjectId id) {
  return id == 0 ? nullptr : reinterpret_cast<Handle>(kHandleTag | (std::uint64_t{id} << kHandleShift));
}
// 0 (no object) for anything that is not a handle of this kind.
[[nodiscard]] inline std::uint64_t to_id(const void* handle) {
  const auto number = reinterpret_cast<std::uint64_t>(handle) ^ kHandleTag;
  return number >> 48 == 0 && (number & ((1u << kHandleShift) - 1)) == 0 ? number >> kHandleShift : 0;
}

[[nodiscard]] inline Graph* find(State& state, hipGraph_t handle) {
  return state.runtime.find_graph(to_id(handle));
}
[[nodiscard]] inline Node* find(State& state, hipGraphNode_t handle) {
  return state.runtime.find_node(to_id(handle));
}
[[nodiscard]] inline GraphExec* find(State& state, hipGraphExec_t handle) {
  return state.runtime.find_exec(to_id(handle));
}
[[nodiscard]] inline Event* find(State& state, hipEvent_t handle) {
  return state.runtime.find_event(to_id(handle));
}
[[nodiscard]] inline Module* find(State& state, hipModule_t handle) {
  return state.runtime.find_module(to_id(handle));
}
[[nodiscard]] inline MemoryPool* find(State& state, hipMemPool_t handle) {
  return state.runtime.find_pool(to_id(handle));
}
[[nodiscard]] inline Function* find(State& state, hipFunction_t handle) {
  return state.runtime.find_function(to_id(handle));
}
// The stream that hipStreamPerThread names on this thread and device: made when first named, kept until the instance is
// reset or destroyed. A thread whose ThreadState lies where an ended thread's lay gets the streams of that thread.
[[nodiscard]] Stream& per_thread_stream(State& state);

// Null: no such stream. The null handle is the null stream of the current device.
[[nodiscard]] inline Stream* find(State& state, hipStream_t handle) {
  if (handle == nullptr || handle == hipStreamLegacy) return &state.runtime.null_stream(state.thread->device);
  if (handle == hipStreamPerThread) return &per_thread_stream(state);
  return state.runtime.find_stream(to_id(handle));
}

// The status of a call whose handle names no object. A handle that is in no list does not build.
template <class Handle, class... Listed>
concept HandleOf = (std::is_same_v<Handle, Listed> || ...);
constexpr Status no_such(HandleOf<hipGraph_t, hipGraphNode_t, hipGraphExec_t, hipMemPool_t> auto) {
  return Status::kInvalidValue;
}
constexpr Status no_such(HandleOf<hipEvent_t, hipFunction_t> auto) {
  return Status::kInvalidHandle;
}
constexpr Status no_such(HandleOf<hipStream_t> auto) {
  return Status::kContextIsDestroyed;
}

// A call on the object that a handle names. The body gets the object as well.
template <class Handle, class Body>
[[nodiscard]] hipError_t call_on(Handle handle, Body&& body, CallKind kind = CallKind::kNormal) {
  const auto on_object = [&](State& state) {
    auto* object = find(state, handle);
    return object == nullptr ? no_such(handle) : std::forward<Body>(body)(state, *object);
  };
  return call(on_object, kind);
}
template <class Handle, class Body>
[[nodiscard]] hipError_t teardown_on(Handle handle, Body&& body) {
  return call_on(handle, std::forward<Body>(body), CallKind::kTeardown);
}

[[nodiscard]] inline bool is_device(const State& state, int device) {
  return device >= 0 && device < state.runtime.options().devices;
}

[[nodiscard]] inline Address to_address(const void* pointer) {
  return reinterpret_cast<Address>(pointer);
}
[[nodiscard]] inline void* to_pointer(Address address) {
  return reinterpret_cast<void*>(address);
}

// Loads the kernels of an image as a module, for `device` (image.cpp). Parsed images are remembered by content.
[[nodiscard]] Status load_module(State& state, const void* image, int device, Module** module);
[[nodiscard]] Status load_module(State& state, std::span<const std::byte> image, int device, Module** module);
void unload_module(State& state, Module& module);
// Null when the module has no such variable, or when its code cannot be loaded (then `status` is an error).
[[nodiscard]] std::optional<DeviceImage::Variable> find_variable(State& state, const Module& module, const char* name,
                                                                 Status* status);
[[nodiscard]] std::shared_ptr<const Kernel> with_host_semantics(Kernel kernel, std::span<const hg::HostKernel> table);

// The primary context of a device, which is the only context of the device.
inline hipCtx_t context_of(int device) {
  return reinterpret_cast<hipCtx_t>(kHandleTag | static_cast<std::uint64_t>(device + 1));
}

}  // namespace model::abi
