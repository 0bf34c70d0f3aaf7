// The slow cases of reading and writing operands as lanes; the contract is in the header.
#include "model/gfx942/lanes.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gfx942 {
namespace {

// For every value of 8 mask bits, the 8 words that they stand for.
constexpr auto kByteMasks = [] {
  std::array<std::array<u32, 8>, 256> table{};
  for (u32 byte = 0; byte < 256; ++byte) {
    for (u32 bit = 0; bit < 8; ++bit) table[byte][bit] = (byte >> bit & 1) != 0 ? ~0u : 0u;
  }
  return table;
}();

// The lane from which DPP fetches the value for lane `lane`; -1 when it lies outside of the row or the wave.
int dpp_source(const Dpp& dpp, int lane) {
  const int row = lane & ~15;
  const int in_row = lane & 15;
  const int n = dpp.amount;
  switch (dpp.control) {
    case Dpp::Control::kNone:
      return lane;
    case Dpp::Control::kQuadPerm:
      return (lane & ~3) | dpp.quad[static_cast<std::size_t>(lane & 3)];
    case Dpp::Control::kRowShl:
      return in_row + n < 16 ? lane + n : -1;
    case Dpp::Control::kRowShr:
      return in_row >= n ? lane - n : -1;
    case Dpp::Control::kRowRor:
      return row | ((in_row - n) & 15);
    case Dpp::Control::kWaveShl:
      return lane + 1 < 64 ? lane + 1 : -1;
    case Dpp::Control::kWaveRol:
      return (lane + 1) & 63;
    case Dpp::Control::kWaveShr:
      return lane - 1;
    case Dpp::Control::kWaveRor:
      return (lane - 1) & 63;
    case Dpp::Control::kRowMirror:
      return row | (15 - in_row);
    case Dpp::Control::kRowHalfMirror:
      return (lane & ~7) | (7 - (lane & 7));
    case Dpp::Control::kRowBroadcast15:
      return row == 0 ? -1 : row - 1;
    case Dpp::Control::kRowBroadcast31:
      return lane < 32 ? -1 : 31;
    case Dpp::Control::kRowNewBroadcast:
      return row | n;
  }
  return -1;
}

// Whether lane `lane` has a source: inside of the row or the wave, and active.
bool dpp_valid(const Wave& w, const Dpp& dpp, int lane) {
  const int source = dpp_source(dpp, lane);
  return source >= 0 && (w.exec() >> source & 1) != 0;
}

void permute(const Wave& w, const Dpp& dpp, Row& values) {
  const Row before = values;
  for (int lane = 0; lane < static_cast<int>(kLanes); ++lane) {
    values.lane[lane] = dpp_valid(w, dpp, lane) ? before.lane[dpp_source(dpp, lane)] : 0;
  }
}

void select_part(const Operand& o, Row& values) {
  const u32 which = static_cast<u32>(o.select);
  const bool word = o.select >= Select::kWord0;
  const u32 shift = word ? (which - 4) * 16 : which * 8;
  const u32 width = word ? 16 : 8;
  for (u32& v : values.lane) {
    v = v >> shift & ((1u << width) - 1);
    if (o.sign_extend) v = static_cast<u32>(static_cast<i32>(v << (32 - width)) >> (32 - width));
  }
}

// neg and abs change the sign bit of the operand's own format, wherever that lies.
void change_sign(const Operand& o, u32 part, Row& values) {
  if (is_wide(o.type) != (part == 1)) return;
  const u32 sign = is_short(o.type) ? 0x8000u : 0x80000000u;
  for (u32& v : values.lane) {
    if (o.absolute) v &= ~sign;
    if (o.negate) v ^= sign;
  }
}

u32 uniform(const Wave& w, const Operand& o, u32 part) {
  switch (o.kind) {
    case Kind::kSgpr:
      return w.sgpr[o.index + part];
    case Kind::kConstant:
      return static_cast<u32>(o.value >> 32 * part);
    case Kind::kScc:
      return part == 0 && w.scc ? 1 : 0;
    case Kind::kVccz:
      return part == 0 && w.pair(kVcc) == 0 ? 1 : 0;
    case Kind::kExecz:
      return part == 0 && w.exec() == 0 ? 1 : 0;
    case Kind::kNone:
    case Kind::kVgpr:
    case Kind::kAgpr:
      break;
  }
  return 0;
}

float scaled(float value, const Instruction& in) {
  value = std::ldexp(value, in.omod);
  // A NaN clamps to zero (DX10_CLAMP, which every HSA kernel sets).
  if (in.clamp) value = value > 0 ? std::min(value, 1.0f) : 0.0f;
  return value;
}

void scale_floats(const Instruction& in, const Operand& o, Row& result) {
  for (u32& v : result.lane) {
    if (o.type == Type::kF32) v = std::bit_cast<u32>(scaled(std::bit_cast<float>(v), in));
    if (o.type == Type::kF16) v = to_half(scaled(to_float(Half{static_cast<u16>(v)}), in)).bits;
  }
}

// SDWA writes a byte or a word; dst_unused controls the other bits.
void merge_part(const Instruction& in, const Row& old, Row& result) {
  const u32 which = static_cast<u32>(in.destination_select);
  const bool word = in.destination_select >= Select::kWord0;
  const u32 shift = word ? (which - 4) * 16 : which * 8;
  const u32 width = word ? 16 : 8;
  const u32 mask = ((1u << width) - 1) << shift;
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u32 part = result.lane[lane] << shift & mask;
    u32 rest = 0;
    if (in.unused == Unused::kPreserve) rest = old.lane[lane] & ~mask;
    if (in.unused == Unused::kSign && (part >> (shift + width - 1) & 1) != 0) rest = ~(mask | (mask - 1));
    result.lane[lane] = part | rest;
  }
}

void merge_half(const Instruction& in, const Row& old, Row& result) {
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u32 value = result.lane[lane] & 0xffff;
    result.lane[lane] =
        in.destination_high ? (old.lane[lane] & 0xffff) | value << 16 : (old.lane[lane] & 0xffff0000) | value;
  }
}

void blend(u64 lanes, const Row& result, Row& destination) {
  Row mask;
  expand_mask(lanes, mask);
  for (u32 lane = 0; lane < kLanes; ++lane) {
    destination.lane[lane] = (result.lane[lane] & mask.lane[lane]) | (destination.lane[lane] & ~mask.lane[lane]);
  }
}

}  // namespace

void expand_mask(u64 mask, Row& out) {
  for (u32 byte = 0; byte < 8; ++byte) {
    std::memcpy(&out.lane[byte * 8], kByteMasks[mask >> byte * 8 & 0xff].data(), 32);
  }
}

const u32* read_slow(Wave& w, const Instruction& in, const Operand& o, u32 part, Row& scratch) {
  if (o.kind == Kind::kVgpr || o.kind == Kind::kAgpr) {
    scratch = w.row(o, part);
  } else {
    std::fill_n(scratch.lane, kLanes, uniform(w, o, part));
  }
  if (o.plain) return scratch.lane;
  if (o.permute) permute(w, in.dpp, scratch);
  if (o.select != Select::kDword) select_part(o, scratch);
  if (o.high) {
    for (u32& v : scratch.lane) v >>= 16;
  }
  if (o.negate || o.absolute) change_sign(o, part, scratch);
  return scratch.lane;
}

u64 scalar_slow(const Wave& w, const Operand& o) {
  return uniform(w, o, 0) | static_cast<u64>(uniform(w, o, 1)) << 32;
}

u64 written_lanes(const Wave& w, const Instruction& in) {
  u64 lanes = w.exec();
  const Dpp& dpp = in.dpp;
  if (dpp.control == Dpp::Control::kNone) return lanes;
  for (int lane = 0; lane < static_cast<int>(kLanes); ++lane) {
    const bool row = (dpp.row_mask >> lane / 16 & 1) != 0;
    const bool bank = (dpp.bank_mask >> lane % 16 / 4 & 1) != 0;
    const bool source = dpp.bound_control || dpp_valid(w, dpp, lane);
    if (!row || !bank || !source) lanes &= ~(u64{1} << lane);
  }
  return lanes;
}

void commit_slow(Wave& w, const Instruction& in, const Operand& o, u32 part, Row& result) {
  Row& destination = w.row(o, part);
  if (!in.plain) {
    if (is_float(o.type) && (in.clamp || in.omod != 0)) scale_floats(in, o, result);
    if (in.destination_select != Select::kDword) merge_part(in, destination, result);
    if (in.destination_high || in.preserve_high) merge_half(in, destination, result);
  }
  blend(written_lanes(w, in), result, destination);
}

void commit_pair_slow(Wave& w, const Instruction& in, const Operand& o, Row& low, Row& high) {
  if (o.type == Type::kF64 && (in.clamp || in.omod != 0)) {
    for (u32 lane = 0; lane < kLanes; ++lane) {
      const u64 bits = low.lane[lane] | static_cast<u64>(high.lane[lane]) << 32;
      double value = std::ldexp(std::bit_cast<double>(bits), in.omod);
      if (in.clamp) value = value > 0 ? std::min(value, 1.0) : 0.0;
      low.lane[lane] = static_cast<u32>(std::bit_cast<u64>(value));
      high.lane[lane] = static_cast<u32>(std::bit_cast<u64>(value) >> 32);
    }
  }
  const u64 lanes = written_lanes(w, in);
  blend(lanes, low, w.row(o, 0));
  blend(lanes, high, w.row(o, 1));
}

u64 pack_bits(const u8 (&flags)[kLanes]) {
  u64 bits = 0;
  for (u32 byte = 0; byte < 8; ++byte) {
    u64 eight = 0;
    std::memcpy(&eight, &flags[byte * 8], sizeof(eight));
    // Gathers the lowest bit of each byte into the highest byte.
    bits |= (eight * 0x0102040810204080ull >> 56) << byte * 8;
  }
  return bits;
}

void flush_denormals(Type type, Row& low, Row& high) {
  for (u32 lane = 0; lane < kLanes; ++lane) {
    u32& l = low.lane[lane];
    u32& h = high.lane[lane];
    if (type == Type::kF32 && (l & 0x7f800000) == 0) l &= 0x80000000;
    if (type == Type::kF16 && (l & 0x7c00) == 0) l &= 0x8000;
    if (type == Type::kF64 && (h & 0x7ff00000) == 0) {
      h &= 0x80000000;
      l = 0;
    }
  }
}

}  // namespace gfx942
