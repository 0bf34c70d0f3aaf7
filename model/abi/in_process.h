// model::abi::InProcess: the model behind HIP's C ABI, as a hip::Api table.
//
// HIP's functions take no context: the table's functions act on the InProcess that is active on the calling thread
// (Activate). Several instances, a subject and a baseline say, take turns in one process. An instance is used by one
// thread at a time.
//
// Handles are numbers, not pointers: nothing is dereferenced before it was looked up, and a destroyed handle is
// recognised for as long as the instance lives. A null or unknown handle answers kInvalidValue or HIP's documented
// status. Everything that the caller passes is copied before the call returns. Memory that getters return belongs to
// the model and is valid until the node changes or dies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hip/api/api.h"
#include "hip/kernels/host_kernels.h"
#include "model/abi/hostcall.h"
#include "model/runtime.h"

namespace model::abi {

struct InProcessOptions {
  Options model;
  // Host semantics by kernel name, for modules that are loaded; must outlive the instance. A kernel without an entry is
  // run by the gfx942 interpreter; where the build has none, it can be loaded, and executing it is a fault.
  std::span<const hg::HostKernel> kernels;
  // Prints the text of device printf; empty: to the process's standard streams.
  Print print;
};

class InProcess {
 public:
  explicit InProcess(const InProcessOptions& options = {});
  InProcess(const InProcess&) = delete;
  InProcess& operator=(const InProcess&) = delete;
  ~InProcess();
  void reset(const InProcessOptions& options);

  [[nodiscard]] static const hip::Api& api();
  [[nodiscard]] Runtime& runtime();
  [[nodiscard]] const Runtime& runtime() const;

  // From now on, calls count as made by the n-th host thread in everything that HIP keeps for each thread (0: the first
  // thread, to which a reset returns).
  void use_thread(std::uint32_t n);
  // How many streams hipStreamPerThread made; they live until the instance is reset or destroyed.
  [[nodiscard]] std::size_t per_thread_streams() const;
  [[nodiscard]] std::size_t semaphores() const;  // imported and not destroyed

  // Adds a variable of device code: `symbol` stands for `bytes` of device memory, which are allocated at the first
  // request for the variable and kept. A reset forgets the variable.
  void add_variable(const void* symbol, std::size_t bytes);
  // Makes `symbol` stand for a module's kernel on the kernel's device, as compilers let a host function do. A kernel
  // that has a symbol is read back by it. A reset forgets the symbol.
  void add_kernel(const void* symbol, const Function& kernel);
  // How many of the added variables have memory.
  [[nodiscard]] std::size_t variables_in_memory() const;

  // A module of kernels made by hand, for tests without a code object.
  [[nodiscard]] hipModule_t add_module(std::vector<Kernel> kernels);

  // White box: the object behind a handle, or null.
  [[nodiscard]] Graph* graph(hipGraph_t handle);
  [[nodiscard]] Node* node(hipGraphNode_t handle);
  [[nodiscard]] GraphExec* exec(hipGraphExec_t handle);
  [[nodiscard]] Stream* stream(hipStream_t handle);  // null handle: the null stream
  [[nodiscard]] Event* event(hipEvent_t handle);
  [[nodiscard]] Function* function(hipFunction_t handle);
  // The handle of an object; null for id 0.
  [[nodiscard]] static hipGraphNode_t node_handle(ObjectId id);
  [[nodiscard]] static hipFunction_t function_handle(ObjectId id);

  // For the implementation of the functions (context.h).
  struct State;
  [[nodiscard]] State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// Makes the table's functions act on an instance, on this thread, until the guard is destroyed. Guards nest.
class Activate {
 public:
  explicit Activate(InProcess& instance);
  Activate(const Activate&) = delete;
  Activate& operator=(const Activate&) = delete;
  ~Activate();

 private:
  InProcess* previous_;
};

// The instance that is active on this thread, or null (calling the table then answers hipErrorNotInitialized).
[[nodiscard]] InProcess* active();

}  // namespace model::abi
