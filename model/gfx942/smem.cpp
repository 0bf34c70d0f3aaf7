// Scalar memory: s_load_dword*, s_buffer_load_dword*, the clocks, and the cache operations, which do nothing here.
//
// The clocks count the instructions of the launch, so that a run repeats exactly: a kernel that waits for time to pass
// waits for instructions.
#include "model/gfx942/buffer.h"
#include "model/gfx942/table.h"

namespace gfx942 {
namespace {

// [destination, base, offset]; an offset register is the third operand, an immediate is in `offset`.
u64 offset_of(const Wave& w, const Instruction& in) {
  const u64 offset = static_cast<u64>(static_cast<i64>(in.offset));
  return in.op[2].kind == Kind::kNone ? offset : offset + scalar32(w, in.op[2]);
}

template <u32 Words>
void run_load(Wave& w, const Instruction& in) {
  const u64 address = (scalar64(w, in.op[1]) + offset_of(w, in)) & ~u64{3};
  Reach reach(w, false);
  const std::byte* bytes = reach.global(kLanes, address, Words * 4);
  if (bytes == nullptr) return;
  std::memcpy(&w.sgpr[in.op[0].index], bytes, Words * 4);
}

// The second operand is a buffer's descriptor, of which the base and num_records count, in bytes whatever the stride is
// (Mesa's drivers rely on this for gfx9). Each dword out of range is 0.
template <u32 Words>
void run_buffer_load(Wave& w, const Instruction& in) {
  const BufferResource resource = read_resource(w, in.op[1].index);
  const u64 offset = offset_of(w, in) & ~u64{3};
  Reach reach(w, false);
  u32 words[Words] = {};
  for (u32 word = 0; word < Words; ++word) {
    const u64 at = offset + u64{4} * word;
    if (at >= resource.records || resource.records - at < 4) continue;
    const std::byte* bytes = reach.global(kLanes, (resource.base & ~u64{3}) + at, 4);
    if (bytes == nullptr) return;
    std::memcpy(&words[word], bytes, 4);
  }
  std::memcpy(&w.sgpr[in.op[0].index], words, sizeof(words));
}

void run_clock(Wave& w, const Instruction& in) {
  set_scalar64(w, in.op[0], *w.clock);
}

void run_cache_operation(Wave& /*w*/, const Instruction& /*in*/) {}

constexpr u8 kAddress = 2;  // registers
constexpr u8 kDescriptor = 4;

void add(Table& t, const char* name, Handler handler, u8 registers, u8 base_registers) {
  Semantics s;
  s.handler = handler;
  s.shape = Shape::kScalarLoad;
  s.registers = registers;
  s.base_registers = base_registers;
  t.add(name, s);
}

}  // namespace

void add_scalar_memory(Table& t) {
  add(t, "s_load_dword", &run_load<1>, 1, kAddress);
  add(t, "s_load_dwordx2", &run_load<2>, 2, kAddress);
  add(t, "s_load_dwordx4", &run_load<4>, 4, kAddress);
  add(t, "s_load_dwordx8", &run_load<8>, 8, kAddress);
  add(t, "s_load_dwordx16", &run_load<16>, 16, kAddress);
  add(t, "s_buffer_load_dword", &run_buffer_load<1>, 1, kDescriptor);
  add(t, "s_buffer_load_dwordx2", &run_buffer_load<2>, 2, kDescriptor);
  add(t, "s_buffer_load_dwordx4", &run_buffer_load<4>, 4, kDescriptor);
  add(t, "s_buffer_load_dwordx8", &run_buffer_load<8>, 8, kDescriptor);
  add(t, "s_buffer_load_dwordx16", &run_buffer_load<16>, 16, kDescriptor);
  Semantics clock;
  clock.handler = &run_clock;
  clock.types = {Type::kU64};
  t.add("s_memtime", clock);
  t.add("s_memrealtime", clock);
  Semantics nothing;
  nothing.handler = &run_cache_operation;
  nothing.shape = Shape::kNoOperands;
  for (const char* name : {"s_dcache_inv", "s_dcache_wb", "s_dcache_inv_vol", "s_dcache_wb_vol"}) t.add(name, nothing);
}

}  // namespace gfx942
