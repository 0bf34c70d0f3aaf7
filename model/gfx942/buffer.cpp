// Buffer loads and stores of every width, and loads to LDS; addressing and range checks are in the header.
//
// Lanes are served in order; a load writes its destination only when every lane succeeded. Memory in range that is not
// live is a fault, as for other accesses.
#include "model/gfx942/buffer.h"

#include "model/gfx942/valu.h"
#include "model/gfx942/word_access.h"

namespace gfx942 {
namespace {

constexpr u64 kElement = 4;  // bytes, of a swizzled buffer

template <u32 Words>
bool load_lane(Reach& reach, const BufferPlaces& places, u32 lane, u32 (&words)[Words]) {
  const BufferPlaces::Place whole = places.place(lane, 0, Words * 4);
  if (whole.inside && (Words == 1 || places.contiguous())) {
    const std::byte* bytes = reach.global(lane, whole.address, Words * 4);
    if (bytes == nullptr) return false;
    load_words(bytes, words);
    return true;
  }
  for (u32 word = 0; word < Words; ++word) {
    words[word] = 0;
    const BufferPlaces::Place one = places.place(lane, word * 4, 4);
    if (!one.inside) continue;
    const std::byte* bytes = reach.global(lane, one.address, 4);
    if (bytes == nullptr) return false;
    std::memcpy(&words[word], bytes, 4);
  }
  return true;
}

template <u32 Words>
bool store_lane(Reach& reach, const BufferPlaces& places, u32 lane, const u32 (&words)[Words]) {
  const BufferPlaces::Place whole = places.place(lane, 0, Words * 4);
  if (whole.inside && (Words == 1 || places.contiguous())) {
    std::byte* bytes = reach.global(lane, whole.address, Words * 4);
    if (bytes == nullptr) return false;
    store_words(bytes, words);
    return true;
  }
  for (u32 word = 0; word < Words; ++word) {
    const BufferPlaces::Place one = places.place(lane, word * 4, 4);
    if (!one.inside) continue;
    std::byte* bytes = reach.global(lane, one.address, 4);
    if (bytes == nullptr) return false;
    std::memcpy(bytes, &words[word], 4);
  }
  return true;
}

// A value of `size_of(N)` bytes; false after a fault.
template <Narrow N>
bool load_lane_narrow(Reach& reach, const BufferPlaces& places, u32 lane, u32& value) {
  value = 0;
  const BufferPlaces::Place one = places.place(lane, 0, size_of(N));
  if (!one.inside) return true;
  const std::byte* bytes = reach.global(lane, one.address, size_of(N));
  if (bytes != nullptr) value = load_narrow<N>(bytes);
  return bytes != nullptr;
}

template <u32 Words>
void run_load(Wave& w, const Instruction& in) {
  const BufferPlaces places(w, in);
  Reach reach(w, false);
  Row rows[Words];
  for (u64 left = w.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    u32 words[Words];
    if (!load_lane(reach, places, lane, words)) return;
    for (u32 word = 0; word < Words; ++word) rows[word].lane[lane] = words[word];
  }
  for (u32 word = 0; word < Words; ++word) commit(w, in, in.op[0], word, rows[word]);
}

template <Narrow N, Part P>
void run_load_narrow(Wave& w, const Instruction& in) {
  const BufferPlaces places(w, in);
  Reach reach(w, false);
  Row row = w.row(in.op[0]);
  for (u64 left = w.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    u32 value = 0;
    if (!load_lane_narrow<N>(reach, places, lane, value)) return;
    merge_narrow<P>(row.lane[lane], value);
  }
  commit(w, in, in.op[0], 0, row);
}

template <u32 Words>
void run_store(Wave& w, const Instruction& in) {
  const BufferPlaces places(w, in);
  Reach reach(w, true);
  const Row* rows = &w.row(in.op[2]);
  for (u64 left = w.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    u32 words[Words];
    for (u32 word = 0; word < Words; ++word) words[word] = rows[word].lane[lane];
    if (!store_lane(reach, places, lane, words)) return;
  }
}

// Stores the low `Size` bytes of the register or of its high half.
template <u32 Size, bool High>
void run_store_narrow(Wave& w, const Instruction& in) {
  const BufferPlaces places(w, in);
  Reach reach(w, true);
  const Row& row = w.row(in.op[2]);
  for (u64 left = w.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    if (places.dropped(lane, Size)) continue;
    std::byte* bytes = places.at(reach, lane, Size);
    if (bytes == nullptr) return;
    const u32 value = row.lane[lane] >> (High ? 16 : 0);
    std::memcpy(bytes, &value, Size);
  }
}

template <Narrow N>
void run_load_to_lds(Wave& w, const Instruction& in) {
  const BufferPlaces places(w, in);
  Reach from(w, false);
  Reach to(w, true);
  for (u64 left = w.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    u32 value = 0;
    if (!load_lane_narrow<N>(from, places, lane, value)) return;
    std::byte* local = to.local(lane, lds_place(w, in, lane), 4);
    if (local == nullptr) return;
    std::memcpy(local, &value, sizeof(value));
  }
}

void add(Table& t, const char* name, Shape shape, Handler handler, u8 registers) {
  Semantics s;
  s.handler = handler;
  s.shape = shape;
  s.registers = registers;
  t.add(name, s);
}

void add_loads(Table& t) {
  add(t, "buffer_load_dword", Shape::kBufferLoad, &run_load<1>, 1);
  add(t, "buffer_load_dwordx2", Shape::kBufferLoad, &run_load<2>, 2);
  add(t, "buffer_load_dwordx3", Shape::kBufferLoad, &run_load<3>, 3);
  add(t, "buffer_load_dwordx4", Shape::kBufferLoad, &run_load<4>, 4);
  add(t, "buffer_load_ubyte", Shape::kBufferLoad, &run_load_narrow<Narrow::kU8, Part::kWhole>, 1);
  add(t, "buffer_load_sbyte", Shape::kBufferLoad, &run_load_narrow<Narrow::kI8, Part::kWhole>, 1);
  add(t, "buffer_load_ushort", Shape::kBufferLoad, &run_load_narrow<Narrow::kU16, Part::kWhole>, 1);
  add(t, "buffer_load_sshort", Shape::kBufferLoad, &run_load_narrow<Narrow::kI16, Part::kWhole>, 1);
  add(t, "buffer_load_ubyte_d16", Shape::kBufferLoad, &run_load_narrow<Narrow::kU8, Part::kLow>, 1);
  add(t, "buffer_load_ubyte_d16_hi", Shape::kBufferLoad, &run_load_narrow<Narrow::kU8, Part::kHigh>, 1);
  add(t, "buffer_load_sbyte_d16", Shape::kBufferLoad, &run_load_narrow<Narrow::kI8, Part::kLow>, 1);
  add(t, "buffer_load_sbyte_d16_hi", Shape::kBufferLoad, &run_load_narrow<Narrow::kI8, Part::kHigh>, 1);
  add(t, "buffer_load_short_d16", Shape::kBufferLoad, &run_load_narrow<Narrow::kU16, Part::kLow>, 1);
  add(t, "buffer_load_short_d16_hi", Shape::kBufferLoad, &run_load_narrow<Narrow::kU16, Part::kHigh>, 1);
}

void add_stores(Table& t) {
  add(t, "buffer_store_dword", Shape::kBufferStore, &run_store<1>, 1);
  add(t, "buffer_store_dwordx2", Shape::kBufferStore, &run_store<2>, 2);
  add(t, "buffer_store_dwordx3", Shape::kBufferStore, &run_store<3>, 3);
  add(t, "buffer_store_dwordx4", Shape::kBufferStore, &run_store<4>, 4);
  add(t, "buffer_store_byte", Shape::kBufferStore, &run_store_narrow<1, false>, 1);
  add(t, "buffer_store_byte_d16_hi", Shape::kBufferStore, &run_store_narrow<1, true>, 1);
  add(t, "buffer_store_short", Shape::kBufferStore, &run_store_narrow<2, false>, 1);
  add(t, "buffer_store_short_d16_hi", Shape::kBufferStore, &run_store_narrow<2, true>, 1);
}

}  // namespace

BufferResource read_resource(const Wave& w, u32 first_register) {
  const u32 high = w.sgpr[first_register + 1];
  const u32 flags = w.sgpr[first_register + 3];
  BufferResource r;
  r.base = w.pair(first_register) & 0xffffffffffff;
  r.stride = high >> 16 & 0x3fff;
  r.records = w.sgpr[first_register + 2];
  r.index_stride = u64{8} << (flags >> 21 & 3);
  r.swizzled = high >> 31 != 0;
  r.add_lane = (flags >> 23 & 1) != 0;
  // With add_tid, four bits of the format are the high bits of the stride.
  if (r.add_lane) r.stride |= u64{flags >> 15 & 15} << 14;
  return r;
}

BufferPlaces::BufferPlaces(Wave& w, const Instruction& in)
    : resource_(read_resource(w, in.op[3].index)),
      scalar_offset_(scalar32(w, in.op[4])),
      fixed_offset_(static_cast<u64>(in.offset)) {
  structured_ = resource_.stride != 0 && (in.index_register || resource_.add_lane);
  // Copies, because a load may overwrite its own address. The index is in the first register.
  if (in.index_register) {
    rows_[0] = w.row(in.op[1]);
    index_ = rows_[0].lane;
  }
  if (in.offset_register) {
    rows_[1] = w.row(in.op[1], in.index_register ? 1 : 0);
    offset_ = rows_[1].lane;
  }
}

BufferPlaces::Place BufferPlaces::place(u32 lane, u32 further, u32 size) const {
  const BufferResource& r = resource_;
  const u64 index = (index_ != nullptr ? u64{index_[lane]} : 0) + (r.add_lane ? lane : 0);
  const u64 offset = (offset_ != nullptr ? u64{offset_[lane]} : 0) + fixed_offset_ + further;
  u64 in_buffer = index * r.stride + offset;
  if (r.swizzled) {
    const u64 record_row = index / r.index_stride * r.stride + offset / kElement * kElement;
    in_buffer = record_row * r.index_stride + index % r.index_stride * kElement + offset % kElement;
  }
  const bool inside = structured_ ? index < r.records : in_buffer + scalar_offset_ + size <= r.records;
  return {r.base + scalar_offset_ + in_buffer, inside};
}

void add_buffer_memory(Table& t) {
  add_loads(t);
  add_stores(t);
  add(t, "buffer_load_dword lds", Shape::kBufferToLds, &run_load_to_lds<Narrow::kWord>, 0);
  add(t, "buffer_load_ubyte lds", Shape::kBufferToLds, &run_load_to_lds<Narrow::kU8>, 0);
  add(t, "buffer_load_sbyte lds", Shape::kBufferToLds, &run_load_to_lds<Narrow::kI8>, 0);
  add(t, "buffer_load_ushort lds", Shape::kBufferToLds, &run_load_to_lds<Narrow::kU16>, 0);
  add(t, "buffer_load_sshort lds", Shape::kBufferToLds, &run_load_to_lds<Narrow::kI16>, 0);
}

}  // namespace gfx942
