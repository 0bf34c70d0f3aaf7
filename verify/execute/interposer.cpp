#include "verify/execute/interposer.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace verify {

namespace {

constexpr std::array<std::string_view, kFunctions> kNames = {
#define HIP_FUNCTION(name, ...) std::string_view(#name),
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
};

thread_local Interposer* t_current = nullptr;

constexpr bool gives_back(Function function) {
  const std::string_view name = kNames[static_cast<std::size_t>(function)];
  return name.ends_with("Destroy") || name.starts_with("hipFree") || name == "hipHostFree";
}

// Forwards one function; `Member` is its place in the table.
template <Function kFunction, auto Member>
struct Forward;
template <Function kFunction, class R, class... Args, R (*hip::Api::*Member)(Args...)>
struct Forward<kFunction, Member> {
  static R call(Args... args) {
    Interposer& self = Interposer::current();
    if (self.count_and_decide(kFunction)) return kInjectedError;
    if constexpr (gives_back(kFunction)) {
      const R status = (self.inner().*Member)(args...);
      if (status != hipSuccess) self.note_refused_return();
      return status;
    } else {
      return (self.inner().*Member)(args...);
    }
  }
};

// ---- functions whose arguments are passed as copies and poisoned

// Dependencies of a node that is added.
const hipGraphNode_t* pass_nodes(Interposer& self, const hipGraphNode_t* nodes, std::size_t count) {
  if (nodes == nullptr || count == 0) return nodes;
  return static_cast<const hipGraphNode_t*>(self.pass(nodes, count * sizeof *nodes));
}

template <class T>
const T* pass_struct(Interposer& self, const T* params) {
  return params == nullptr ? nullptr : static_cast<const T*>(self.pass(params, sizeof *params));
}

// `extra`: the block, its size and the list itself; anything that is not such a list is passed as it is.
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
const T* pass_params(Interposer& self, const T* params) {
  if constexpr (std::is_same_v<T, hipKernelNodeParams>) {
    return pass_kernel(self, params);
  } else {
    return pass_struct(self, params);
  }
}

// hipGraphAdd*Node(node out, graph, dependencies, count, params)
template <Function kFunction, auto Member, class T>
hipError_t add_node(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies, std::size_t count,
                    const T* params) {
  Interposer& self = Interposer::current();
  if (self.count_and_decide(kFunction)) return kInjectedError;
  if (!self.passes_copies()) return (self.inner().*Member)(out, graph, dependencies, count, params);
  const hipError_t status =
      (self.inner().*Member)(out, graph, pass_nodes(self, dependencies, count), count, pass_params(self, params));
  self.poison_passed();
  return status;
}

// hipGraph*NodeSetParams(node, params)
template <Function kFunction, auto Member, class T>
hipError_t set_node(hipGraphNode_t node, const T* params) {
  Interposer& self = Interposer::current();
  if (self.count_and_decide(kFunction)) return kInjectedError;
  if (!self.passes_copies()) return (self.inner().*Member)(node, params);
  const hipError_t status = (self.inner().*Member)(node, pass_params(self, params));
  self.poison_passed();
  return status;
}

// hipGraphExec*NodeSetParams(exec, node, params)
template <Function kFunction, auto Member, class T>
hipError_t set_exec_node(hipGraphExec_t exec, hipGraphNode_t node, T* params) {
  Interposer& self = Interposer::current();
  if (self.count_and_decide(kFunction)) return kInjectedError;
  if (!self.passes_copies()) return (self.inner().*Member)(exec, node, params);
  const auto* passed = pass_params(self, const_cast<const std::remove_const_t<T>*>(params));
  const hipError_t status = (self.inner().*Member)(exec, node, const_cast<T*>(passed));
  self.poison_passed();
  return status;
}

// hipGraph*Dependencies(graph, from, to, count)
template <Function kFunction, auto Member>
hipError_t change_edges(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to, std::size_t count) {
  Interposer& self = Interposer::current();
  if (self.count_and_decide(kFunction)) return kInjectedError;
  if (!self.passes_copies()) return (self.inner().*Member)(graph, from, to, count);
  const hipError_t status =
      (self.inner().*Member)(graph, pass_nodes(self, from, count), pass_nodes(self, to, count), count);
  self.poison_passed();
  return status;
}

// What a stream is given, which a capture keeps.
hipError_t launch_kernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                         unsigned block_y, unsigned block_z, unsigned shared_bytes, hipStream_t stream, void** params,
                         void** extra) {
  Interposer& self = Interposer::current();
  if (self.count_and_decide(Function::k_hipModuleLaunchKernel)) return kInjectedError;
  hipKernelNodeParams passed{};
  passed.func = function;
  passed.kernelParams = params;
  passed.extra = extra;
  if (self.passes_copies()) passed = *pass_kernel(self, &passed);
  const hipError_t status =
      self.inner().hipModuleLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                                         stream, passed.kernelParams, passed.extra);
  self.poison_passed();
  return status;
}

hipError_t copy_async(const hipMemcpy3DParms* params, hipStream_t stream) {
  Interposer& self = Interposer::current();
  if (self.count_and_decide(Function::k_hipMemcpy3DAsync)) return kInjectedError;
  const hipError_t status =
      self.inner().hipMemcpy3DAsync(self.passes_copies() ? pass_struct(self, params) : params, stream);
  self.poison_passed();
  return status;
}

#if HIP_VERSION >= 60000000  // earlier headers have no such functions
hipGraphNodeParams* pass_generic(Interposer& self, const hipGraphNodeParams* params) {
  if (params == nullptr) return nullptr;
  hipGraphNodeParams copy = *params;
  if (params->type == hipGraphNodeTypeKernel) copy.kernel = *pass_kernel(self, &params->kernel);
  return static_cast<hipGraphNodeParams*>(self.pass(&copy, sizeof copy));
}

hipError_t add_generic(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies, std::size_t count,
                       hipGraphNodeParams* params) {
  Interposer& self = Interposer::current();
  if (self.count_and_decide(Function::k_hipGraphAddNode)) return kInjectedError;
  if (!self.passes_copies()) return self.inner().hipGraphAddNode(out, graph, dependencies, count, params);
  const hipError_t status = self.inner().hipGraphAddNode(out, graph, pass_nodes(self, dependencies, count), count,
                                                         pass_generic(self, params));
  self.poison_passed();
  return status;
}

hipError_t set_generic(hipGraphNode_t node, hipGraphNodeParams* params) {
  Interposer& self = Interposer::current();
  if (self.count_and_decide(Function::k_hipGraphNodeSetParams)) return kInjectedError;
  if (!self.passes_copies()) return self.inner().hipGraphNodeSetParams(node, params);
  const hipError_t status = self.inner().hipGraphNodeSetParams(node, pass_generic(self, params));
  self.poison_passed();
  return status;
}

hipError_t set_generic_in_exec(hipGraphExec_t exec, hipGraphNode_t node, hipGraphNodeParams* params) {
  Interposer& self = Interposer::current();
  if (self.count_and_decide(Function::k_hipGraphExecNodeSetParams)) return kInjectedError;
  if (!self.passes_copies()) return self.inner().hipGraphExecNodeSetParams(exec, node, params);
  const hipError_t status = self.inner().hipGraphExecNodeSetParams(exec, node, pass_generic(self, params));
  self.poison_passed();
  return status;
}

#endif

void poison_overrides(hip::Api& table) {
#if HIP_VERSION >= 60000000
  if (table.hipGraphAddNode != nullptr) table.hipGraphAddNode = add_generic;
  if (table.hipGraphNodeSetParams != nullptr) table.hipGraphNodeSetParams = set_generic;
  if (table.hipGraphExecNodeSetParams != nullptr) table.hipGraphExecNodeSetParams = set_generic_in_exec;
#endif
  using hip::Api;
#define OVERRIDE(kind, name, type) \
  if (table.name != nullptr) table.name = kind<Function::k_##name, &Api::name, type>
  OVERRIDE(add_node, hipGraphAddKernelNode, hipKernelNodeParams);
  OVERRIDE(add_node, hipGraphAddMemcpyNode, hipMemcpy3DParms);
  OVERRIDE(add_node, hipGraphAddMemsetNode, hipMemsetParams);
  OVERRIDE(add_node, hipGraphAddHostNode, hipHostNodeParams);
  OVERRIDE(set_node, hipGraphKernelNodeSetParams, hipKernelNodeParams);
  OVERRIDE(set_node, hipGraphMemcpyNodeSetParams, hipMemcpy3DParms);
  OVERRIDE(set_node, hipGraphMemsetNodeSetParams, hipMemsetParams);
  OVERRIDE(set_node, hipGraphHostNodeSetParams, hipHostNodeParams);
  OVERRIDE(set_exec_node, hipGraphExecKernelNodeSetParams, const hipKernelNodeParams);
  OVERRIDE(set_exec_node, hipGraphExecMemcpyNodeSetParams, hipMemcpy3DParms);
  OVERRIDE(set_exec_node, hipGraphExecMemsetNodeSetParams, const hipMemsetParams);
  OVERRIDE(set_exec_node, hipGraphExecHostNodeSetParams, const hipHostNodeParams);
#undef OVERRIDE
#define OVERRIDE(name) \
  if (table.name != nullptr) table.name = change_edges<Function::k_##name, &Api::name>
  OVERRIDE(hipGraphAddDependencies);
  OVERRIDE(hipGraphRemoveDependencies);
#undef OVERRIDE
  if (table.hipModuleLaunchKernel != nullptr) table.hipModuleLaunchKernel = launch_kernel;
  if (table.hipMemcpy3DAsync != nullptr) table.hipMemcpy3DAsync = copy_async;
}

bool is_graph_function(Function function) {
  static const std::array<bool, kFunctions> graph = [] {
    std::array<bool, kFunctions> flags{};
    // Destroying is left out: there is nothing sensible to do about a destroy that fails but to try it again.
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
  const auto found = std::find(kNames.begin(), kNames.end(), name);
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
  kernels_.clear();
  passed_.clear();
  for (Chunk& chunk : chunks_) chunk.used = 0;
  // A function that the inner table lacks stays missing.
#define HIP_FUNCTION(name, ...) \
  table_.name = inner.name == nullptr ? nullptr : Forward<Function::k_##name, &hip::Api::name>::call;
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
  poison_overrides(table_);
}

Interposer& Interposer::current() {
  assert(t_current != nullptr);
  return *t_current;
}

Interposer::Scope::Scope(Interposer& interposer) : previous_(std::exchange(t_current, &interposer)) {}
Interposer::Scope::~Scope() {
  t_current = previous_;
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
  auto chunk = std::find_if(chunks_.begin(), chunks_.end(), [&](const Chunk& c) { return c.used + needed <= c.size; });
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
