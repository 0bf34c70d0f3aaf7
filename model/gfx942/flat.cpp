// Vector memory: flat, global and scratch loads and stores of every width.
//
// Lanes are served in order. A load writes its destination only when every lane succeeded; a store that faults has
// written the lanes before. Accesses need not be aligned (the mode that HSA sets). Caches are not modelled: cache
// instructions do nothing.
#include "model/gfx942/reach.h"
#include "model/gfx942/valu.h"
#include "model/gfx942/word_access.h"

namespace gfx942 {
namespace {

template <u32 Words>
void run_load(Wave& w, const Instruction& in) {
  const Addresses addresses(w, in);
  Reach reach(w, false);
  const u64 exec = w.exec();
  Row rows[Words];
  if (Words == 1 && exec == ~u64{0} && !in.device_scope && addresses.consecutive(4)) {
    if (const std::byte* bytes = reach.global(0, addresses[0], kLanes * 4)) {
      std::memcpy(w.row(in.op[0]).lane, bytes, sizeof(Row));
      return;
    }
    // The access of some lane is not legal. The loop below finds the lane.
    w.state = WaveState::kReady;
  }
  for (u64 left = exec; left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    const std::byte* bytes = addresses.at(reach, lane, Words * 4);
    if (bytes == nullptr) return;
    u32 words[Words];
    load_words(bytes, words);
    for (u32 word = 0; word < Words; ++word) rows[word].lane[lane] = words[word];
  }
  for (u32 word = 0; word < Words; ++word) commit(w, in, in.op[0], word, rows[word]);
}

template <Narrow N, Part P>
void run_load_narrow(Wave& w, const Instruction& in) {
  const Addresses addresses(w, in);
  Reach reach(w, false);
  Row row = w.row(in.op[0]);
  for (u64 left = w.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    const std::byte* bytes = addresses.at(reach, lane, size_of(N));
    if (bytes == nullptr) return;
    merge_narrow<P>(row.lane[lane], load_narrow<N>(bytes));
  }
  commit(w, in, in.op[0], 0, row);
}

// Loads to LDS instead of registers. op[3] holds the scalar part of the address, as for other loads.
template <Narrow N>
void run_load_to_lds(Wave& w, const Instruction& in) {
  const Addresses addresses(w, in);
  Reach from(w, false);
  Reach to(w, true);
  for (u64 left = w.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    const std::byte* bytes = addresses.at(from, lane, size_of(N));
    if (bytes == nullptr) return;
    std::byte* local = to.local(lane, lds_place(w, in, lane), 4);
    if (local == nullptr) return;
    const u32 value = load_narrow<N>(bytes);
    std::memcpy(local, &value, sizeof(value));
  }
}

template <u32 Words>
void run_store(Wave& w, const Instruction& in) {
  const Addresses addresses(w, in);
  Reach reach(w, true);
  const u64 exec = w.exec();
  if (Words == 1 && exec == ~u64{0} && !in.device_scope && addresses.consecutive(4)) {
    if (std::byte* bytes = reach.global(0, addresses[0], kLanes * 4)) {
      std::memcpy(bytes, w.row(in.op[2]).lane, sizeof(Row));
      return;
    }
    w.state = WaveState::kReady;
  }
  const Row* rows = &w.row(in.op[2]);
  for (u64 left = exec; left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    std::byte* bytes = addresses.at(reach, lane, Words * 4);
    if (bytes == nullptr) return;
    u32 words[Words];
    for (u32 word = 0; word < Words; ++word) words[word] = rows[word].lane[lane];
    store_words(bytes, words);
  }
}

// Stores the low `Size` bytes of the register or of its high half.
template <u32 Size, bool High>
void run_store_narrow(Wave& w, const Instruction& in) {
  const Addresses addresses(w, in);
  Reach reach(w, true);
  const Row& row = w.row(in.op[2]);
  for (u64 left = w.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    std::byte* bytes = addresses.at(reach, lane, Size);
    if (bytes == nullptr) return;
    const u32 value = row.lane[lane] >> (High ? 16 : 0);
    std::memcpy(bytes, &value, Size);
  }
}

void run_nothing(Wave& /*w*/, const Instruction& /*in*/) {}

struct Family {
  Table& table;
  std::string prefix;
  Segment segment;

  void add(const std::string& name, Shape shape, Handler handler) const {
    Semantics s;
    s.handler = handler;
    s.shape = shape;
    s.segment = segment;
    table.add(prefix + name, s);
  }
};

void add_loads(const Family& f) {
  f.add("load_dword", Shape::kLoad, &run_load<1>);
  f.add("load_dwordx2", Shape::kLoad, &run_load<2>);
  f.add("load_dwordx3", Shape::kLoad, &run_load<3>);
  f.add("load_dwordx4", Shape::kLoad, &run_load<4>);
  f.add("load_ubyte", Shape::kLoad, &run_load_narrow<Narrow::kU8, Part::kWhole>);
  f.add("load_sbyte", Shape::kLoad, &run_load_narrow<Narrow::kI8, Part::kWhole>);
  f.add("load_ushort", Shape::kLoad, &run_load_narrow<Narrow::kU16, Part::kWhole>);
  f.add("load_sshort", Shape::kLoad, &run_load_narrow<Narrow::kI16, Part::kWhole>);
  f.add("load_ubyte_d16", Shape::kLoad, &run_load_narrow<Narrow::kU8, Part::kLow>);
  f.add("load_ubyte_d16_hi", Shape::kLoad, &run_load_narrow<Narrow::kU8, Part::kHigh>);
  f.add("load_sbyte_d16", Shape::kLoad, &run_load_narrow<Narrow::kI8, Part::kLow>);
  f.add("load_sbyte_d16_hi", Shape::kLoad, &run_load_narrow<Narrow::kI8, Part::kHigh>);
  f.add("load_short_d16", Shape::kLoad, &run_load_narrow<Narrow::kU16, Part::kLow>);
  f.add("load_short_d16_hi", Shape::kLoad, &run_load_narrow<Narrow::kU16, Part::kHigh>);
}

void add_loads_to_lds(const Family& f) {
  f.add("load_lds_dword", Shape::kLoadToLds, &run_load_to_lds<Narrow::kWord>);
  f.add("load_lds_ubyte", Shape::kLoadToLds, &run_load_to_lds<Narrow::kU8>);
  f.add("load_lds_sbyte", Shape::kLoadToLds, &run_load_to_lds<Narrow::kI8>);
  f.add("load_lds_ushort", Shape::kLoadToLds, &run_load_to_lds<Narrow::kU16>);
  f.add("load_lds_sshort", Shape::kLoadToLds, &run_load_to_lds<Narrow::kI16>);
}

void add_stores(const Family& f) {
  f.add("store_dword", Shape::kStore, &run_store<1>);
  f.add("store_dwordx2", Shape::kStore, &run_store<2>);
  f.add("store_dwordx3", Shape::kStore, &run_store<3>);
  f.add("store_dwordx4", Shape::kStore, &run_store<4>);
  f.add("store_byte", Shape::kStore, &run_store_narrow<1, false>);
  f.add("store_byte_d16_hi", Shape::kStore, &run_store_narrow<1, true>);
  f.add("store_short", Shape::kStore, &run_store_narrow<2, false>);
  f.add("store_short_d16_hi", Shape::kStore, &run_store_narrow<2, true>);
}

}  // namespace

void add_vector_memory(Table& table) {
  for (const Family& f : {Family{table, "flat_", Segment::kFlat}, Family{table, "global_", Segment::kGlobal},
                          Family{table, "scratch_", Segment::kScratch}}) {
    add_loads(f);
    add_stores(f);
    if (f.segment != Segment::kFlat) add_loads_to_lds(f);
  }
  Semantics nothing;
  nothing.handler = &run_nothing;
  nothing.shape = Shape::kNoOperands;
  table.add("buffer_wbl2", nothing);
  table.add("buffer_inv", nothing);
}

}  // namespace gfx942
