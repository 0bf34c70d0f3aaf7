// Everything between hsa_init and the last hsa_shut_down: agents, pools, queues, engines, handlers, code.
//
// There is one object for the process. It is never destroyed: static destructors of the runtime above may run after
// ours. start() makes the members that need threads or memory. stop() destroys them, in an order after which no handler
// runs and no thread is left. Not supported: fork (the child has no threads), use from a signal handler.
#pragma once

#include <hsa/hsa.h>

#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "hip/agent/address_map.h"
#include "hip/agent/code.h"
#include "hip/agent/configure.h"
#include "hip/agent/copies.h"
#include "hip/agent/faults.h"
#include "hip/agent/handlers.h"
#include "hip/agent/heap.h"
#include "hip/agent/queue.h"
#include "hip/agent/schedule.h"
#include "hip/agent/shared_memory.h"
#include "hip/agent/signals.h"
#include "hip/agent/signature.h"
#include "hip/agent/stepper.h"
#include "hip/agent/virtual_memory.h"

namespace agent {

inline constexpr u32 kEngines = 2;  // of each agent: for copies to it and from it
enum class Call : u8 { kAllocation, kQueue, kSignal, kCodeObject };

// Writes a value of the type that the attribute has; always succeeds.
template <class T>
hsa_status_t put(void* to, const T& value) {
  std::memcpy(to, &value, sizeof(value));
  return HSA_STATUS_SUCCESS;
}

[[nodiscard]] hgagent_options default_options();

class Machine {
 public:
  [[nodiscard]] static Machine& get();
  [[nodiscard]] static u64 now();  // nanoseconds, the clock of every time stamp

  // Options; see configure.h.
  [[nodiscard]] int configure(const hgagent_options& options);
  [[nodiscard]] u64 counter(u32 which);
  // Counts the call; true if it is the one that must fail.
  [[nodiscard]] bool must_fail(Call call);

  hsa_status_t init();
  hsa_status_t shut_down();
  // Called when the process begins to end: waits for a bounded time until queues, engines and handlers have finished
  // their work. The runtime above is destroyed next, and does not expect a handler to run in the middle of that.
  void settle();
  // Ends the threads of the machine, so that this process has none but its own and can fork. False, and nothing has
  // changed: work is under way. wake() starts the threads again, here or in the child, before anything else is called.
  [[nodiscard]] bool rest();
  void wake();  // only if rest() was called
  // Called when the process ends: stops all threads that are left.
  void stop_for_good();
  [[nodiscard]] bool running() const { return running_.load(std::memory_order_acquire); }

  [[nodiscard]] u32 agents() const { return options_.agents; }
  [[nodiscard]] u32 compute_units() const { return options_.compute_units; }
  [[nodiscard]] u64 device_memory() const { return device_memory_.load(std::memory_order_relaxed); }
  [[nodiscard]] u64 instruction_budget() const { return budget_.load(std::memory_order_relaxed); }
  void count_dispatch(u64 instructions);

  [[nodiscard]] static hsa_agent_t agent_handle(u32 agent) { return {kAgentHandles + agent}; }
  // False for a handle that is no agent.
  [[nodiscard]] bool agent_of(hsa_agent_t handle, u32& agent) const;

  [[nodiscard]] AddressMap& map() { return map_; }
  [[nodiscard]] Signals& signals() { return signals_; }
  [[nodiscard]] Schedule& schedule() { return schedule_; }
  [[nodiscard]] Stepper& stepper() { return stepper_; }
  [[nodiscard]] Faults& faults() { return faults_; }
  [[nodiscard]] Signature& signature() { return signature_; }
  [[nodiscard]] Code& code() { return *code_; }
  [[nodiscard]] Handlers& handlers() { return *handlers_; }
  [[nodiscard]] VirtualMemory& virtual_memory() { return *virtual_memory_; }
  [[nodiscard]] SharedMemory& shared_memory() { return *shared_memory_; }
  // Whether the host may access these bytes: those of a live range, or memory outside of the agents' heaps.
  [[nodiscard]] bool host_may_touch(u64 address, u64 bytes);
  [[nodiscard]] Heap& heap(u32 agent) { return *heaps_[agent]; }
  [[nodiscard]] Engine& engine(u32 agent, u32 number);
  [[nodiscard]] bool engine_busy(u32 agent, u32 number);

  [[nodiscard]] hsa_status_t create_queue(QueueRequest request, hsa_queue_t** queue);
  [[nodiscard]] hsa_status_t destroy_queue(hsa_queue_t* queue);
  [[nodiscard]] bool known_queue(const hsa_queue_t* queue);

  // The bytes of an agent's memory that are taken, virtual memory's handles included.
  [[nodiscard]] u64 allocated(u32 agent) const;
  void count_allocation(u32 agent, i64 number, i64 bytes);

 private:
  static constexpr u64 kAgentHandles = 0x100;

  Machine();
  [[nodiscard]] bool settled();
  void start();
  void stop();

  hip::sync::Mutex life_mutex_;
  u32 references_ = 0;
  bool rests_ = false;
  hip::sync::Atomic<bool> running_{false};

  hip::sync::Mutex options_mutex_;
  hgagent_options options_{};
  hip::sync::Atomic<u64> budget_{0};
  hip::sync::Atomic<u64> device_memory_{0};
  hip::sync::Atomic<u64> until_failure_[4] = {};
  hip::sync::Atomic<u64> failed_calls_{0};

  AddressMap map_;
  Signals signals_{map_};
  Schedule schedule_;
  Stepper stepper_{signals_, schedule_};
  Faults faults_;
  Signature signature_;

  std::vector<std::unique_ptr<Heap>> heaps_;
  std::unique_ptr<VirtualMemory> virtual_memory_;
  std::unique_ptr<SharedMemory> shared_memory_;
  std::unique_ptr<Code> code_;
  std::shared_ptr<Handlers> handlers_;
  hip::sync::Mutex engines_mutex_;
  std::map<u32, std::unique_ptr<Engine>> engines_;
  hip::sync::Mutex queues_mutex_;
  std::map<const hsa_queue_t*, std::unique_ptr<Queue>> queues_;
  u64 next_queue_ = 0;

  hip::sync::Atomic<u64> dispatches_{0};
  hip::sync::Atomic<u64> instructions_{0};
  hip::sync::Atomic<u64> allocations_{0};
  hip::sync::Atomic<u64> allocated_[HGAGENT_MAX_AGENTS + 1] = {};
};

}  // namespace agent
