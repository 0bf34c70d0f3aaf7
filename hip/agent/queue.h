// A queue in AMD's layout (amd_queue_t), an actor that takes its packets, and its thread where the machine is not
// stepped.
//
// Packets are taken in order once the doorbell was rung for them: kernel dispatch, barrier-AND, barrier-OR and AMD's
// barrier-value packets. A kernel is complete, with all its memory written, before its completion signal changes.
// Consecutive dispatches with a clear barrier bit may run in any order; a seed chooses the order.
// A kernel that faults ends its queue: later packets complete without being executed, so that no wait hangs.
//
// Not modelled: caches (fences are free), priorities and masks of compute units, packets of other vendors and agent
// dispatches (they are faults), kernels of one queue running at the same time.
#pragma once

#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <optional>
#include <vector>

#include "hip/agent/code.h"
#include "hip/agent/faults.h"
#include "hip/agent/schedule.h"
#include "hip/agent/signals.h"
#include "hip/agent/stepper.h"
#include "hip/agent/view.h"
#include "model/gfx942/run.h"

namespace agent {

class Machine;

using QueueCallback = void (*)(hsa_status_t, hsa_queue_t*, void*);

struct QueueRequest {
  u32 agent = 1;
  u64 index = 0;  // the number of queues before it
  u32 packets = 0;
  hsa_queue_type32_t type = HSA_QUEUE_TYPE_MULTI;
  QueueCallback callback = nullptr;
  void* data = nullptr;
};

class Queue final : public Actor {
 public:
  static constexpr u32 kMaxPackets = 131072;
  static constexpr u32 kMinPackets = 64;

  // Memory and doorbell must have been obtained by the caller: creation cannot fail.
  Queue(Machine& machine, const QueueRequest& request, u64 memory, SignalSlot* doorbell);
  // A kernel under way is stopped; packets that were not taken stay as they are.
  ~Queue() override;

  [[nodiscard]] static u64 memory_bytes(u32 packets);
  [[nodiscard]] hsa_queue_t* handle() { return &shared_->hsa_queue; }
  [[nodiscard]] u64 memory() const { return address_of(shared_); }
  [[nodiscard]] u32 packets() const { return shared_->hsa_queue.size; }
  [[nodiscard]] u32 agent() const { return request_.agent; }
  [[nodiscard]] SignalSlot* doorbell() const { return doorbell_; }
  // Whether the calling thread is the one that takes the packets, which cannot wait for its own end.
  [[nodiscard]] bool runs_here() const { return thread_.get_id() == hip::sync::this_thread_id(); }
  // Whether every packet that the doorbell was rung for is done.
  [[nodiscard]] bool idle() const;
  // Ends the thread of an idle queue; and starts it again, in a child of fork, too.
  void rest();
  void wake();
  // From now on, packets up to and including number `index` may be taken.
  void ring(u64 index);

  [[nodiscard]] bool ready() override;
  // Takes the next packet and executes it, or at least 65,536 instructions of its kernel and at most one turn of a
  // workgroup beyond; or signals that it is complete.
  Stepped step() override;

 private:
  void run();
  void note_up_to(u64 known, u64 index);
  void note(u64 index);
  [[nodiscard]] bool has_packet() const;
  [[nodiscard]] bool wait_for_packet();
  void wait_for_signals();
  void pick();
  void act();
  void complete();
  [[nodiscard]] u16 header_at(u64 index) const;
  [[nodiscard]] std::byte* packet_at(u64 index) const;
  void retire(u64 index);
  // How many packets from `index` on may run in any order; at least one.
  [[nodiscard]] u32 unordered_from(u64 index) const;
  [[nodiscard]] bool start_launch();
  void end_launch(const gfx942::Outcome& outcome);
  // The signals that the present packet waits for, and whether it waits no longer.
  [[nodiscard]] std::vector<SignalSlot*> awaited() const;
  [[nodiscard]] bool released();
  [[nodiscard]] const hsa_amd_barrier_value_packet_t* barrier_value() const;  // nullptr: it is none
  [[nodiscard]] hsa_signal_t completion() const;
  void fail(const DeviceFault& fault);

  Machine& machine_;
  const QueueRequest request_;
  amd_queue_v2_t* const shared_;
  std::byte* const ring_;
  SignalSlot* const doorbell_;
  View view_;
  Schedule::Stream schedule_;
  gfx942::Limits limits_;

  // Packets [index_, index_ + count_) are under way, in an order of their own; of these, `taken_` were begun (a bit for
  // each), `left_` are not complete. count_ 0: none is under way.
  u64 index_ = 0;
  u32 count_ = 0;
  u32 left_ = 0;
  u64 taken_ = 0;
  // The present packet.
  enum class Phase : u8 { kPick, kAct, kComplete };
  Phase phase_ = Phase::kPick;
  u64 at_ = 0;
  u64 start_ = 0;
  const hsa_signal_t* and_signal_ = nullptr;  // of a barrier-AND: the first that was not yet seen below 1
  alignas(64) std::byte packet_[64];
  std::function<void()> to_tell_;  // of a fault
  FoundKernel found_;
  gfx942::Dispatch dispatch_;
  std::optional<gfx942::Launch> launch_;

  bool failed_ = false;
  hip::sync::Atomic<bool> stop_{false};
  hip::sync::Atomic<u64> rung_{0};   // packets below this one may be taken
  hip::sync::Atomic<u64> noted_{0};  // packets below this one are noted, if a signature was asked for
  Doorway bell_;
  hip::sync::Thread thread_;
};

}  // namespace agent
