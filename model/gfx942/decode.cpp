// Placing operands by shape, then taking modifiers one by one; the contract is in the header.
#include "model/gfx942/decode.h"

#include <algorithm>

#include "model/gfx942/matrix.h"
#include "model/gfx942/operand_text.h"
#include "model/gfx942/table.h"

namespace gfx942 {
namespace {

constexpr std::string_view kEncodings[] = {"_e32", "_e64", "_sdwa", "_dpp"};

std::string_view base_name(std::string_view mnemonic) {
  for (const std::string_view suffix : kEncodings) {
    if (mnemonic.ends_with(suffix)) return mnemonic.substr(0, mnemonic.size() - suffix.size());
  }
  return mnemonic;
}

// One instruction on its way from text.
struct Draft {
  const Words& words;
  const Semantics* semantics;
  Instruction in;
  bool returns = false;  // sc0: an atomic operation has a destination
  u8 sources = 0;
};

bool put(Draft& d, u32 slot, std::string_view text, Type type) {
  const std::optional<Operand> o = parse_operand(text, type);
  if (!o) return false;
  d.in.op[slot] = *o;
  return true;
}

// --- operands, by shape ---

// SOPK's immediate is printed without its sign.
bool takes_simm16(std::string_view name) {
  for (const std::string_view prefix : {"s_movk_", "s_cmovk_", "s_cmpk_", "s_addk_", "s_mulk_"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

bool place_plain(Draft& d) {
  const Semantics& s = *d.semantics;
  std::size_t expected = 0;
  while (expected < kOperands && s.types[expected] != Type::kNone) ++expected;
  const std::size_t given = d.words.operands.size() + (s.accumulates ? 1 : 0);
  if (given > expected || given + s.optional_operands < expected) return false;
  for (u32 i = 0; i < d.words.operands.size(); ++i) {
    if (!put(d, i, d.words.operands[i], s.types[i])) return false;
  }
  if (s.accumulates) {
    Operand& last = d.in.op[expected - 1];
    last = d.in.op[0];
    last.type = s.types[expected - 1];
  }
  if (takes_simm16(d.words.mnemonic)) {
    const bool is_signed = !d.words.mnemonic.ends_with("_u32");
    const u32 extended = is_signed ? static_cast<u32>(static_cast<i32>(static_cast<i16>(d.in.simm16))) : d.in.simm16;
    d.in.op[1].value = extended;
  }
  d.sources = static_cast<u8>(expected - s.first_source);
  return true;
}

bool place_immediate(Draft& d) {
  u32 slot = 0;
  for (const std::string_view text : d.words.operands) {
    if (text.starts_with("hwreg(")) continue;
    if (slot >= kOperands || !put(d, slot++, text, Type::kU32)) return false;
  }
  return slot == 1;
}

bool is_scalar(const Operand& o, u32 registers) {
  return o.kind == Kind::kSgpr && o.count == registers;
}

bool place_scalar_load(Draft& d) {
  const auto& operands = d.words.operands;
  if (operands.size() != 3 || !put(d, 0, operands[0], Type::kU32) || !put(d, 1, operands[1], Type::kU64)) return false;
  const Semantics& s = *d.semantics;
  if (!is_scalar(d.in.op[0], s.registers) || !is_scalar(d.in.op[1], s.base_registers)) return false;
  if (const std::optional<i64> offset = parse_integer(operands[2])) {
    d.in.offset = static_cast<i32>(*offset);
    return true;
  }
  return put(d, 2, operands[2], Type::kU32) && is_scalar(d.in.op[2], 1);
}

// Moves the operands from their places in the text to [destination, address, data, base].
bool place_memory(Draft& d) {
  const Semantics& s = *d.semantics;
  std::vector<u32> slots;
  switch (s.shape) {
    case Shape::kLoad:
      slots = {0, 1, 3};
      break;
    case Shape::kLoadToLds:
      slots = {1, 3};
      break;
    default:
      slots = {1, 2, 3};
  }
  if (s.shape == Shape::kAtomic && d.returns) slots.insert(slots.begin(), 0);
  if (s.segment == Segment::kFlat) slots.pop_back();
  if (d.words.operands.size() != slots.size()) return false;
  for (u32 i = 0; i < slots.size(); ++i) {
    if (!put(d, slots[i], d.words.operands[i], slots[i] == 0 ? s.types[0] : Type::kU32)) return false;
  }
  d.in.segment = s.segment;
  return true;
}

// Moves the operands to [destination, address, data, resource, offset].
bool place_buffer(Draft& d) {
  std::vector<u32> slots{1, 3, 4};
  const Shape shape = d.semantics->shape;
  if (shape != Shape::kBufferToLds) slots.insert(slots.begin(), shape == Shape::kBufferLoad ? 0 : 2);
  if (d.words.operands.size() != slots.size()) return false;
  for (u32 i = 0; i < slots.size(); ++i) {
    if (!put(d, slots[i], d.words.operands[i], Type::kU32)) return false;
  }
  if (shape == Shape::kBufferAtomic && d.returns) {
    d.in.op[0] = d.in.op[2];
    d.in.op[0].type = d.semantics->types[0];
  }
  return is_scalar(d.in.op[3], 4) && (d.in.op[4].kind == Kind::kConstant || is_scalar(d.in.op[4], 1));
}

bool place_matrix(Draft& d) {
  if (d.words.operands.size() != 4) return false;
  const Type types[] = {d.semantics->types[0], Type::kU32, Type::kU32, d.semantics->types[0]};
  for (u32 i = 0; i < 4; ++i) {
    if (!put(d, i, d.words.operands[i], types[i])) return false;
  }
  d.in.matrix = d.semantics->matrix;
  return true;
}

bool is_buffer(Shape shape) {
  return shape == Shape::kBufferLoad || shape == Shape::kBufferStore || shape == Shape::kBufferAtomic ||
         shape == Shape::kBufferToLds;
}

bool place_operands(Draft& d) {
  switch (d.semantics->shape) {
    case Shape::kPlain:
      return place_plain(d);
    case Shape::kNoOperands:
    case Shape::kBranch:
      return true;
    case Shape::kCallBranch:
      return !d.words.operands.empty() && put(d, 0, d.words.operands[0], Type::kU64);
    case Shape::kFirstOperand:
      return !d.words.operands.empty() && put(d, 0, d.words.operands[0], d.semantics->types[0]);
    case Shape::kImmediate:
      return place_immediate(d);
    case Shape::kScalarLoad:
      return place_scalar_load(d);
    case Shape::kLoad:
    case Shape::kStore:
    case Shape::kAtomic:
    case Shape::kLoadToLds:
      return place_memory(d);
    case Shape::kBufferLoad:
    case Shape::kBufferStore:
    case Shape::kBufferAtomic:
    case Shape::kBufferToLds:
      return place_buffer(d);
    case Shape::kMatrix:
      return place_matrix(d);
  }
  return false;
}

// --- modifiers ---

constexpr std::pair<std::string_view, Select> kSelects[] = {
    {"BYTE_0", Select::kByte0}, {"BYTE_1", Select::kByte1}, {"BYTE_2", Select::kByte2}, {"BYTE_3", Select::kByte3},
    {"WORD_0", Select::kWord0}, {"WORD_1", Select::kWord1}, {"DWORD", Select::kDword},
};
constexpr std::pair<std::string_view, Unused> kUnused[] = {
    {"UNUSED_PAD", Unused::kPad}, {"UNUSED_SEXT", Unused::kSign}, {"UNUSED_PRESERVE", Unused::kPreserve}};

template <class T, std::size_t N>
bool look_up(const std::pair<std::string_view, T> (&names)[N], std::string_view name, T& value) {
  const auto* const it = std::find_if(names, names + N, [&](const auto& n) { return n.first == name; });
  if (it == names + N) return false;
  value = it->second;
  return true;
}

bool take_quad(std::string_view value, Dpp& dpp) {
  if (value.size() != 9) return false;
  for (std::size_t i = 0; i < 4; ++i) {
    const char c = value[1 + 2 * i];
    if (c < '0' || c > '3') return false;
    dpp.quad[i] = static_cast<u8>(c - '0');
  }
  dpp.control = Dpp::Control::kQuadPerm;
  return true;
}

bool take_dpp(std::string_view name, std::string_view value, Dpp& dpp) {
  using C = Dpp::Control;
  constexpr std::pair<std::string_view, C> kControls[] = {
      {"row_shl", C::kRowShl},
      {"row_shr", C::kRowShr},
      {"row_ror", C::kRowRor},
      {"wave_shl", C::kWaveShl},
      {"wave_rol", C::kWaveRol},
      {"wave_shr", C::kWaveShr},
      {"wave_ror", C::kWaveRor},
      {"row_mirror", C::kRowMirror},
      {"row_half_mirror", C::kRowHalfMirror},
      {"row_bcast", C::kNone},
      {"row_newbcast", C::kRowNewBroadcast},
  };
  if (name == "quad_perm") return take_quad(value, dpp);
  if (!look_up(kControls, name, dpp.control)) return false;
  if (value.empty()) return dpp.control == C::kRowMirror || dpp.control == C::kRowHalfMirror;
  const std::optional<i64> amount = parse_integer(value);
  if (!amount || *amount < 0) return false;
  if (name == "row_bcast") {
    dpp.control = *amount == 15 ? C::kRowBroadcast15 : C::kRowBroadcast31;
    return *amount == 15 || *amount == 31;
  }
  dpp.amount = static_cast<u8>(*amount);
  return *amount <= 15;
}

// CBSZ, ABID and BLGP of a matrix instruction, in the bytes that instruction.h says.
bool take_matrix_number(Instruction& in, std::string_view name, i64 value) {
  constexpr std::pair<std::string_view, u8 Instruction::*> kFields[] = {
      {"cbsz", &Instruction::op_sel}, {"abid", &Instruction::op_sel_hi}, {"blgp", &Instruction::neg_hi}};
  u8 Instruction::* field = nullptr;
  const i64 highest = name == "abid" ? 15 : 7;  // four bits of ABID, three of the others
  if (value < 0 || value > highest || !look_up(kFields, name, field)) return false;
  in.*field = static_cast<u8>(value);
  return true;
}

bool take_number(Draft& d, std::string_view name, i64 value) {
  Instruction& in = d.in;
  if (in.matrix != kNoMatrix) return take_matrix_number(in, name, value);
  const bool mask = value >= 0 && value <= 15;
  if (name == "offset" || name == "offset0")
    in.offset = static_cast<i32>(value);
  else if (name == "offset1")
    in.offset1 = static_cast<i32>(value);
  else if (name == "mul" && (value == 2 || value == 4))
    in.omod = value == 2 ? 1 : 2;
  else if (name == "div" && value == 2)
    in.omod = -1;
  else if (name == "row_mask" && mask)
    in.dpp.row_mask = static_cast<u8>(value);
  else if (name == "bank_mask" && mask)
    in.dpp.bank_mask = static_cast<u8>(value);
  // Both spellings are printed for the same bit.
  else if (name == "bound_ctrl")
    in.dpp.bound_control = true;
  else
    return false;
  return true;
}

bool take_list(Draft& d, std::string_view name, const BitList& list) {
  Instruction& in = d.in;
  if (in.matrix != kNoMatrix) {
    in.neg_lo = list.bits;
    return name == "neg";
  }
  if (name == "op_sel_hi")
    in.op_sel_hi = list.bits;
  else if (name == "neg_lo")
    in.neg_lo = list.bits;
  else if (name == "neg_hi")
    in.neg_hi = list.bits;
  else if (name == "op_sel") {
    in.op_sel = list.bits;
    if (d.semantics->packed || d.semantics->byte_select) return true;
    // One bit for each source, then one bit for the destination.
    for (u32 i = 0; i < list.count; ++i) {
      if ((list.bits >> i & 1) == 0) continue;
      const bool destination = i >= d.sources;
      Operand& o = in.op[destination ? 0 : d.semantics->first_source + i];
      if (!is_short(o.type)) return false;
      if (destination)
        in.destination_high = true;
      else
        o.high = true;
    }
    return true;
  } else
    return false;
  return d.semantics->packed;
}

bool take_buffer_flag(Draft& d, std::string_view name) {
  if (name == "offen") d.in.offset_register = true;
  if (name == "idxen") d.in.index_register = true;
  return name == "lds" ? d.semantics->shape == Shape::kBufferToLds : is_buffer(d.semantics->shape);
}

bool take_flag(Draft& d, std::string_view name) {
  if (name == "clamp")
    d.in.clamp = true;
  else if (name == "sc0" || name == "sc1")
    d.in.device_scope = true;
  else if (name == "offen" || name == "idxen" || name == "lds")
    return take_buffer_flag(d, name);
  else if (name == "glc")
    return d.semantics->shape == Shape::kScalarLoad;
  else if (name != "nt")
    return take_dpp(name, {}, d.in.dpp);
  return true;
}

bool take_modifier(Draft& d, std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return take_flag(d, text);
  const std::string_view name = text.substr(0, colon);
  const std::string_view value = text.substr(colon + 1);
  const u32 first = d.semantics->first_source;
  if (name == "dst_sel") return look_up(kSelects, value, d.in.destination_select);
  if (name == "dst_unused") return look_up(kUnused, value, d.in.unused);
  if (name == "src0_sel") return look_up(kSelects, value, d.in.op[first].select);
  if (name == "src1_sel") return look_up(kSelects, value, d.in.op[first + 1].select);
  // ds_swizzle_b32's pattern is read from the encoding.
  if (value.starts_with("swizzle(")) return d.words.mnemonic == "ds_swizzle_b32";
  if (take_dpp(name, value, d.in.dpp)) return true;
  if (const std::optional<BitList> list = parse_bits(value)) return take_list(d, name, *list);
  const std::optional<i64> number = parse_integer(value);
  return number && take_number(d, name, *number);
}

// The address of a buffer access has a register for the index and one for the offset, or is `off`.
bool address_fits(const Instruction& in) {
  const u32 expected = (in.index_register ? 1u : 0u) + (in.offset_register ? 1u : 0u);
  const Operand& address = in.op[1];
  if (address.kind == Kind::kNone) return expected == 0;
  return address.kind == Kind::kVgpr && address.count == expected;
}

// The data of a buffer access has the registers that the operation needs.
bool data_fits(const Instruction& in, const Semantics& s) {
  if (s.registers == 0) return true;
  const Operand& data = in.op[s.shape == Shape::kBufferLoad ? 0 : 2];
  return (data.kind == Kind::kVgpr || data.kind == Kind::kAgpr) && data.count == s.registers;
}

// Checks registers and modifiers that are valid only for some operations.
bool consistent(Draft& d) {
  Instruction& in = d.in;
  const Semantics& s = *d.semantics;
  if (in.omod != 0 && !is_float(in.op[0].type)) return false;
  if (s.shape == Shape::kMatrix) return fits_form(in);
  if (is_buffer(s.shape)) return address_fits(in) && data_fits(in, s);
  // The ISA document has no negative offset in a buffer: its dwords would wrap around to the buffer's begin.
  if (s.shape == Shape::kScalarLoad) return s.base_registers != 4 || in.offset >= 0;
  if (s.byte_select) return (in.op_sel & 3) == 0;
  if (s.packed) {
    for (u32 i = 0; i < d.sources; ++i) {
      // The high half of a constant under op_sel_hi is documented for 16-bit integers only; of zero it is zero.
      const Operand& o = in.op[1 + i];
      const bool high = ((in.op_sel | in.op_sel_hi) >> i & 1) != 0;
      const bool wide = is_wide(s.types[0]) || o.type == Type::kF32;
      if (o.kind == Kind::kConstant && wide && high && o.value != 0) return false;
    }
  }
  return true;
}

void mark_plain(Instruction& in, const Semantics& s) {
  if (in.dpp.control != Dpp::Control::kNone) in.op[s.first_source].permute = true;
  for (Operand& o : in.op) {
    o.plain = !o.negate && !o.absolute && !o.sign_extend && !o.permute && !o.high && o.select == Select::kDword;
  }
  in.plain = !in.clamp && in.omod == 0 && !in.destination_high && !in.preserve_high &&
             in.destination_select == Select::kDword && in.dpp.control == Dpp::Control::kNone;
}

// The entry of a mnemonic with or without the suffix of its encoding.
const Semantics* find_plain(std::string_view mnemonic) {
  const Semantics* plain = semantics_table().find(base_name(mnemonic));
  return plain != nullptr ? plain : semantics_table().find(mnemonic);
}

const Semantics* find_semantics(const Words& words, bool& saturating) {
  const std::string_view name = base_name(words.mnemonic);
  const Semantics* plain = find_plain(words.mnemonic);
  if (std::ranges::find(words.modifiers, "lds") != words.modifiers.end()) {
    return semantics_table().find(std::string(name) + " lds");
  }
  const bool clamp = std::ranges::find(words.modifiers, "clamp") != words.modifiers.end();
  if (plain == nullptr || !clamp || is_float(plain->types[0])) return plain;
  const bool packed_float = plain->packed && (name.ends_with("f16") || name.ends_with("f32"));
  if (packed_float) return plain;
  saturating = true;
  return semantics_table().find(std::string(name) + " clamp");
}

bool finish(Draft& d, bool saturating) {
  const Semantics& s = *d.semantics;
  d.in.handler = s.handler;
  d.in.preserve_high = s.preserve_high;
  d.in.destination_high = s.destination_high;
  // In VOP3P, op_sel_hi defaults to all ones, except for the mixed operations.
  const bool mixed = d.words.mnemonic.starts_with("v_fma_mix");
  if (s.packed && !mixed) d.in.op_sel_hi = 7;
  d.returns = std::ranges::find(d.words.modifiers, "sc0") != d.words.modifiers.end();
  if (s.shape == Shape::kNoOperands || s.shape == Shape::kBranch) return true;
  if (!place_operands(d)) return false;
  if (d.words.mnemonic == "v_pk_mov_b32") d.in.op_sel_hi = 0;
  for (const std::string_view modifier : d.words.modifiers) {
    if (!take_modifier(d, modifier)) return false;
  }
  if (!consistent(d)) return false;
  if (saturating) d.in.clamp = false;  // the entry saturates by itself
  mark_plain(d.in, s);
  return true;
}

}  // namespace

Instruction decode(std::string_view text, const Encoded& encoded) {
  const Words words = split_text(text);
  Instruction blank;
  blank.address = encoded.address;
  blank.dwords = encoded.dwords;
  blank.simm16 = static_cast<u16>(encoded.dword);
  Instruction unknown = blank;
  unknown.handler = &run_unknown;
  bool saturating = false;
  const Semantics* semantics = find_semantics(words, saturating);
  if (semantics == nullptr) return unknown;
  Draft draft{words, semantics, blank};
  return finish(draft, saturating) ? draft.in : unknown;
}

bool knows_mnemonic(std::string_view mnemonic) {
  return find_plain(mnemonic) != nullptr;
}

bool takes_gpr_index(std::string_view text) {
  return text.starts_with("v_") && !text.starts_with("v_mfma_") && !text.starts_with("v_smfmac_");
}
bool starts_gpr_index(std::string_view text) {
  return text.starts_with("s_set_gpr_idx_on");
}
bool ends_gpr_index(std::string_view text) {
  return text.starts_with("s_set_gpr_idx_off");
}

}  // namespace gfx942
