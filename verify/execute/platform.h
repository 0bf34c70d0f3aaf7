// verify::Platform: a HIP runtime as the executor uses it: a table of functions, memory that a client of the runtime
// can see, kernels by name, and, where the runtime is a model, a view of its internal state.
//
// The runtime chooses the addresses. A baseline gets the memory layout of its subject: on a platform that can place
// allocations (the model), place_next() sets the address of the next one. On other platforms it returns false.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "hip/api/api.h"
#include "hip/relocation.h"
#include "model/graph.h"
#include "verify/execute/host_threads.h"
#include "verify/execute/kept_memory.h"
#include "verify/execute/observation.h"
#include "verify/program/program.h"

namespace verify {

// Two operations that nothing orders touched the same bytes. An operation has a number (Platform::operations()), and a
// node where it was a graph's.
struct RaceSeen {
  struct Party {
    hipGraphNode_t node = nullptr;
    std::uint64_t operation = 0;
    bool wrote = false;
  };
  Party a, b;
  hip::DeviceAddress begin = 0, end = 0;
};

// The name of the n-th variable of the project's device code.
[[nodiscard]] std::string variable_name(std::size_t n);

class Platform {
 public:
  virtual ~Platform() = default;

  // Runs `work` as host thread `thread` (0: the calling thread) and returns when `work` has ended. `work` sees the
  // state that HIP keeps for that thread.
  virtual void on_thread(Id thread, const std::function<void()>& work);
  // Runs each of `works` as the host thread of its number, at the same time where the runtime may be called by several
  // threads, and returns when all have ended.
  virtual void on_threads(const std::map<Id, std::function<void()>>& works) { threads_.run(works); }
  // The functions of api() may be called on this thread between enter() and leave().
  virtual void enter() {}
  virtual void leave() {}
  // Forgets the last program. `schedule_seed` picks one of the legal orders, where the runtime accepts a seed.
  virtual void begin(std::uint64_t schedule_seed) = 0;
  [[nodiscard]] virtual const hip::Api& api() const = 0;
  // A kernel of kernel_catalogue(), for one of the devices that need_devices() was asked for.
  [[nodiscard]] virtual hipFunction_t function(std::size_t kernel_index, Id device) = 0;
  // Says that the next program needs `count` devices. Returns false where the platform has fewer.
  virtual bool need_devices(Id count) { return count == 1; }

  // The host function that stands for a kernel, the same for all devices: HIP's functions take it in the place of a
  // handle. Null where the platform registers no kernels.
  [[nodiscard]] virtual const void* kernel_symbol(const KernelSpec&) { return nullptr; }
  // Ends the use of such host functions by the program.
  virtual void forget_symbols() {}
  // Notes the arguments of a kernel of a loaded code object.
  virtual void know_kernel(hipFunction_t, const KernelSpec&) {}
  // The variables of the project's device code: kSymbols for programs, and one for calls with wrong arguments.
  static constexpr std::size_t kVariables = kSymbols + 1, kVariableOfBadCalls = kSymbols;
  // The pointer by which HIP's functions name the n-th variable; null where there are no variables.
  [[nodiscard]] virtual const void* symbol(std::size_t n) {
    static_cast<void>(n);
    return nullptr;
  }

  // Host memory that does not come from HIP (malloc). Returns 0 when there is none left.
  virtual hip::DeviceAddress allocate_pageable(std::size_t bytes) = 0;
  virtual void free_pageable(hip::DeviceAddress address) = 0;
  // The harness's own copies to and from device memory, while the device is idle. The model does not copy through the
  // table, where the harness's arrays could be mistaken for a buffer: a model with the layout of a runtime in this
  // process has buffers at addresses that the process's heap may have reused.
  virtual hip::Status store(hip::DeviceAddress address, const std::byte* bytes, std::size_t size);
  virtual hip::Status load(hip::DeviceAddress address, std::byte* bytes, std::size_t size);
  // The bytes of host memory (pinned or pageable) as this process sees them; null where it cannot access them.
  virtual std::byte* host_view(hip::DeviceAddress address, std::size_t bytes) = 0;
  // Memory of arenas that outlives a program; null where every program has arenas of its own, because the remaining
  // allocations of a program are counted.
  [[nodiscard]] virtual KeptMemory* kept_memory() { return nullptr; }
  // Places the next allocation at `address`. Returns false where the platform cannot place allocations.
  virtual bool place_next(hip::DeviceAddress address) = 0;

  // The number of nodes and edges that the runtime's calls have visited so far, where the runtime is a model; else 0.
  [[nodiscard]] virtual std::uint64_t steps() const { return 0; }
  // How many operations streams have been given so far, and the first race among them, where the runtime is a model.
  [[nodiscard]] virtual std::uint64_t operations() const { return 0; }
  [[nodiscard]] virtual std::optional<RaceSeen> first_race() const { return {}; }
  // The platform on which the systems around the patcher run (verify/systems): a second instance where there is one,
  // else this platform. enter() and begin() have to be called on a second instance separately.
  [[nodiscard]] virtual Platform& for_systems() { return *this; }

  // Makes the nth such call below the runtime fail, from now on (0: none); nothing where the runtime's calls cannot be
  // made to fail.
  virtual void fail_below(Below, std::uint64_t nth) { static_cast<void>(nth); }
  // How many calls below the runtime were made to fail so far.
  [[nodiscard]] virtual std::uint64_t failed_below() const { return 0; }

  // Leaves `bytes` of each device's memory free until the next program. Returns false where that cannot be done.
  virtual bool leave_free(std::uint64_t bytes) {
    static_cast<void>(bytes);
    return false;
  }

  [[nodiscard]] virtual RuntimeNotes notes() { return {}; }
  // Describes the resources that were not released; empty when there are none.
  [[nodiscard]] virtual std::string leaks() { return {}; }
  // The resources that the runtime holds now; empty where the runtime cannot report them.
  [[nodiscard]] virtual std::vector<Held> held() { return {}; }
  // Notes what the runtime does from here on, and forgets what it did before, where an observer sits below the runtime.
  virtual void begin_signature() {}
  // The signature of the run: ascending numbers that stand for the work of the runtime. They can only be compared: they
  // are equal for programs that made the runtime do the same. Empty where there is no observer.
  [[nodiscard]] virtual std::vector<std::uint16_t> signature() { return {}; }
  // The internal state, where the runtime is a model: the first `most` nodes that a graph or an executable graph holds
  // now. No value for other runtimes and for an invalid handle.
  [[nodiscard]] virtual bool white_box() const { return false; }
  [[nodiscard]] virtual std::optional<std::vector<model::NodeView>> look_into(hipGraph_t, std::size_t) { return {}; }
  [[nodiscard]] virtual std::optional<std::vector<model::NodeView>> look_into(hipGraphExec_t, std::size_t) {
    return {};
  }

 private:
  HostThreads threads_;
};

}  // namespace verify
