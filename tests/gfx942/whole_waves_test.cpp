// Vector arithmetic in a wave with every lane active, which processors with wide vectors run by code of its own
// (model/gfx942/wide.h), against the same instruction in two waves with a part of the lanes each.
//
// The instructions are decoded from texts with random operands: registers that overlap the destination, scalar
// registers and constants. Every register of every lane is compared; two NaNs are equal. On a processor without wide
// vectors both sides run the same code, and only the mask is tested.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <string>

#include "model/gfx942/decode.h"
#include "model/gfx942/table.h"
#include "model/gfx942/wave.h"

namespace {

using namespace gfx942;

constexpr u32 kRegisters = 6;    // v0 to v5 and a0 to a5, so that operands often overlap
constexpr u32 kAccumOffset = 8;  // the row of a0
constexpr u32 kRows = 16;        // that an instruction can reach
constexpr const char* kNames[] = {
    "v_mov_b32",      "v_mov_b64",           "v_not_b32",     "v_and_b32",      "v_xor_b32",
    "v_bfi_b32",      "v_bfe_i32",           "v_perm_b32",    "v_alignbit_b32", "v_lshlrev_b32",
    "v_lshrrev_b32",  "v_ashrrev_i32",       "v_lshlrev_b64", "v_lshrrev_b64",  "v_ashrrev_i64",
    "v_lshl_add_u64", "v_lshl_add_u32",      "v_add_u32",     "v_subrev_u32",   "v_add3_u32",
    "v_xad_u32",      "v_med3_i32",          "v_sad_u8",      "v_mul_lo_u32",   "v_mul_hi_i32",
    "v_mad_i32_i24",  "v_bcnt_u32_b32",      "v_ffbh_i32",    "v_add_u16",      "v_mad_i16",
    "v_max_i16",      "v_ashrrev_i16",       "v_add_f32",     "v_subrev_f32",   "v_mul_f32",
    "v_fma_f32",      "v_fmac_f32",          "v_min_f32",     "v_med3_f32",     "v_floor_f32",
    "v_rndne_f32",    "v_fract_f32",         "v_rcp_f32",     "v_sqrt_f32",     "v_exp_f32",
    "v_ldexp_f32",    "v_frexp_exp_i32_f32", "v_add_f64",     "v_mul_f64",      "v_fma_f64",
    "v_max_f64",      "v_trunc_f64",         "v_add_f16",     "v_fma_f16",      "v_max_f16",
    "v_cvt_f32_u32",  "v_cvt_i32_f32",       "v_cvt_u32_f64", "v_cvt_f64_i32",  "v_cvt_f32_f16",
    "v_cvt_f16_f32",  "v_cvt_f32_ubyte1"};

u64 next_random(u64& state) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (state ^ state >> 29) >> 16;
}

// Words of every magnitude; among them zeroes, infinities, NaNs and denormals.
u32 random_word(u64& state) {
  static constexpr u32 kSpecial[] = {0, ~0u, 1, 0x80000000, 0x7f800000, 0x7fc00001, 0x00400000, 0x3f800000};
  const u64 r = next_random(state);
  if (r % 8 == 0) return kSpecial[r >> 8 & 7];
  const u32 word = static_cast<u32>(r >> 8);
  return r % 8 == 1 ? word >> (r >> 40 & 31) : word;
}

std::string register_text(char file, u64 number, bool wide) {
  const std::string low = std::to_string(number);
  return wide ? std::string{file, '['} + low + ":" + std::to_string(number + 1) + "]" : file + low;
}

std::string operand_text(u64& state, Type type, bool destination) {
  const u64 number = next_random(state) % (kRegisters - 1);
  const u64 kind = next_random(state) % 8;
  if (!destination && kind == 0) return std::to_string(static_cast<int>(number) * 4 - 3);
  if (!destination && kind <= 2) return register_text('s', number, is_wide(type));
  const std::string text = register_text(kind == 3 ? 'a' : 'v', number, is_wide(type));
  return !destination && kind == 4 && is_float(type) ? "-" + text : text;
}

std::string instruction_text(u64& state, const char* name) {
  const Semantics& s = *semantics_table().find(name);
  std::string text = name;
  const bool repeats = s.accumulates;
  for (u32 i = 0; i < kOperands && s.types[i] != Type::kNone; ++i) {
    const bool last = i + 1 == kOperands || s.types[i + 1] == Type::kNone;
    if (repeats && last) break;
    text += (i == 0 ? " " : ", ") + operand_text(state, s.types[i], i == 0);
  }
  return text;
}

Wave random_wave(u64& state) {
  Wave w;
  w.vgpr.resize(kRows);
  for (u32 row = 0; row < kRows; ++row) {
    for (u32& word : w.vgpr[row].lane) word = random_word(state);
  }
  for (u32 i = 0; i < kRegisters; ++i) w.sgpr[i] = random_word(state);
  w.accum_offset = kAccumOffset;
  w.mode.flush32 = next_random(state) % 4 == 0;
  w.mode.flush64 = next_random(state) % 4 == 0;
  return w;
}

Wave after(Wave w, const Instruction& in, u64 exec) {
  w.set_pair(kExec, exec);
  in.handler(w, in);
  return w;
}

// The low and the high word of a result at `row`, as a number.
bool is_nan(Type type, const Wave& w, u32 row, u32 lane) {
  const u32 low = w.vgpr[row].lane[lane];
  if (type == Type::kF32) return std::isnan(std::bit_cast<float>(low));
  if (type == Type::kF16) return (low & 0x7c00) == 0x7c00 && (low & 0x3ff) != 0;
  const u64 high = w.vgpr[row + 1].lane[lane];
  return type == Type::kF64 && std::isnan(std::bit_cast<double>(high << 32 | low));
}

class WholeWaves : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Vectors, WholeWaves, testing::ValuesIn(kNames),
                         [](const auto& at) { return std::string(at.param); });

TEST_P(WholeWaves, WriteWhatTwoPartsOfTheWaveWrite) {
  EXPECT_TRUE(rc::check([] {
    u64 state = *rc::gen::arbitrary<u64>();
    const u64 mask = *rc::gen::element(~u64{1}, u64{1} << 63, next_random(state) << 8);
    const std::string text = instruction_text(state, GetParam());
    RC_LOG() << text << "\n";
    const Instruction in = decode(text, {});
    RC_ASSERT(in.handler != &run_unknown);
    const Wave before = random_wave(state);
    const Wave whole = after(before, in, ~u64{0});
    const Wave part = after(before, in, mask);
    const Wave rest = after(before, in, ~mask);
    const Type type = in.op[0].type;
    const u32 written = in.op[0].index + (in.op[0].kind == Kind::kAgpr ? kAccumOffset : 0);
    for (u32 row = 0; row < kRows; ++row) {
      for (u32 lane = 0; lane < kLanes; ++lane) {
        const Wave& active = (mask >> lane & 1) != 0 ? part : rest;
        const Wave& inactive = (mask >> lane & 1) != 0 ? rest : part;
        RC_ASSERT(inactive.vgpr[row].lane[lane] == before.vgpr[row].lane[lane]);
        const bool result = row == written || (is_wide(type) && row == written + 1);
        if (result && is_nan(type, whole, written, lane) && is_nan(type, active, written, lane)) continue;
        RC_ASSERT(whole.vgpr[row].lane[lane] == active.vgpr[row].lane[lane]);
      }
    }
  }));
}

}  // namespace
