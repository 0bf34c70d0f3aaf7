// Scalar operations: SOP1, SOP2, SOPC and SOPK.
//
// An operation is a function of its sources. If it uses SCC, its first parameter is a reference to SCC. SOPK's
// immediate stands in the text as an ordinary operand.
#include <algorithm>

#include "model/gfx942/valu.h"

namespace gfx942 {
namespace {

template <class T>
T read_scalar(const Wave& w, const Operand& o) {
  if constexpr (kWide<T>) {
    return std::bit_cast<T>(scalar64(w, o));
  } else {
    return std::bit_cast<T>(scalar32(w, o));
  }
}

template <class T>
void write_scalar(Wave& w, const Operand& o, T value) {
  if constexpr (kWide<T>) {
    set_scalar64(w, o, std::bit_cast<u64>(value));
  } else {
    set_scalar32(w, o, std::bit_cast<u32>(value));
  }
}

template <class Arguments>
struct ScalarCall;
// For operations that read or set SCC.
template <class... A>
struct ScalarCall<std::tuple<bool&, A...>> {
  static constexpr u32 kCount = sizeof...(A);
  template <auto F, u32... I>
  static auto call(Wave& w, const Instruction& in, u32 first, std::integer_sequence<u32, I...>) {
    return F(w.scc, read_scalar<A>(w, in.op[first + I])...);
  }
  template <class R>
  static constexpr std::array<Type, kOperands> types() {
    return {kTypeOf<R>, kTypeOf<A>...};
  }
  static constexpr std::array<Type, kOperands> source_types() { return {kTypeOf<A>...}; }
};
// For operations without SCC.
template <class... A>
struct ScalarCall<std::tuple<A...>> {
  static constexpr u32 kCount = sizeof...(A);
  template <auto F, u32... I>
  static auto call(Wave& w, const Instruction& in, u32 first, std::integer_sequence<u32, I...>) {
    return F(read_scalar<A>(w, in.op[first + I])...);
  }
  template <class R>
  static constexpr std::array<Type, kOperands> types() {
    return {kTypeOf<R>, kTypeOf<A>...};
  }
  static constexpr std::array<Type, kOperands> source_types() { return {kTypeOf<A>...}; }
};
template <auto F>
using CallOf = ScalarCall<typename SignatureOf<F>::Arguments>;

template <auto F>
void run_scalar(Wave& w, const Instruction& in) {
  using Call = CallOf<F>;
  const auto value = Call::template call<F>(w, in, 1, std::make_integer_sequence<u32, Call::kCount>{});
  write_scalar(w, in.op[0], value);
}

template <auto F>
Semantics scalar() {
  Semantics s;
  s.handler = &run_scalar<F>;
  s.types = CallOf<F>::template types<typename SignatureOf<F>::Return>();
  return s;
}

// An operation that also reads its destination: the destination is the first source of the function.
template <auto F>
void run_in_place(Wave& w, const Instruction& in) {
  using Call = CallOf<F>;
  const auto value = Call::template call<F>(w, in, 0, std::make_integer_sequence<u32, Call::kCount>{});
  write_scalar(w, in.op[0], value);
}
template <auto F>
Semantics in_place() {
  Semantics s;
  s.handler = &run_in_place<F>;
  s.types = CallOf<F>::source_types();
  return s;
}

template <auto F>
void run_scalar_compare(Wave& w, const Instruction& in) {
  using Call = CallOf<F>;
  w.scc = Call::template call<F>(w, in, 0, std::make_integer_sequence<u32, Call::kCount>{});
}
template <auto F>
Semantics scalar_compare() {
  Semantics s;
  s.handler = &run_scalar_compare<F>;
  s.types = CallOf<F>::source_types();
  return s;
}

// EXEC becomes F(source, EXEC); the destination gets the old EXEC.
template <auto F>
void run_saveexec(Wave& w, const Instruction& in) {
  const u64 source = scalar64(w, in.op[1]);
  const u64 exec = w.exec();
  const u64 result = F(source, exec);
  set_scalar64(w, in.op[0], exec);
  w.set_pair(kExec, result);
  w.scc = result != 0;
}
// The destination becomes the new EXEC.
template <auto F>
void run_wrexec(Wave& w, const Instruction& in) {
  const u64 result = F(scalar64(w, in.op[1]), w.exec());
  set_scalar64(w, in.op[0], result);
  w.set_pair(kExec, result);
  w.scc = result != 0;
}
Semantics mask_entry(Handler handler) {
  Semantics s;
  s.handler = handler;
  s.types = {Type::kU64, Type::kU64};
  return s;
}

template <class T>
T nonzero(bool& scc, T value) {
  scc = value != 0;
  return value;
}

constexpr u32 kAllOnes = ~u32{0};

u32 first_one(u64 x) {
  return x == 0 ? kAllOnes : static_cast<u32>(std::countr_zero(x));
}
u32 reversed(u32 x) {
  u32 result = 0;
  for (u32 bit = 0; bit < 32; ++bit) result |= (x >> bit & 1) << (31 - bit);
  return result;
}
// Each group of four bits becomes all ones when any of them is set.
template <class T>
T whole_quads(T x) {
  T any = (x | x >> 1 | x >> 2 | x >> 3) & static_cast<T>(0x1111111111111111ull);
  return static_cast<T>(any * 15);
}
template <class T>
T quad_mask(T x) {
  T result = 0;
  for (u32 quad = 0; quad < sizeof(T) * 2; ++quad)
    result |= static_cast<T>((x >> quad * 4 & 15) != 0 ? T{1} : T{0}) << quad;
  return result;
}
u64 replicated(u32 x) {
  u64 result = 0;
  for (u32 bit = 0; bit < 32; ++bit) result |= static_cast<u64>(x >> bit & 1) * 3 << bit * 2;
  return result;
}

void add_moves(Table& t) {
  t.add("s_mov_b32", scalar<([](u32 a) { return a; })>());
  t.add("s_mov_b64", scalar<([](u64 a) { return a; })>());
  t.add("s_movk_i32", scalar<([](i32 a) { return a; })>());
  t.add("s_not_b32", scalar<([](bool& scc, u32 a) { return nonzero(scc, ~a); })>());
  t.add("s_not_b64", scalar<([](bool& scc, u64 a) { return nonzero(scc, ~a); })>());
  t.add("s_wqm_b32", scalar<([](bool& scc, u32 a) { return nonzero(scc, whole_quads(a)); })>());
  t.add("s_wqm_b64", scalar<([](bool& scc, u64 a) { return nonzero(scc, whole_quads(a)); })>());
  t.add("s_quadmask_b32", scalar<([](bool& scc, u32 a) { return nonzero(scc, quad_mask(a)); })>());
  t.add("s_quadmask_b64", scalar<([](bool& scc, u64 a) { return nonzero(scc, quad_mask(a)); })>());
  t.add("s_sext_i32_i8", scalar<([](u32 a) { return static_cast<i32>(static_cast<i8>(a)); })>());
  t.add("s_sext_i32_i16", scalar<([](u32 a) { return static_cast<i32>(static_cast<i16>(a)); })>());
  t.add("s_abs_i32", scalar<([](bool& scc, u32 a) { return nonzero(scc, static_cast<i32>(a) < 0 ? 0 - a : a); })>());
  t.add("s_bitset0_b32", in_place<([](u32 d, u32 a) { return d & ~(1u << (a & 31)); })>());
  t.add("s_bitset1_b32", in_place<([](u32 d, u32 a) { return d | 1u << (a & 31); })>());
  t.add("s_bitset0_b64", in_place<([](u64 d, u32 a) { return d & ~(u64{1} << (a & 63)); })>());
  t.add("s_bitset1_b64", in_place<([](u64 d, u32 a) { return d | u64{1} << (a & 63); })>());
  t.add("s_bitreplicate_b64_b32", scalar<([](u32 a) { return replicated(a); })>());
  t.add("s_cselect_b32", scalar<([](bool& scc, u32 a, u32 b) { return scc ? a : b; })>());
  t.add("s_cselect_b64", scalar<([](bool& scc, u64 a, u64 b) { return scc ? a : b; })>());
  t.add("s_cmov_b32", in_place<([](bool& scc, u32 d, u32 a) { return scc ? a : d; })>());
  t.add("s_cmov_b64", in_place<([](bool& scc, u64 d, u64 a) { return scc ? a : d; })>());
  t.add("s_cmovk_i32", in_place<([](bool& scc, i32 d, i32 a) { return scc ? a : d; })>());
}

void add_counts(Table& t) {
  t.add("s_brev_b32", scalar<([](u32 a) { return reversed(a); })>());
  t.add("s_brev_b64", scalar<([](u64 a) {
          return static_cast<u64>(reversed(static_cast<u32>(a))) << 32 | reversed(static_cast<u32>(a >> 32));
        })>());
  t.add("s_bcnt0_i32_b32",
        scalar<([](bool& scc, u32 a) { return nonzero(scc, static_cast<u32>(std::popcount(~a))); })>());
  t.add("s_bcnt0_i32_b64",
        scalar<([](bool& scc, u64 a) { return nonzero(scc, static_cast<u32>(std::popcount(~a))); })>());
  t.add("s_bcnt1_i32_b32",
        scalar<([](bool& scc, u32 a) { return nonzero(scc, static_cast<u32>(std::popcount(a))); })>());
  t.add("s_bcnt1_i32_b64",
        scalar<([](bool& scc, u64 a) { return nonzero(scc, static_cast<u32>(std::popcount(a))); })>());
  t.add("s_ff0_i32_b32", scalar<([](u32 a) { return first_one(static_cast<u32>(~a)); })>());
  t.add("s_ff0_i32_b64", scalar<([](u64 a) { return first_one(~a); })>());
  t.add("s_ff1_i32_b32", scalar<([](u32 a) { return first_one(a); })>());
  t.add("s_ff1_i32_b64", scalar<([](u64 a) { return first_one(a); })>());
  t.add("s_flbit_i32_b32", scalar<([](u32 a) { return a == 0 ? kAllOnes : static_cast<u32>(std::countl_zero(a)); })>());
  t.add("s_flbit_i32_b64", scalar<([](u64 a) { return a == 0 ? kAllOnes : static_cast<u32>(std::countl_zero(a)); })>());
  t.add("s_flbit_i32", scalar<([](i32 a) {
          const u32 x = static_cast<u32>(a < 0 ? ~a : a);
          return x == 0 ? kAllOnes : static_cast<u32>(std::countl_zero(x));
        })>());
  t.add("s_flbit_i32_i64", scalar<([](i64 a) {
          const u64 x = static_cast<u64>(a < 0 ? ~a : a);
          return x == 0 ? kAllOnes : static_cast<u32>(std::countl_zero(x));
        })>());
}

template <class T>
void add_logic(Table& t, const std::string& type) {
  t.add("s_and_" + type, scalar<([](bool& scc, T a, T b) { return nonzero<T>(scc, a & b); })>());
  t.add("s_or_" + type, scalar<([](bool& scc, T a, T b) { return nonzero<T>(scc, a | b); })>());
  t.add("s_xor_" + type, scalar<([](bool& scc, T a, T b) { return nonzero<T>(scc, a ^ b); })>());
  t.add("s_andn2_" + type, scalar<([](bool& scc, T a, T b) { return nonzero<T>(scc, a & ~b); })>());
  t.add("s_orn2_" + type, scalar<([](bool& scc, T a, T b) { return nonzero<T>(scc, a | ~b); })>());
  t.add("s_nand_" + type, scalar<([](bool& scc, T a, T b) { return nonzero<T>(scc, ~(a & b)); })>());
  t.add("s_nor_" + type, scalar<([](bool& scc, T a, T b) { return nonzero<T>(scc, ~(a | b)); })>());
  t.add("s_xnor_" + type, scalar<([](bool& scc, T a, T b) { return nonzero<T>(scc, ~(a ^ b)); })>());
}

void add_arithmetic(Table& t) {
  t.add("s_add_u32", scalar<([](bool& scc, u32 a, u32 b) {
          scc = a + b < a;
          return a + b;
        })>());
  t.add("s_sub_u32", scalar<([](bool& scc, u32 a, u32 b) {
          scc = a < b;
          return a - b;
        })>());
  t.add("s_addc_u32", scalar<([](bool& scc, u32 a, u32 b) {
          const u64 sum = u64{a} + b + (scc ? 1 : 0);
          scc = sum >> 32 != 0;
          return static_cast<u32>(sum);
        })>());
  t.add("s_subb_u32", scalar<([](bool& scc, u32 a, u32 b) {
          const u64 taken = u64{b} + (scc ? 1 : 0);
          scc = a < taken;
          return static_cast<u32>(a - taken);
        })>());
  // For signed operations, SCC is the overflow.
  t.add("s_add_i32", scalar<([](bool& scc, u32 a, u32 b) {
          scc = ((a ^ (a + b)) & (b ^ (a + b))) >> 31 != 0;
          return a + b;
        })>());
  t.add("s_sub_i32", scalar<([](bool& scc, u32 a, u32 b) {
          scc = ((a ^ b) & (a ^ (a - b))) >> 31 != 0;
          return a - b;
        })>());
  t.add("s_addk_i32", in_place<([](bool& scc, u32 d, u32 a) {
          scc = ((d ^ (d + a)) & (a ^ (d + a))) >> 31 != 0;
          return d + a;
        })>());
  t.add("s_mulk_i32", in_place<([](u32 d, u32 a) { return d * a; })>());
  t.add("s_mul_i32", scalar<([](u32 a, u32 b) { return a * b; })>());
  t.add("s_mul_hi_u32", scalar<([](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); })>());
  t.add("s_mul_hi_i32", scalar<([](i32 a, i32 b) { return static_cast<u32>(i64{a} * b >> 32); })>());
  t.add("s_min_i32", scalar<([](bool& scc, i32 a, i32 b) {
          scc = a < b;
          return std::min(a, b);
        })>());
  t.add("s_max_i32", scalar<([](bool& scc, i32 a, i32 b) {
          scc = a > b;
          return std::max(a, b);
        })>());
  t.add("s_min_u32", scalar<([](bool& scc, u32 a, u32 b) {
          scc = a < b;
          return std::min(a, b);
        })>());
  t.add("s_max_u32", scalar<([](bool& scc, u32 a, u32 b) {
          scc = a > b;
          return std::max(a, b);
        })>());
  t.add("s_absdiff_i32", scalar<([](bool& scc, i32 a, i32 b) {
          const u32 difference = static_cast<u32>(a) - static_cast<u32>(b);
          return nonzero(scc, static_cast<i32>(difference) < 0 ? 0 - difference : difference);
        })>());
}

template <u32 N>
u32 shifted_sum(bool& scc, u32 a, u32 b) {
  const u64 sum = (u64{a} << N) + b;
  scc = sum >> 32 != 0;
  return static_cast<u32>(sum);
}

void add_shifts(Table& t) {
  t.add("s_lshl_b32", scalar<([](bool& scc, u32 a, u32 n) { return nonzero(scc, a << (n & 31)); })>());
  t.add("s_lshl_b64", scalar<([](bool& scc, u64 a, u32 n) { return nonzero(scc, a << (n & 63)); })>());
  t.add("s_lshr_b32", scalar<([](bool& scc, u32 a, u32 n) { return nonzero(scc, a >> (n & 31)); })>());
  t.add("s_lshr_b64", scalar<([](bool& scc, u64 a, u32 n) { return nonzero(scc, a >> (n & 63)); })>());
  t.add("s_ashr_i32", scalar<([](bool& scc, i32 a, u32 n) { return nonzero(scc, a >> (n & 31)); })>());
  t.add("s_ashr_i64", scalar<([](bool& scc, i64 a, u32 n) { return nonzero(scc, a >> (n & 63)); })>());
  t.add("s_lshl1_add_u32", scalar<([](bool& scc, u32 a, u32 b) { return shifted_sum<1>(scc, a, b); })>());
  t.add("s_lshl2_add_u32", scalar<([](bool& scc, u32 a, u32 b) { return shifted_sum<2>(scc, a, b); })>());
  t.add("s_lshl3_add_u32", scalar<([](bool& scc, u32 a, u32 b) { return shifted_sum<3>(scc, a, b); })>());
  t.add("s_lshl4_add_u32", scalar<([](bool& scc, u32 a, u32 b) { return shifted_sum<4>(scc, a, b); })>());
  t.add("s_bfm_b32", scalar<([](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); })>());
  t.add("s_bfm_b64", scalar<([](u32 a, u32 b) { return ((u64{1} << (a & 63)) - 1) << (b & 63); })>());
  t.add("s_pack_ll_b32_b16", scalar<([](u32 a, u32 b) { return (a & 0xffff) | b << 16; })>());
  t.add("s_pack_lh_b32_b16", scalar<([](u32 a, u32 b) { return (a & 0xffff) | (b & 0xffff0000); })>());
  t.add("s_pack_hh_b32_b16", scalar<([](u32 a, u32 b) { return a >> 16 | (b & 0xffff0000); })>());
}

// The field of `width` bits at `offset`, sign-extended for a signed T. A field may reach past the end of T.
template <class T>
T bit_field(T x, u32 field) {
  constexpr u32 kBits = sizeof(T) * 8;
  const u32 offset = field & (kBits - 1);
  const u32 width = field >> 16 & 0x7f;
  if (width == 0) return 0;
  x = static_cast<T>(x >> offset);
  if (width >= kBits) return x;
  const u32 rest = kBits - width;
  return static_cast<T>(static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << rest) >> rest);
}

void add_bit_fields(Table& t) {
  t.add("s_bfe_u32", scalar<([](bool& scc, u32 a, u32 f) { return nonzero(scc, bit_field(a, f)); })>());
  t.add("s_bfe_i32", scalar<([](bool& scc, i32 a, u32 f) { return nonzero(scc, bit_field(a, f)); })>());
  t.add("s_bfe_u64", scalar<([](bool& scc, u64 a, u32 f) { return nonzero(scc, bit_field(a, f)); })>());
  t.add("s_bfe_i64", scalar<([](bool& scc, i64 a, u32 f) { return nonzero(scc, bit_field(a, f)); })>());
}

template <class T>
void add_ordered_compares(Table& t, const std::string& prefix, const std::string& type) {
  t.add(prefix + "_eq_" + type, scalar_compare<([](T a, T b) { return a == b; })>());
  t.add(prefix + "_lg_" + type, scalar_compare<([](T a, T b) { return a != b; })>());
  t.add(prefix + "_gt_" + type, scalar_compare<([](T a, T b) { return a > b; })>());
  t.add(prefix + "_ge_" + type, scalar_compare<([](T a, T b) { return a >= b; })>());
  t.add(prefix + "_lt_" + type, scalar_compare<([](T a, T b) { return a < b; })>());
  t.add(prefix + "_le_" + type, scalar_compare<([](T a, T b) { return a <= b; })>());
}

void add_scalar_compares(Table& t) {
  for (const char* prefix : {"s_cmp", "s_cmpk"}) {
    add_ordered_compares<i32>(t, prefix, "i32");
    add_ordered_compares<u32>(t, prefix, "u32");
  }
  t.add("s_cmp_eq_u64", scalar_compare<([](u64 a, u64 b) { return a == b; })>());
  t.add("s_cmp_lg_u64", scalar_compare<([](u64 a, u64 b) { return a != b; })>());
  t.add("s_bitcmp0_b32", scalar_compare<([](u32 a, u32 b) { return (a >> (b & 31) & 1) == 0; })>());
  t.add("s_bitcmp1_b32", scalar_compare<([](u32 a, u32 b) { return (a >> (b & 31) & 1) != 0; })>());
  t.add("s_bitcmp0_b64", scalar_compare<([](u64 a, u32 b) { return (a >> (b & 63) & 1) == 0; })>());
  t.add("s_bitcmp1_b64", scalar_compare<([](u64 a, u32 b) { return (a >> (b & 63) & 1) != 0; })>());
}

void add_masks(Table& t) {
  t.add("s_and_saveexec_b64", mask_entry(&run_saveexec<([](u64 s, u64 e) { return s & e; })>));
  t.add("s_or_saveexec_b64", mask_entry(&run_saveexec<([](u64 s, u64 e) { return s | e; })>));
  t.add("s_xor_saveexec_b64", mask_entry(&run_saveexec<([](u64 s, u64 e) { return s ^ e; })>));
  t.add("s_andn2_saveexec_b64", mask_entry(&run_saveexec<([](u64 s, u64 e) { return s & ~e; })>));
  t.add("s_orn2_saveexec_b64", mask_entry(&run_saveexec<([](u64 s, u64 e) { return s | ~e; })>));
  t.add("s_nand_saveexec_b64", mask_entry(&run_saveexec<([](u64 s, u64 e) { return ~(s & e); })>));
  t.add("s_nor_saveexec_b64", mask_entry(&run_saveexec<([](u64 s, u64 e) { return ~(s | e); })>));
  t.add("s_xnor_saveexec_b64", mask_entry(&run_saveexec<([](u64 s, u64 e) { return ~(s ^ e); })>));
  t.add("s_andn1_saveexec_b64", mask_entry(&run_saveexec<([](u64 s, u64 e) { return ~s & e; })>));
  t.add("s_orn1_saveexec_b64", mask_entry(&run_saveexec<([](u64 s, u64 e) { return ~s | e; })>));
  t.add("s_andn1_wrexec_b64", mask_entry(&run_wrexec<([](u64 s, u64 e) { return ~s & e; })>));
  t.add("s_andn2_wrexec_b64", mask_entry(&run_wrexec<([](u64 s, u64 e) { return s & ~e; })>));
}

}  // namespace

void add_scalar_operations(Table& table) {
  add_moves(table);
  add_counts(table);
  add_logic<u32>(table, "b32");
  add_logic<u64>(table, "b64");
  add_arithmetic(table);
  add_shifts(table);
  add_bit_fields(table);
  add_scalar_compares(table);
  add_masks(table);
}

}  // namespace gfx942
