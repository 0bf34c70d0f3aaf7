// Runs one launch of a kernel, as the packet processor of a gfx942 would start it.
//
// Every wave runs until it ends or faults. The waves of a workgroup meet at barriers; workgroups make progress together
// (as many as Limits::resident_waves allows), so that a kernel whose workgroups wait for each other ends if they all
// fit. A launch is deterministic: waves take turns of a fixed number of instructions, in order.
//
// The initial registers follow AMDGPU's usage document for gfx942 with architected flat scratch and packed work item
// ids. A launch never guesses: anything unknown ends it, with a fault that names kernel, instruction and place.
// Not modelled: time, caches, the order in which hardware would run waves, exceptions, and hardware registers
// other than MODE.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "model/gfx942/memory.h"
#include "model/gfx942/program.h"
#include "model/gfx942/wave.h"

namespace gfx942 {

struct Dispatch {
  const Kernel* kernel = nullptr;
  std::array<u32, 3> grid{1, 1, 1};       // in work items; the last workgroup of a dimension may be partial
  std::array<u32, 3> workgroup{1, 1, 1};  // in work items, at most 1024 in all
  u64 kernarg_address = 0;
  u64 packet_address = 0;  // of the dispatch packet in memory: kernels read grid sizes there
  u64 queue_address = 0;
  u64 dispatch_id = 0;
  u32 group_bytes = 0;    // of the packet: static and dynamic LDS; the kernel's own size if larger
  u32 private_bytes = 0;  // of the packet: scratch of a work item; the kernel's own size if larger
};

struct Limits {
  u64 instructions = u64{1} << 32;  // of all waves together
  u32 resident_waves = 1024;        // that may be under way at once; one workgroup always may
  u64 clock = 0;                    // where s_memtime starts: add Finished::instructions for a clock that goes on
  const std::atomic<bool>* stop = nullptr;  // once it is true the launch ends with a fault, within one turn of a wave
};

inline constexpr u32 kMaxWorkgroup = 1024;
inline constexpr u32 kMaxGroupBytes = 64 * 1024;
inline constexpr u32 kMaxPrivateBytes = 1 << 20;

struct Fault {
  FaultKind kind = FaultKind::kMemory;
  std::string text;  // everything below in one sentence
  std::string kernel;
  std::string instruction;  // as the disassembler prints it
  u64 pc = 0;
  u64 offset = 0;  // of pc, from the kernel's entry
  std::array<u32, 3> workgroup{};
  u32 lane = kLanes;  // kLanes: the wave as a whole
  u64 address = 0;    // that was accessed, or jumped to
};

struct Finished {
  u64 instructions = 0;
};

using Outcome = std::variant<Finished, Fault>;

// A launch that is advanced piece by piece. Program, dispatch, memory and limits are not owned and outlive it. It may
// be advanced by one thread after another.
class Launch {
 public:
  Launch(const Program& program, const Dispatch& dispatch, Memory& memory, const Limits& limits);
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  ~Launch();

  // Executes at least `instructions` more, or what is left of the launch if that is less. The outcome, once it has
  // ended: then no other call may follow.
  [[nodiscard]] std::optional<Outcome> advance(u64 instructions);

 private:
  class State;
  std::unique_ptr<State> state_;
};

// The whole launch at once.
[[nodiscard]] Outcome run(const Program& program, const Dispatch& dispatch, Memory& memory, const Limits& limits = {});

}  // namespace gfx942
