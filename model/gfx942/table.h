// The table of semantics: one entry for each mnemonic, by the names of the ISA document.
//
// A name is the mnemonic without the suffix of its encoding (_e32, _e64, _sdwa, _dpp). Integer operations that saturate
// under `clamp` have an entry of their own, "<name> clamp"; a clamp on any other integer operation is not known. Buffer
// loads to LDS are the entries "<name> lds".
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "model/gfx942/instruction.h"

namespace gfx942 {

// How the text of an instruction becomes operands.
enum class Shape : u8 {
  kPlain,         // in the order of the text, typed by Semantics::types
  kNoOperands,    // the operands in the text are ignored
  kBranch,        // the low half of the dword, times four, from the next instruction
  kCallBranch,    // the same, after a destination
  kFirstOperand,  // only the first operand is used
  kImmediate,     // one operand; the others are in the low half of the dword (s_getreg, s_setreg)
  kScalarLoad,    // destination, base, offset
  kLoad,          // destination, address[, base]
  kStore,         // address, data[, base]
  kAtomic,        // [destination,] address, data[, base]
  kLoadToLds,     // address[, base]
  kBufferLoad,    // destination, address, resource, offset
  kBufferStore,   // data, address, resource, offset
  kBufferAtomic,  // data (with sc0 also the destination), address, resource, offset
  kBufferToLds,   // address, resource, offset
  kMatrix,        // destination, A, B, C (of a sparse instruction: the indices of A)
};

struct Semantics {
  Handler handler = nullptr;
  Shape shape = Shape::kPlain;
  std::array<Type, kOperands> types{};
  Segment segment = Segment::kGlobal;
  u8 optional_operands = 0;       // how many of the last operands may be absent
  bool preserve_high = false;     // a 16-bit result does not change the other half of the register
  bool destination_high = false;  // a 16-bit result goes to the high half
  u8 first_source = 1;            // the operand that SDWA calls src0 and DPP permutes
  bool packed = false;            // VOP3P: op_sel and neg are for halves
  bool byte_select = false;       // op_sel picks the byte of the destination
  u8 matrix = kNoMatrix;          // the number of the form (matrix.h)
  bool accumulates = false;       // the last source is the destination, which the text does not repeat
  u8 registers = 0;               // of the data of a scalar load or a buffer access; 0: it has none
  u8 base_registers = 0;          // of the second operand of a scalar load: an address has 2, a buffer's descriptor 4
};

class Table {
 public:
  void add(std::string name, const Semantics& semantics) { entries_.insert_or_assign(std::move(name), semantics); }
  [[nodiscard]] const Semantics* find(std::string_view name) const {
    const auto it = entries_.find(name);
    return it == entries_.end() ? nullptr : &it->second;
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  std::map<std::string, Semantics, std::less<>> entries_;
};

[[nodiscard]] const Table& semantics_table();

void add_scalar_operations(Table& table);      // sop.cpp
void add_scalar_control(Table& table);         // sop_control.cpp
void add_scalar_memory(Table& table);          // smem.cpp
void add_vector_integers(Table& table);        // vop_int.cpp
void add_vector_short_integers(Table& table);  // vop_short.cpp
void add_vector_floats(Table& table);          // vop_float.cpp
void add_vector_doubles(Table& table);         // vop_double.cpp
void add_divisions(Table& table);              // vop_division.cpp
void add_vector_halves(Table& table);          // vop_half.cpp
void add_conversions(Table& table);            // vop_convert.cpp
void add_compares(Table& table);               // vop_compare.cpp
void add_lane_operations(Table& table);        // vop_lane.cpp
void add_packed_operations(Table& table);      // vop_packed.cpp
void add_vector_memory(Table& table);          // flat.cpp
void add_vector_atomics(Table& table);         // flat_atomics.cpp
void add_buffer_memory(Table& table);          // buffer.cpp
void add_buffer_atomics(Table& table);         // buffer_atomics.cpp
void add_matrix_operations(Table& table);      // matrix.cpp
void add_small_floats(Table& table);           // vop_float8.cpp
void add_local_memory(Table& table);           // ds.cpp
void add_local_atomics(Table& table);          // ds_atomics.cpp

// The handler of instructions that the table does not have: ends the launch and names the instruction.
void run_unknown(Wave& w, const Instruction& in);
// The handler of the place behind the last instruction of a section: ends the launch.
void run_past_the_end(Wave& w, const Instruction& in);

}  // namespace gfx942
