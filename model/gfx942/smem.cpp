// Scalar memory: s_load_dword*, the clocks, and the cache operations, which do nothing here.
//
// The clocks count the instructions of the launch, so that a run repeats exactly: a kernel that waits for time to pass
// waits for instructions.
#include "model/gfx942/reach.h"
#include "model/gfx942/table.h"

namespace gfx942 {
namespace {

// [destination, base, offset]; an offset register is the third operand, an immediate is in `offset`.
template <u32 Words>
void run_load(Wave& w, const Instruction& in) {
  u64 address = scalar64(w, in.op[1]) + static_cast<u64>(static_cast<i64>(in.offset));
  if (in.op[2].kind != Kind::kNone) address += scalar32(w, in.op[2]);
  address &= ~u64{3};
  Reach reach(w, false);
  const std::byte* bytes = reach.global(kLanes, address, Words * 4);
  if (bytes == nullptr) return;
  std::memcpy(&w.sgpr[in.op[0].index], bytes, Words * 4);
}

void run_clock(Wave& w, const Instruction& in) {
  set_scalar64(w, in.op[0], *w.clock);
}

void run_nothing(Wave& /*w*/, const Instruction& /*in*/) {}

template <u32 Words>
void add_load(Table& t, const char* name) {
  Semantics s;
  s.handler = &run_load<Words>;
  s.shape = Shape::kScalarLoad;
  t.add(name, s);
}

}  // namespace

void add_scalar_memory(Table& t) {
  add_load<1>(t, "s_load_dword");
  add_load<2>(t, "s_load_dwordx2");
  add_load<4>(t, "s_load_dwordx4");
  add_load<8>(t, "s_load_dwordx8");
  add_load<16>(t, "s_load_dwordx16");
  Semantics clock;
  clock.handler = &run_clock;
  clock.types = {Type::kU64};
  t.add("s_memtime", clock);
  t.add("s_memrealtime", clock);
  Semantics nothing;
  nothing.handler = &run_nothing;
  nothing.shape = Shape::kNoOperands;
  for (const char* name : {"s_dcache_inv", "s_dcache_wb", "s_dcache_inv_vol", "s_dcache_wb_vol"}) t.add(name, nothing);
}

}  // namespace gfx942
