// The state of one wave of 64 work items, and of the workgroup that it belongs to.
//
// Registers are rows of lanes (structure of arrays), so that a loop over lanes vectorises. Memory is touched only
// through Reach (reach.h), which checks every access.
#pragma once

#include <cassert>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "model/gfx942/instruction.h"
#include "model/gfx942/memory.h"

namespace gfx942 {

enum class FaultKind : u8 {
  kMemory,       // an access outside of live memory, of LDS or of scratch
  kMisaligned,   // an atomic operation on an address that is not a multiple of its size
  kUnknown,      // an instruction, or a form of one, that this interpreter does not know
  kTrap,         // s_trap
  kControlFlow,  // a jump to an address where no instruction starts
  kBudget,       // the launch took more instructions than it was given
  kDispatch,     // the dispatch itself cannot be run
};

enum class WaveState : u8 { kReady, kYielded, kAtBarrier, kEnded, kFaulted };

// The high halves of flat addresses of LDS and of scratch: far from any address of a process.
inline constexpr u32 kSharedAperture = 0x00010000;
inline constexpr u32 kPrivateAperture = 0x00020000;

// Register numbers end at 255. A range that starts there stays inside, even if the disassembler accepts a bad one.
inline constexpr u32 kSpareScalars = 32;
inline constexpr u32 kScalars = 256 + kSpareScalars;
inline constexpr u32 kVectors = 256 + 256;
inline constexpr u32 kSpareVectors = 32;  // v[n:n+31] stays inside for every n

// The modelled fields of MODE. Rounding is always to nearest even: any other mode ends the launch.
struct Mode {
  bool flush32 = false;  // single-precision denormals are zero
  bool flush64 = false;  // double- and half-precision denormals are zero
  u32 bits = 0;
};

class Code;

struct WaveFault {
  FaultKind kind = FaultKind::kMemory;
  u32 lane = kLanes;  // kLanes: none in particular
  u64 address = 0;
  std::string text;
};

struct Wave {
  std::array<u32, kScalars> sgpr{};
  bool scc = false;
  WaveState state = WaveState::kReady;
  Mode mode;
  u32 pc = 0;       // slot of the next instruction
  u32 current = 0;  // slot of the instruction being executed
  u32 accum_offset = 0;
  u32 gpr_index = 0;  // s_set_gpr_idx: the mode bits in [15:12], the index in [7:0]; 0 when off
  std::vector<Row> vgpr;
  std::vector<std::byte> scratch;  // private_bytes for each lane in turn
  u32 private_bytes = 0;
  std::span<std::byte> lds;
  Memory* memory = nullptr;
  const Code* code = nullptr;
  u64 code_base = 0;     // added to the addresses of instructions
  u64* clock = nullptr;  // instructions executed by the launch
  u32 group = 0;         // the slot of its workgroup
  WaveFault fault;

  [[nodiscard]] u64 exec() const { return pair(kExec); }
  [[nodiscard]] u64 pair(u32 index) const {
    u64 value = 0;
    std::memcpy(&value, &sgpr[index], sizeof(value));
    return value;
  }
  void set_pair(u32 index, u64 value) { std::memcpy(&sgpr[index], &value, sizeof(value)); }

  // The row of register `part` of a vector operand.
  [[nodiscard]] Row& row(const Operand& o, u32 part = 0) {
    const u32 index = o.index + part + (o.kind == Kind::kAgpr ? accum_offset : 0);
    assert(index < vgpr.size());
    return vgpr[index];
  }

  void raise(FaultKind kind, std::string text, u32 lane = kLanes, u64 address = 0) {
    if (state == WaveState::kFaulted) return;
    state = WaveState::kFaulted;
    fault = {kind, lane, address, std::move(text)};
  }
};

}  // namespace gfx942
