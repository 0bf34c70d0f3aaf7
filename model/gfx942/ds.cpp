// LDS loads and stores, and the lane exchange that shares their encoding (ds_permute, ds_bpermute, ds_swizzle).
//
// An access outside of the workgroup's LDS ends the launch; the hardware would read zero. Accesses need not be aligned
// (the mode that HSA sets).
#include "model/gfx942/reach.h"
#include "model/gfx942/valu.h"

namespace gfx942 {
namespace {

// [destination, address]. Reads `Pieces` values (two for ds_read2*) of `Words` dwords each. Offsets count in units of
// `Stride` bytes.
template <u32 Words, u32 Pieces, u32 Stride>
void run_read(Wave& w, const Instruction& in) {
  Reach reach(w, false);
  const Row address = w.row(in.op[1]);
  Row rows[Words * Pieces];
  for (u64 left = w.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    for (u32 piece = 0; piece < Pieces; ++piece) {
      const u64 offset = static_cast<u64>(piece == 0 ? in.offset : in.offset1) * Stride;
      const std::byte* bytes = reach.local(lane, address.lane[lane] + offset, Words * 4);
      if (bytes == nullptr) return;
      u32 words[Words];
      std::memcpy(words, bytes, sizeof(words));
      for (u32 word = 0; word < Words; ++word) rows[piece * Words + word].lane[lane] = words[word];
    }
  }
  for (u32 row = 0; row < Words * Pieces; ++row) commit(w, in, in.op[0], row, rows[row]);
}

// [address, data] or [address, data0, data1].
template <u32 Words, u32 Pieces, u32 Stride>
void run_write(Wave& w, const Instruction& in) {
  Reach reach(w, true);
  const Row& address = w.row(in.op[0]);
  for (u64 left = w.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    for (u32 piece = 0; piece < Pieces; ++piece) {
      const u64 offset = static_cast<u64>(piece == 0 ? in.offset : in.offset1) * Stride;
      std::byte* bytes = reach.local(lane, address.lane[lane] + offset, Words * 4);
      if (bytes == nullptr) return;
      u32 words[Words];
      for (u32 word = 0; word < Words; ++word) words[word] = w.row(in.op[1 + piece], word).lane[lane];
      std::memcpy(bytes, words, sizeof(words));
    }
  }
}

enum class Part : u8 { kWhole, kLow, kHigh };

// T is the type of the value in memory; a signed value is sign-extended.
template <class T, Part P>
void run_read_narrow(Wave& w, const Instruction& in) {
  Reach reach(w, false);
  const Row address = w.row(in.op[1]);
  Row row = w.row(in.op[0]);
  for (u64 left = w.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    const std::byte* bytes = reach.local(lane, u64{address.lane[lane]} + static_cast<u64>(in.offset), sizeof(T));
    if (bytes == nullptr) return;
    T read{};
    std::memcpy(&read, bytes, sizeof(T));
    const u32 value = static_cast<u32>(static_cast<i32>(read));
    u32& to = row.lane[lane];
    if constexpr (P == Part::kWhole) to = value;
    if constexpr (P == Part::kLow) to = (to & 0xffff0000) | (value & 0xffff);
    if constexpr (P == Part::kHigh) to = (to & 0xffff) | value << 16;
  }
  commit(w, in, in.op[0], 0, row);
}

template <u32 Size, bool High>
void run_write_narrow(Wave& w, const Instruction& in) {
  Reach reach(w, true);
  const Row& address = w.row(in.op[0]);
  const Row& data = w.row(in.op[1]);
  for (u64 left = w.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    std::byte* bytes = reach.local(lane, u64{address.lane[lane]} + static_cast<u64>(in.offset), Size);
    if (bytes == nullptr) return;
    const u32 value = data.lane[lane] >> (High ? 16 : 0);
    std::memcpy(bytes, &value, Size);
  }
}

// Backward: each lane selects the lane that it reads from. An inactive source lane gives zero.
void run_bpermute(Wave& w, const Instruction& in) {
  const Row address = w.row(in.op[1]);
  const Row data = w.row(in.op[2]);
  const u64 exec = w.exec();
  Row result;
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u32 from = (address.lane[lane] + static_cast<u32>(in.offset)) / 4 & 63;
    result.lane[lane] = (exec >> from & 1) != 0 ? data.lane[from] : 0;
  }
  commit(w, in, in.op[0], 0, result);
}

// Forward: each active lane selects the lane that gets its value. The highest lane wins; a lane that no lane selects
// gets zero.
void run_permute(Wave& w, const Instruction& in) {
  const Row address = w.row(in.op[1]);
  const Row data = w.row(in.op[2]);
  Row result{};
  for (u64 left = w.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    result.lane[(address.lane[lane] + static_cast<u32>(in.offset)) / 4 & 63] = data.lane[lane];
  }
  commit(w, in, in.op[0], 0, result);
}

// ds_swizzle_b32: the offset field is the pattern, for groups of 4 lanes (bit 15) or of 32.
void run_swizzle(Wave& w, const Instruction& in) {
  const u32 pattern = in.simm16;
  const Row data = w.row(in.op[1]);
  const u64 exec = w.exec();
  Row result;
  for (u32 lane = 0; lane < kLanes; ++lane) {
    u32 from = 0;
    if ((pattern & 0x8000) != 0) {
      from = (lane & ~3u) | (pattern >> (lane & 3) * 2 & 3);
    } else {
      const u32 in_group = lane & 31;
      from = (lane & 32) | ((((in_group & pattern) | (pattern >> 5)) ^ pattern >> 10) & 31);
    }
    result.lane[lane] = (exec >> from & 1) != 0 ? data.lane[from] : 0;
  }
  commit(w, in, in.op[0], 0, result);
}

constexpr Type kW = Type::kU32;

Semantics entry(Handler handler, std::array<Type, kOperands> types) {
  Semantics s;
  s.handler = handler;
  s.types = types;
  return s;
}

void add_words(Table& t) {
  t.add("ds_read_b32", entry(&run_read<1, 1, 1>, {kW, kW}));
  t.add("ds_read_b64", entry(&run_read<2, 1, 1>, {kW, kW}));
  t.add("ds_read_b96", entry(&run_read<3, 1, 1>, {kW, kW}));
  t.add("ds_read_b128", entry(&run_read<4, 1, 1>, {kW, kW}));
  t.add("ds_read2_b32", entry(&run_read<1, 2, 4>, {kW, kW}));
  t.add("ds_read2_b64", entry(&run_read<2, 2, 8>, {kW, kW}));
  t.add("ds_read2st64_b32", entry(&run_read<1, 2, 256>, {kW, kW}));
  t.add("ds_read2st64_b64", entry(&run_read<2, 2, 512>, {kW, kW}));
  t.add("ds_write_b32", entry(&run_write<1, 1, 1>, {kW, kW}));
  t.add("ds_write_b64", entry(&run_write<2, 1, 1>, {kW, kW}));
  t.add("ds_write_b96", entry(&run_write<3, 1, 1>, {kW, kW}));
  t.add("ds_write_b128", entry(&run_write<4, 1, 1>, {kW, kW}));
  t.add("ds_write2_b32", entry(&run_write<1, 2, 4>, {kW, kW, kW}));
  t.add("ds_write2_b64", entry(&run_write<2, 2, 8>, {kW, kW, kW}));
  t.add("ds_write2st64_b32", entry(&run_write<1, 2, 256>, {kW, kW, kW}));
  t.add("ds_write2st64_b64", entry(&run_write<2, 2, 512>, {kW, kW, kW}));
}

void add_narrow(Table& t) {
  t.add("ds_read_u8", entry(&run_read_narrow<u8, Part::kWhole>, {kW, kW}));
  t.add("ds_read_i8", entry(&run_read_narrow<i8, Part::kWhole>, {kW, kW}));
  t.add("ds_read_u16", entry(&run_read_narrow<u16, Part::kWhole>, {kW, kW}));
  t.add("ds_read_i16", entry(&run_read_narrow<i16, Part::kWhole>, {kW, kW}));
  t.add("ds_read_u8_d16", entry(&run_read_narrow<u8, Part::kLow>, {kW, kW}));
  t.add("ds_read_u8_d16_hi", entry(&run_read_narrow<u8, Part::kHigh>, {kW, kW}));
  t.add("ds_read_i8_d16", entry(&run_read_narrow<i8, Part::kLow>, {kW, kW}));
  t.add("ds_read_i8_d16_hi", entry(&run_read_narrow<i8, Part::kHigh>, {kW, kW}));
  t.add("ds_read_u16_d16", entry(&run_read_narrow<u16, Part::kLow>, {kW, kW}));
  t.add("ds_read_u16_d16_hi", entry(&run_read_narrow<u16, Part::kHigh>, {kW, kW}));
  t.add("ds_write_b8", entry(&run_write_narrow<1, false>, {kW, kW}));
  t.add("ds_write_b8_d16_hi", entry(&run_write_narrow<1, true>, {kW, kW}));
  t.add("ds_write_b16", entry(&run_write_narrow<2, false>, {kW, kW}));
  t.add("ds_write_b16_d16_hi", entry(&run_write_narrow<2, true>, {kW, kW}));
}

}  // namespace

void add_local_memory(Table& table) {
  add_words(table);
  add_narrow(table);
  table.add("ds_bpermute_b32", entry(&run_bpermute, {kW, kW, kW}));
  table.add("ds_permute_b32", entry(&run_permute, {kW, kW, kW}));
  table.add("ds_swizzle_b32", entry(&run_swizzle, {kW, kW}));
}

}  // namespace gfx942
