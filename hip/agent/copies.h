// Copies and fills that run asynchronously: engines, each an actor with a list of work, and a thread of its
// own where the machine is not stepped.
//
// An engine starts the first copy of its list with all dependencies met; a seed may choose another such copy and delay
// it. Only signals order copies. Every byte is checked before it is touched: both sides must be live allocations, or
// registered host memory. A copy that is not legal is a fault; its completion signal changes all the same.
#pragma once

#include <hsa/hsa_ext_amd.h>

#include <list>
#include <optional>
#include <vector>

#include "hip/agent/faults.h"
#include "hip/agent/schedule.h"
#include "hip/agent/signals.h"
#include "hip/agent/stepper.h"
#include "hip/agent/view.h"

namespace agent {

// A box of bytes: width bytes, height rows, depth slices.
struct CopyShape {
  u64 width = 0;
  u64 height = 1;
  u64 depth = 1;
  u64 to_row = 0;  // distances in bytes
  u64 to_slice = 0;
  u64 from_row = 0;
  u64 from_slice = 0;
};

struct CopyWork {
  u64 to = 0;
  u64 from = 0;
  CopyShape shape;
  std::vector<SignalSlot*> dependencies;
  SignalSlot* completion = nullptr;
};

class Engine final : public Actor {
 public:
  Engine(AddressMap& map, Signals& signals, Faults& faults, const Schedule& schedule, Stepper& stepper, u32 agent,
         u64 index);
  ~Engine() override;

  void add(CopyWork work);
  // Whether the calling thread is the engine's own thread, which cannot wait for its own end.
  [[nodiscard]] bool runs_here() const { return thread_.get_id() == hip::sync::this_thread_id(); }
  // Ends the thread of an engine that is not busy; and starts it again, in a child of fork, too.
  void rest();
  void wake();
  [[nodiscard]] bool busy() const { return pending_.load(std::memory_order_relaxed) != 0; }
  [[nodiscard]] u64 done() const { return done_.load(std::memory_order_relaxed); }

  [[nodiscard]] bool ready() override;
  Stepped step() override;

 private:
  void run();
  [[nodiscard]] bool take(CopyWork& work);
  void begin();
  void complete();
  void carry_out(const CopyWork& work);
  void copy_row(u64 to, u64 from, u64 bytes, DeviceFault& fault);

  Signals& signals_;
  Stepper& stepper_;
  Faults& faults_;
  View view_;
  Schedule::Stream schedule_;
  const hsa_agent_t handle_;
  std::optional<CopyWork> present_;  // was copied and is not yet signalled
  u64 start_ = 0;
  std::optional<DeviceFault> fault_;  // of the present copy
  hip::sync::Mutex mutex_;
  std::list<CopyWork> work_;
  hip::sync::Atomic<u64> pending_{0};
  hip::sync::Atomic<u64> done_{0};
  hip::sync::Atomic<bool> stop_{false};
  hip::sync::Thread thread_;
};

}  // namespace agent
