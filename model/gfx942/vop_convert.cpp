// Conversions between integers and floats of all widths.
//
// Conversions to an integer round toward zero and saturate; NaN becomes zero. Those to a float round to nearest even.
#include <algorithm>

#include "model/gfx942/float_ops.h"
#include "model/gfx942/valu.h"

namespace gfx942 {
namespace {

template <u32 Byte>
float byte_of(u32 x) {
  return static_cast<float>(x >> 8 * Byte & 0xff);
}

u32 pair_of(u16 low, u16 high) {
  return low | static_cast<u32>(high) << 16;
}

u16 normalized_signed(float x) {
  if (std::isnan(x)) return 0;
  return static_cast<u16>(static_cast<i16>(std::nearbyint(std::clamp(x, -1.0f, 1.0f) * 32767.0f)));
}
u16 normalized_unsigned(float x) {
  if (std::isnan(x)) return 0;
  return static_cast<u16>(std::nearbyint(std::clamp(x, 0.0f, 1.0f) * 65535.0f));
}

// Replaces one byte of `into` by x as an integer of 8 bits.
u32 packed_byte(float x, u32 byte, u32 into) {
  const u32 shift = (byte & 3) * 8;
  return (into & ~(0xffu << shift)) | static_cast<u32>(truncated<u8>(std::nearbyint(x))) << shift;
}

void add_floats(Table& t) {
  t.add("v_cvt_f32_i32", vector<([](i32 a) { return static_cast<float>(a); })>());
  t.add("v_cvt_f32_u32", vector<([](u32 a) { return static_cast<float>(a); })>());
  t.add("v_cvt_u32_f32", vector<([](float a) { return truncated<u32>(a); })>());
  t.add("v_cvt_i32_f32", vector<([](float a) { return truncated<i32>(a); })>());
  t.add("v_cvt_rpi_i32_f32", vector<([](float a) { return truncated<i32>(std::floor(a + 0.5f)); })>());
  t.add("v_cvt_flr_i32_f32", vector<([](float a) { return truncated<i32>(std::floor(a)); })>());
  t.add("v_cvt_f32_ubyte0", vector<([](u32 a) { return byte_of<0>(a); })>());
  t.add("v_cvt_f32_ubyte1", vector<([](u32 a) { return byte_of<1>(a); })>());
  t.add("v_cvt_f32_ubyte2", vector<([](u32 a) { return byte_of<2>(a); })>());
  t.add("v_cvt_f32_ubyte3", vector<([](u32 a) { return byte_of<3>(a); })>());
}

void add_doubles(Table& t) {
  t.add("v_cvt_f32_f64", vector<([](double a) { return static_cast<float>(a); })>());
  t.add("v_cvt_f64_f32", vector<([](float a) { return static_cast<double>(a); })>());
  t.add("v_cvt_f64_i32", vector<([](i32 a) { return static_cast<double>(a); })>());
  t.add("v_cvt_f64_u32", vector<([](u32 a) { return static_cast<double>(a); })>());
  t.add("v_cvt_i32_f64", vector<([](double a) { return truncated<i32>(a); })>());
  t.add("v_cvt_u32_f64", vector<([](double a) { return truncated<u32>(a); })>());
}

void add_halves(Table& t) {
  t.add("v_cvt_f16_f32", vector<([](float a) { return to_half(a); })>());
  t.add("v_cvt_f32_f16", vector<([](Half a) { return to_float(a); })>());
  t.add("v_cvt_f16_u16", vector<([](u16 a) { return to_half(static_cast<float>(a)); })>());
  t.add("v_cvt_f16_i16", vector<([](i16 a) { return to_half(static_cast<float>(a)); })>());
  t.add("v_cvt_u16_f16", vector<([](Half a) { return truncated<u16>(to_float(a)); })>());
  t.add("v_cvt_i16_f16", vector<([](Half a) { return truncated<i16>(to_float(a)); })>());
}

void add_packs(Table& t) {
  t.add("v_cvt_pkrtz_f16_f32",
        vector<([](float a, float b) { return pair_of(to_half_toward_zero(a).bits, to_half_toward_zero(b).bits); })>());
  t.add("v_cvt_pknorm_i16_f32",
        vector<([](float a, float b) { return pair_of(normalized_signed(a), normalized_signed(b)); })>());
  t.add("v_cvt_pknorm_u16_f32",
        vector<([](float a, float b) { return pair_of(normalized_unsigned(a), normalized_unsigned(b)); })>());
  t.add("v_cvt_pk_u16_u32", vector<([](u32 a, u32 b) {
          return pair_of(static_cast<u16>(std::min(a, 0xffffu)), static_cast<u16>(std::min(b, 0xffffu)));
        })>());
  t.add("v_cvt_pk_i16_i32", vector<([](i32 a, i32 b) {
          return pair_of(static_cast<u16>(std::clamp(a, -32768, 32767)),
                         static_cast<u16>(std::clamp(b, -32768, 32767)));
        })>());
  t.add("v_cvt_pk_u8_f32", vector<([](float a, u32 byte, u32 into) { return packed_byte(a, byte, into); })>());
  t.add("v_pack_b32_f16", vector<([](Half a, Half b) { return pair_of(a.bits, b.bits); })>());
}

}  // namespace

void add_conversions(Table& table) {
  add_floats(table);
  add_doubles(table);
  add_halves(table);
  add_packs(table);
}

}  // namespace gfx942
