// verify::Platform: a HIP runtime as the executor meets it: a table of functions, memory that a client of the runtime
// can see, kernels by name, and, where the runtime is a model, a look inside.
//
// Addresses are the runtime's. A baseline is laid out like its subject: place_next() makes the next allocation of a
// platform that can (the model) go to a given address; the other kind only reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

class Platform {
 public:
  virtual ~Platform() = default;

  // Calls `work` as host thread `thread` (0: this one), and returns when it is done. `work` then sees the state that
  // HIP keeps for that thread.
  virtual void on_thread(Id thread, const std::function<void()>& work);
  // The table's functions may be called on this thread between the two.
  virtual void enter() {}
  virtual void leave() {}
  // Forgets the last program. `schedule_seed` picks one of the legal orders where the runtime lets itself be asked.
  virtual void begin(std::uint64_t schedule_seed) = 0;
  [[nodiscard]] virtual const hip::Api& api() const = 0;
  // Of kernel_catalogue(); of a device that need_devices() was told of.
  [[nodiscard]] virtual hipFunction_t function(std::size_t kernel_index, Id device) = 0;
  // The next program wants that many devices. False: there are fewer.
  virtual bool need_devices(Id count) { return count == 1; }

  // Notes the arguments of a kernel of a loaded code object.
  virtual void know_kernel(hipFunction_t, const KernelSpec&) {}
  // The variables of the project's device code: kSymbols for programs, and one for calls with wrong arguments.
  static constexpr std::size_t kVariables = kSymbols + 1, kVariableOfBadCalls = kSymbols;
  // The n-th of them, as HIP's functions name it; null: there are none.
  [[nodiscard]] virtual const void* symbol(std::size_t n) {
    static_cast<void>(n);
    return nullptr;
  }

  // Host memory that is not HIP's (malloc). 0 when there is none left.
  virtual hip::DeviceAddress allocate_pageable(std::size_t bytes) = 0;
  virtual void free_pageable(hip::DeviceAddress address) = 0;
  // The harness's own copies to and from device memory, with the device idle. They do not go through the table where
  // the harness's arrays could be mistaken for a buffer: a model that was laid out like a runtime of this process has
  // buffers at addresses that the process's heap may hand out by now.
  virtual hip::Status store(hip::DeviceAddress address, const std::byte* bytes, std::size_t size);
  virtual hip::Status load(hip::DeviceAddress address, std::byte* bytes, std::size_t size);
  // The bytes of host memory (pinned or pageable) as this process sees them; null when it does not.
  virtual std::byte* host_view(hip::DeviceAddress address, std::size_t bytes) = 0;
  // Memory of arenas that outlives a program; null where every program has arenas of its own, because the remaining
  // allocations of a program are counted.
  [[nodiscard]] virtual KeptMemory* kept_memory() { return nullptr; }
  // The next allocation goes there. False when the platform cannot be told.
  virtual bool place_next(hip::DeviceAddress address) = 0;

  // Nodes and edges that the runtime's calls have visited so far, where it is a model; else 0.
  [[nodiscard]] virtual std::uint64_t steps() const { return 0; }
  // The platform on which the systems around the patcher run (verify/systems): another instance, where there is one.
  // It is not entered together with this one and has to be begun separately.
  [[nodiscard]] virtual Platform& for_systems() { return *this; }

  [[nodiscard]] virtual RuntimeNotes notes() { return {}; }
  // Describes the resources that were not released; empty when there are none.
  [[nodiscard]] virtual std::string leaks() { return {}; }
  // The resources that are held now; empty where the runtime cannot be asked.
  [[nodiscard]] virtual std::vector<Held> held() { return {}; }
  // A look inside, where the runtime is a model: the nodes that a graph or an executable graph holds now. Nothing for
  // other runtimes, and for an invalid handle.
  [[nodiscard]] virtual bool white_box() const { return false; }
  [[nodiscard]] virtual std::optional<std::vector<model::NodeView>> look_into(hipGraph_t) { return {}; }
  [[nodiscard]] virtual std::optional<std::vector<model::NodeView>> look_into(hipGraphExec_t) { return {}; }

 private:
  HostThreads threads_;
};

}  // namespace verify
