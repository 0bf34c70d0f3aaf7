// What every function of the C ABI does on its way in and out. For the implementation of model/abi only.
//
// The functions are written once and compiled twice: into namespace model::abi::functions for the in-process table, and
// under their HIP names for libhgmodel.so. The two differ in which instance a call acts on (Entry).
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "model/abi/in_process.h"

#ifdef HGMODEL_SHARED
#define HGMODEL_FUNCTIONS_BEGIN \
  using namespace model;        \
  using namespace model::abi;   \
  extern "C" {
#define HGMODEL_FUNCTIONS_END }
#else
#define HGMODEL_ENTER(name) api.name = functions::name  // into the table, in the fill_* functions
#define HGMODEL_FUNCTIONS_BEGIN namespace model::abi::functions {
#define HGMODEL_FUNCTIONS_END }
#endif

namespace model::abi {

inline constexpr std::size_t kMaxCachedImages = 8;  // parsed code objects that an instance remembers

inline constexpr int kLowestPriority = 1, kHighestPriority = -1;  // of streams, as on AMD's runtime

// What HIP keeps for each thread of the host.
struct ThreadState {
  hipError_t last_error = hipSuccess;
  int device = 0;
};

using KernelList = std::vector<std::shared_ptr<const Kernel>>;

struct CachedImage {
  std::vector<std::byte> bytes;
  KernelList kernels;
};

struct InProcess::State {
  explicit State(const InProcessOptions& chosen) : options(chosen), runtime(chosen.model) {}

  InProcessOptions options;
  Runtime runtime;
  ThreadState own_thread;
  ThreadState* thread = &own_thread;  // of the thread that is calling
  std::vector<CachedImage> images;    // latest last
};

using State = InProcess::State;

// The way into an instance, for the time of one call. In libhgmodel.so it holds the lock.
class Entry {
 public:
  Entry();
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry();
  [[nodiscard]] State* state() const { return state_; }          // null: the call cannot be made
  [[nodiscard]] hipError_t refusal() const { return refusal_; }  // why

 private:
  State* state_ = nullptr;
  hipError_t refusal_ = hipErrorNotInitialized;
};

enum class CallKind : std::uint8_t {
  kNormal,
  kTeardown,  // does what it says even after a fault, and then answers the fault's status
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
  const Status before = state.runtime.sticky();
  if (before != Status::kSuccess && kind == CallKind::kNormal) return remembered(state, before);
  Status status = std::forward<Body>(body)(state);
  if (before != Status::kSuccess && status == Status::kSuccess) status = before;
  return remembered(state, status);
}

// Handles are numbers: a tag that makes them no addresses, and the object's id. hipStreamLegacy is the null stream.
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
[[nodiscard]] inline Function* find(State& state, hipFunction_t handle) {
  return state.runtime.find_function(to_id(handle));
}
// Null: no stream. The null handle is the null stream of the current device.
[[nodiscard]] inline Stream* find(State& state, hipStream_t handle) {
  if (handle == nullptr || handle == hipStreamLegacy) return &state.runtime.null_stream(state.thread->device);
  return state.runtime.find_stream(to_id(handle));
}

[[nodiscard]] inline Address to_address(const void* pointer) {
  return reinterpret_cast<Address>(pointer);
}
[[nodiscard]] inline void* to_pointer(Address address) {
  return reinterpret_cast<void*>(address);
}

// Kernels of an image for hipModuleLoadData (image.cpp). Parsed images are remembered by content.
[[nodiscard]] Status load_image(State& state, const void* image, KernelList* kernels);
[[nodiscard]] Status load_image(State& state, std::span<const std::byte> image, KernelList* kernels);
[[nodiscard]] std::shared_ptr<const Kernel> with_host_semantics(Kernel kernel, std::span<const hg::HostKernel> table);

// Each file of functions enters its own into the table.
void fill_device(hip::Api& api);
void fill_memory(hip::Api& api);
void fill_copies(hip::Api& api);
void fill_modules(hip::Api& api);
void fill_streams(hip::Api& api);
void fill_graphs(hip::Api& api);
void fill_nodes(hip::Api& api);
void fill_execs(hip::Api& api);

}  // namespace model::abi
