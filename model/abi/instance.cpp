// An instance of the model behind the C ABI; the contract is in in_process.h.
#include <algorithm>
#include <utility>

#include "model/abi/context.h"

namespace model::abi {

InProcess::InProcess(const InProcessOptions& options) : state_(std::make_unique<State>(options)) {}

InProcess::~InProcess() = default;

void InProcess::reset(const InProcessOptions& options) {
  const bool same_kernels = options.kernels.data() == state_->options.kernels.data() &&
                            options.kernels.size() == state_->options.kernels.size();
  if (!same_kernels) state_->images.clear();
  state_->options = options;
  state_->own_thread = {};
  state_->other_threads.clear();
  use_thread(0);
  state_->code.clear();
  state_->hostcalls.reset();
  state_->thread_streams.clear();
  state_->capture_nodes.clear();
  state_->variables.clear();
  state_->kernels.clear();
  state_->semaphores.clear();
  state_->limits = default_limits();
  state_->runtime.reset(options.model);
}

void InProcess::use_thread(std::uint32_t n) {
  state_->thread = n == 0 ? &state_->own_thread : &state_->other_threads[n];
}

std::size_t InProcess::per_thread_streams() const {
  return state_->thread_streams.size();
}

std::size_t InProcess::semaphores() const {
  return state_->semaphores.size();
}

Stream& per_thread_stream(State& state) {
  const int device = state.thread->device;
  ObjectId& id = state.thread_streams[{state.thread, device}];
  if (Stream* made = state.runtime.find_stream(id)) return *made;
  Stream& stream = state.runtime.create_stream(kStreamDefault, 0, device);
  id = stream.id();
  return stream;
}

void InProcess::add_variable(const void* symbol, std::size_t bytes) {
  state_->variables[symbol] = {0, bytes};
}

void InProcess::add_kernel(const void* symbol, const Function& kernel) {
  state_->kernels[{symbol, kernel.kernel()->device}] = kernel.id();
}

std::size_t InProcess::variables_in_memory() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(state_->variables, [](const auto& entry) { return entry.second.address != 0; }));
}

Runtime& InProcess::runtime() {
  return state_->runtime;
}

const Runtime& InProcess::runtime() const {
  return state_->runtime;
}

hipModule_t InProcess::add_module(std::vector<Kernel> kernels) {
  KernelList list;
  for (Kernel& kernel : kernels) list.push_back(std::make_shared<const Kernel>(std::move(kernel)));
  return to_handle<hipModule_t>(state_->runtime.load_module(std::move(list)).id());
}

Graph* InProcess::graph(hipGraph_t handle) {
  return find(*state_, handle);
}
Node* InProcess::node(hipGraphNode_t handle) {
  return find(*state_, handle);
}
GraphExec* InProcess::exec(hipGraphExec_t handle) {
  return find(*state_, handle);
}
Stream* InProcess::stream(hipStream_t handle) {
  return find(*state_, handle);
}
Event* InProcess::event(hipEvent_t handle) {
  return find(*state_, handle);
}
Function* InProcess::function(hipFunction_t handle) {
  return find(*state_, handle);
}
hipGraphNode_t InProcess::node_handle(ObjectId id) {
  return to_handle<hipGraphNode_t>(id);
}
hipFunction_t InProcess::function_handle(ObjectId id) {
  return to_handle<hipFunction_t>(id);
}

}  // namespace model::abi
