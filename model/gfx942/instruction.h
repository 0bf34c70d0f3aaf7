// An instruction as the interpreter runs it: the handler to call, and operands that are already parsed.
#pragma once

#include <array>

#include "model/gfx942/types.h"

namespace gfx942 {

struct Wave;
struct Instruction;

// Executes one instruction for one wave.
using Handler = void (*)(Wave&, const Instruction&);

enum class Kind : u8 {
  kNone,  // absent, or the text `off`
  kVgpr,
  kAgpr,      // lies behind the wave's accum_offset
  kSgpr,      // numbered as in the encoding: VCC 106, M0 124, EXEC 126
  kConstant,  // inline or literal, already in the operand's type
  kScc,
  kVccz,
  kExecz,
};

// The part of a source that SDWA reads, or the part of a destination that it writes.
enum class Select : u8 { kByte0, kByte1, kByte2, kByte3, kWord0, kWord1, kDword };

inline constexpr u16 kVcc = 106;
inline constexpr u16 kM0 = 124;
inline constexpr u16 kExec = 126;

struct Operand {
  Kind kind = Kind::kNone;
  Type type = Type::kNone;
  bool plain = true;  // the operand has none of the following modifiers
  bool negate = false;
  bool absolute = false;
  bool sign_extend = false;
  bool permute = false;  // by the instruction's DPP control
  bool high = false;     // op_sel: the high half of a 16-bit operand
  Select select = Select::kDword;
  u8 count = 1;  // registers
  u16 index = 0;
  u64 value = 0;
};

// Data-parallel primitives: src0 is fetched from another lane.
struct Dpp {
  enum class Control : u8 {
    kNone,
    kQuadPerm,
    kRowShl,
    kRowShr,
    kRowRor,
    kWaveShl,
    kWaveRol,
    kWaveShr,
    kWaveRor,
    kRowMirror,
    kRowHalfMirror,
    kRowBroadcast15,
    kRowBroadcast31,
    kRowNewBroadcast,
  };
  Control control = Control::kNone;
  u8 amount = 0;             // of a shift; the lane of a broadcast
  std::array<u8, 4> quad{};  // of kQuadPerm
  u8 row_mask = 0xf;
  u8 bank_mask = 0xf;
  bool bound_control = false;  // an invalid source lane reads zero instead of disabling the lane
};

enum class Segment : u8 { kFlat, kGlobal, kScratch };
enum class Unused : u8 { kPad, kSign, kPreserve };  // SDWA's dst_unused

inline constexpr u32 kOperands = 6;
inline constexpr u32 kNoTarget = ~0u;
inline constexpr u8 kNoMatrix = 0xff;

struct Instruction {
  Handler handler = nullptr;
  Handler indexed = nullptr;  // in GPR-index mode: `handler` adds the index and calls this one
  u64 address = 0;
  std::array<Operand, kOperands> op{};
  i32 offset = 0;                  // of a memory access; the first offset of a ds_*2
  i32 offset1 = 0;                 // the second offset of a ds_*2
  mutable u32 target = kNoTarget;  // of a branch: the slot of an instruction, once it is known; atomic (code.h)
  u16 simm16 = 0;                  // the low half of the first dword
  u8 dwords = 1;
  bool plain = true;  // the whole destination is written, without clamp, omod, SDWA, DPP or op_sel
  bool clamp = false;
  i8 omod = 0;  // result times 2^omod
  bool device_scope = false;
  bool offset_register = false;  // of a buffer access: each lane has an offset (offen)
  bool index_register = false;   // of a buffer access: each lane has an index (idxen)
  bool destination_high : 1 = false;
  bool preserve_high : 1 = false;
  bool index_mode : 1 = false;  // decoded for GPR-index mode
  Segment segment = Segment::kGlobal;
  Select destination_select = Select::kDword;
  Unused unused = Unused::kPad;
  u8 op_sel = 0;
  u8 op_sel_hi = 0;
  u8 neg_lo = 0;
  u8 neg_hi = 0;
  u8 matrix = kNoMatrix;  // the number of a matrix instruction's form (matrix.h)
  Dpp dpp{};

  // Where a branch leads: to its distance in dwords behind itself.
  [[nodiscard]] u64 address_of_target() const {
    return address + 4 * dwords + static_cast<u64>(static_cast<i64>(static_cast<i16>(simm16)) * 4);
  }

  // Matrix instructions have no op_sel and no neg_hi, and keep three other numbers in the same bytes.
  // 2^cbsz blocks share one block of A.
  [[nodiscard]] u8 cbsz() const { return op_sel; }
  // The number of that block; of a sparse instruction, the set of indices.
  [[nodiscard]] u8 abid() const { return op_sel_hi; }
  // The pattern in which lanes of B are moved.
  [[nodiscard]] u8 blgp() const { return neg_hi; }
};
static_assert(sizeof(Instruction) <= 208, "loops of integer operations are bound by the bytes of decoded code");

}  // namespace gfx942
