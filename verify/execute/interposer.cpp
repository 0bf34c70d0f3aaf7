#include "verify/execute/interposer.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <type_traits>
#include <utility>

namespace verify {

namespace {

constexpr std::array<std::string_view, kFunctions> kNames = {
#define HIP_FUNCTION(name, ...) std::string_view(#name),
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
};

thread_local Interposer* t_current = nullptr;
thread_local Interposer::Turn* t_turn = nullptr;

constexpr bool gives_back(Function function) {
  const std::string_view name = kNames[static_cast<std::size_t>(function)];
  return name.ends_with("Destroy") || name.starts_with("hipFree") || name == "hipHostFree" ||
         name == "hipHostUnregister" || name == "hipDestroyExternalSemaphore";
}

// ---- arguments that are passed as copies and poisoned

// Dependencies of a node that is added.
const hipGraphNode_t* pass_nodes(Interposer& self, const hipGraphNode_t* nodes, std::size_t count) {
  if (nodes == nullptr || count == 0) return nodes;
  return static_cast<const hipGraphNode_t*>(self.pass(nodes, count * sizeof *nodes));
}

template <class T>
const T* pass_struct(Interposer& self, const T* params) {
  return params == nullptr ? nullptr : static_cast<const T*>(self.pass(params, sizeof *params));
}

// Copies the list `extra`, the argument block and its size. Anything that is not such a list is passed as it is.
void** pass_extra(Interposer& self, void** extra) {
  constexpr int kMaxEntries = 8;
  void* list[kMaxEntries] = {};
  void* block = nullptr;
  std::size_t size = 0;
  int count = 0;
  while (count + 1 < kMaxEntries && extra[count] != HIP_LAUNCH_PARAM_END) {
    list[count] = extra[count];
    list[count + 1] = extra[count + 1];
    if (extra[count] == HIP_LAUNCH_PARAM_BUFFER_POINTER) block = extra[count + 1];
    if (extra[count] == HIP_LAUNCH_PARAM_BUFFER_SIZE) size = *static_cast<std::size_t*>(extra[count + 1]);
    count += 2;
  }
  if (block == nullptr || size == 0 || count + 1 >= kMaxEntries) return extra;
  list[count] = HIP_LAUNCH_PARAM_END;
  for (int i = 0; i < count; i += 2) {
    if (list[i] == HIP_LAUNCH_PARAM_BUFFER_POINTER) list[i + 1] = self.pass(block, size);
    if (list[i] == HIP_LAUNCH_PARAM_BUFFER_SIZE) list[i + 1] = self.pass(&size, sizeof size);
  }
  return static_cast<void**>(self.pass(list, sizeof list));
}

const hipKernelNodeParams* pass_kernel(Interposer& self, const hipKernelNodeParams* params) {
  if (params == nullptr) return nullptr;
  hipKernelNodeParams copy = *params;
  const KernelSpec* kernel = self.kernel_of(static_cast<hipFunction_t>(params->func));
  if (params->extra != nullptr) {
    copy.extra = pass_extra(self, params->extra);
  } else if (params->kernelParams != nullptr && kernel != nullptr) {
    std::vector<void*> values;
    for (std::size_t i = 0; i < kernel->arguments.size(); ++i) {
      values.push_back(self.pass(params->kernelParams[i], kernel->arguments[i].size));
    }
    if (!values.empty())
      copy.kernelParams = static_cast<void**>(self.pass(values.data(), values.size() * sizeof(void*)));
  }
  return pass_struct(self, &copy);
}

template <class T>
T* pass_params(Interposer& self, T* params) {
  return const_cast<T*>(pass_struct(self, params));
}
const hipKernelNodeParams* pass_params(Interposer& self, const hipKernelNodeParams* params) {
  return pass_kernel(self, params);
}
// Nodes of external semaphores: the structure and its two arrays.
template <class T>
const T* pass_semaphores(Interposer& self, const T* params) {
  if (params == nullptr || params->numExtSems == 0) return pass_struct(self, params);
  T copy = *params;
  const auto pass_list = [&]<class Element>(Element*& list) {
    if (list != nullptr) list = static_cast<Element*>(self.pass(list, copy.numExtSems * sizeof *list));
  };
  pass_list(copy.extSemArray);
  pass_list(copy.paramsArray);
  return pass_struct(self, &copy);
}
const hipExternalSemaphoreSignalNodeParams* pass_params(Interposer& self,
                                                        const hipExternalSemaphoreSignalNodeParams* params) {
  return pass_semaphores(self, params);
}
const hipExternalSemaphoreWaitNodeParams* pass_params(Interposer& self,
                                                      const hipExternalSemaphoreWaitNodeParams* params) {
  return pass_semaphores(self, params);
}
hipGraphNodeParams* pass_params(Interposer& self, hipGraphNodeParams* params) {
  // HIP writes the address of the memory into the struct of an allocation node, so the caller's own is passed.
  if (params == nullptr || params->type == hipGraphNodeTypeMemAlloc) return params;
  hipGraphNodeParams copy = *params;
  if (params->type == hipGraphNodeTypeKernel) copy.kernel = *pass_kernel(self, &params->kernel);
  if (params->type == hipGraphNodeTypeExtSemaphoreSignal)
    copy.extSemSignal = *pass_semaphores(self, &params->extSemSignal);
  if (params->type == hipGraphNodeTypeExtSemaphoreWait) copy.extSemWait = *pass_semaphores(self, &params->extSemWait);
  return static_cast<hipGraphNodeParams*>(self.pass(&copy, sizeof copy));
}

// A structure that describes a node. HIP's generic functions take theirs without const.
template <class T>
concept NodeStruct =
    std::is_same_v<T, const hipKernelNodeParams> || std::is_same_v<T, const hipMemcpy3DParms> ||
    std::is_same_v<T, const hipMemsetParams> || std::is_same_v<T, const hipHostNodeParams> ||
    std::is_same_v<T, const hipExternalSemaphoreSignalNodeParams> ||
    std::is_same_v<T, const hipExternalSemaphoreWaitNodeParams> || std::is_same_v<T, hipGraphNodeParams>;
template <class Argument>
constexpr bool is_node_struct = std::is_pointer_v<Argument> && NodeStruct<std::remove_pointer_t<Argument>>;

// Functions that take such a structure and pass it as it is.
constexpr bool passes_structs_as_they_are(Function function) {
  switch (function) {
    case Function::k_hipMemcpy3D:               // returns after the copy, so that there is nothing to keep
    case Function::k_hipDrvGraphAddMemsetNode:  // the arguments of the driver's forms are not copied
    case Function::k_hipDrvGraphExecMemsetNodeSetParams:
      return true;
    default:
      return false;
  }
}

// The signature of a function decides whether its arguments are passed as copies, and how. All other functions pass
// their arguments as they are.
template <class Signature>
struct Copied : std::false_type {};

// hipGraphAdd*Node(node out, graph, dependencies, count, params)
template <NodeStruct T>
struct Copied<hipError_t(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, std::size_t, T*)> : std::true_type {
  static void pass(Interposer& self, hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*& dependencies,
                   std::size_t count, T*& params) {
    dependencies = pass_nodes(self, dependencies, count);
    params = pass_params(self, params);
  }
};

// hipGraph*NodeSetParams(node, params)
template <NodeStruct T>
struct Copied<hipError_t(hipGraphNode_t, T*)> : std::true_type {
  static void pass(Interposer& self, hipGraphNode_t, T*& params) { params = pass_params(self, params); }
};

// hipGraphExec*NodeSetParams(exec, node, params); hipGraphExecMemcpyNodeSetParams takes its structure without const.
template <class T>
  requires NodeStruct<T> || std::is_same_v<T, hipMemcpy3DParms>
struct Copied<hipError_t(hipGraphExec_t, hipGraphNode_t, T*)> : std::true_type {
  static void pass(Interposer& self, hipGraphExec_t, hipGraphNode_t, T*& params) { params = pass_params(self, params); }
};

// hipGraph*Dependencies(graph, from, to, count)
template <>
struct Copied<hipError_t(hipGraph_t, const hipGraphNode_t*, const hipGraphNode_t*, std::size_t)> : std::true_type {
  static void pass(Interposer& self, hipGraph_t, const hipGraphNode_t*& from, const hipGraphNode_t*& to,
                   std::size_t count) {
    from = pass_nodes(self, from, count);
    to = pass_nodes(self, to, count);
  }
};

// Work for a stream: a capture keeps its arguments.
template <>
struct Copied<decltype(hipMemcpy3DAsync)> : std::true_type {
  static void pass(Interposer& self, const hipMemcpy3DParms*& params, hipStream_t) {
    params = pass_params(self, params);
  }
};
template <>
struct Copied<decltype(hipModuleLaunchKernel)> : std::true_type {
  static void pass(Interposer& self, hipFunction_t function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, hipStream_t, void**& params, void**& extra) {
    hipKernelNodeParams passed{};
    passed.func = function;
    passed.kernelParams = params;
    passed.extra = extra;
    passed = *pass_kernel(self, &passed);
    params = passed.kernelParams;
    extra = passed.extra;
  }
};

// The values of a kernel that is named by its function or its symbol.
void** pass_values(Interposer& self, const void* function, void** params) {
  hipKernelNodeParams passed{};
  passed.func = const_cast<void*>(function);
  passed.kernelParams = params;
  return pass_kernel(self, &passed)->kernelParams;
}
template <>
struct Copied<decltype(hipModuleLaunchCooperativeKernel)> : std::true_type {
  static void pass(Interposer& self, hipFunction_t function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, hipStream_t, void**& params) {
    params = pass_values(self, function, params);
  }
};
template <>
struct Copied<decltype(hipLaunchKernel)> : std::true_type {
  static void pass(Interposer& self, const void* symbol, dim3, dim3, void**& params, std::size_t, hipStream_t) {
    params = pass_values(self, symbol, params);
  }
};
// hipLaunchCooperativeKernel, whose name HIP's header gives to a template, too
template <>
struct Copied<hipError_t(const void*, dim3, dim3, void**, unsigned, hipStream_t)> : std::true_type {
  static void pass(Interposer& self, const void* symbol, dim3, dim3, void**& params, unsigned, hipStream_t) {
    params = pass_values(self, symbol, params);
  }
};

// Forwards one function; `Member` is its place in the table.
template <Function kFunction, auto Member>
struct Forward;
template <Function kFunction, class... Args, hipError_t (*hip::Api::*Member)(Args...)>
struct Forward<kFunction, Member> {
  static hipError_t call(Args... args) {
    using Copies = Copied<hipError_t(Args...)>;
    static_assert(Copies::value || !(is_node_struct<Args> || ...) || passes_structs_as_they_are(kFunction),
                  "a new form of a function of nodes: copy what it is given, or name it above");
    Interposer& self = Interposer::current();
    if (self.count_and_decide(kFunction)) return kInjectedError;
    if constexpr (Copies::value) {
      if (self.passes_copies()) Copies::pass(self, args...);
    }
    self.begin_call();
    const hipError_t status = (self.inner().*Member)(args...);
    self.end_call();
    if constexpr (gives_back(kFunction)) {
      if (status != hipSuccess) self.note_refused_return();
    }
    if constexpr (kFunction == Function::k_hipGraphLaunch) {
      if (status == hipSuccess) self.note_launched(args...);
    }
    if constexpr (Copies::value) self.poison_passed();
    return status;
  }
};

bool is_graph_function(Function function) {
  static const std::array<bool, kFunctions> graph = [] {
    std::array<bool, kFunctions> flags{};
    // Destroy functions are left out: all that a caller can do about a failed destroy is to try again.
    for (std::size_t i = 0; i < kFunctions; ++i) {
      flags[i] = kNames[i].starts_with("hipGraph") && !kNames[i].ends_with("Destroy");
    }
    return flags;
  }();
  return graph[static_cast<std::size_t>(function)];
}

}  // namespace

std::string_view function_name(Function function) {
  return kNames[static_cast<std::size_t>(function)];
}

std::optional<Function> find_function(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return {};
  return static_cast<Function>(found - kNames.begin());
}

Interposer::Interposer() = default;

void Interposer::begin(const hip::Api& inner, bool poison, bool keep) {
  inner_ = &inner;
  poison_ = poison;
  keep_ = keep;
  counts_.fill(0);
  armed_.fill(0);
  armed_any_ = calls_ = graph_calls_ = fired_ = refused_returns_ = 0;
  last_fired_.reset();
  launched_ = nullptr;
  kernels_.clear();
  passed_.clear();
  for (Chunk& chunk : chunks_) chunk.used = 0;
  // A function that the inner table lacks stays missing.
#define HIP_FUNCTION(name, ...) \
  table_.name = inner.name == nullptr ? nullptr : Forward<Function::k_##name, &hip::Api::name>::call;
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
}

Interposer& Interposer::current() {
  assert(t_current != nullptr);
  return *t_current;
}

Interposer::Scope::Scope(Interposer& interposer, Turn* turn)
    : previous_(std::exchange(t_current, &interposer)), previous_turn_(std::exchange(t_turn, turn)) {}
Interposer::Scope::~Scope() {
  t_current = previous_;
  t_turn = previous_turn_;
}

void Interposer::begin_call() {
  if (t_turn == nullptr) return;
  t_turn->passed_.swap(passed_);
  t_turn->leave();
}

void Interposer::end_call() {
  if (t_turn == nullptr) return;
  t_turn->enter();
  t_turn->passed_.swap(passed_);
}

bool Interposer::count_and_decide(Function function) {
  const auto index = static_cast<std::size_t>(function);
  ++counts_[index];
  ++calls_;
  bool fails = false;
  if (is_graph_function(function)) {
    ++graph_calls_;
    fails = armed_any_ != 0 && --armed_any_ == 0;
  }
  if (armed_[index] != 0 && --armed_[index] == 0) fails = true;
  if (fails) {
    ++fired_;
    last_fired_ = function;
  }
  return fails;
}

void* Interposer::pass(const void* bytes, std::size_t size) {
  constexpr std::size_t kChunkBytes = 1 << 16;
  constexpr std::size_t kAlignment = 16;
  const std::size_t needed = (size + kAlignment - 1) / kAlignment * kAlignment;
  auto chunk = std::ranges::find_if(chunks_, [&](const Chunk& c) { return c.used + needed <= c.size; });
  if (chunk == chunks_.end()) {
    const std::size_t bigger = std::max(kChunkBytes, needed);
    chunks_.push_back({std::make_unique<std::byte[]>(bigger), bigger, 0});
    chunk = chunks_.end() - 1;
  }
  std::byte* copy = chunk->bytes.get() + chunk->used;
  chunk->used += needed;
  if (size != 0) std::memcpy(copy, bytes, size);
  passed_.push_back({copy, size});
  return copy;
}

void Interposer::poison_passed() {
  for (const Passed& passed : passed_) {
    if (poison_) std::memset(passed.bytes, static_cast<int>(kPoison), passed.size);
  }
  passed_.clear();
}

const KernelSpec* Interposer::kernel_of(hipFunction_t function) const {
  const auto found = kernels_.find(function);
  return found == kernels_.end() ? nullptr : found->second;
}

}  // namespace verify
