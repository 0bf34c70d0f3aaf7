// Half precision, alone and in pairs; kWords results a work item, as bits.
#include "device.h"

#pragma clang fp contract(off)

typedef _Float16 Pair __attribute__((vector_size(4)));

template <class To, class From>
DEVICE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

constexpr u32 kWords = 16;

KERNEL(half_operations)(u16* out, const u16* x, const u16* y, const u16* z) {
  const _Float16 a = bits_as<_Float16>(x[item()]);
  const _Float16 b = bits_as<_Float16>(y[item()]);
  const _Float16 c = bits_as<_Float16>(z[item()]);
  const _Float16 results[kWords] = {a + b,
                                    a - b,
                                    a * b,
                                    -a * c,
                                    (_Float16)__builtin_fmaf16(a, b, c),
                                    (_Float16)__builtin_fmaf16(-a, __builtin_fabsf16(b), -c),
                                    a / b,
                                    (_Float16)__builtin_floorf16(a),
                                    (_Float16)__builtin_ceilf16(b),
                                    (_Float16)__builtin_truncf16(c),
                                    (_Float16)__builtin_rintf16(a),
                                    (_Float16)(float)b,
                                    (_Float16)((float)a * (float)b),
                                    (_Float16)(i16)(x[item()]),
                                    (_Float16)(u16)(y[item()]),
                                    a < b ? c : (b >= c ? a : b)};
  for (u32 i = 0; i < kWords; ++i) out[kWords * item() + i] = bits_as<u16>(results[i]);
}

KERNEL(half_pairs)(u32* out, const u32* x, const u32* y, const u32* z) {
  const Pair a = bits_as<Pair>(x[item()]), b = bits_as<Pair>(y[item()]), c = bits_as<Pair>(z[item()]);
  const Pair crossed = {b[1], b[0]};
  out[4 * item()] = bits_as<u32>(a + b);
  out[4 * item() + 1] = bits_as<u32>(a * crossed);
  out[4 * item() + 2] = bits_as<u32>(-a * b);
  out[4 * item() + 3] = bits_as<u32>(a * (_Float16)2.0 - c);
}

KERNEL(half_to_float)(u32* out, const u16* x) {
  out[item()] = bits_as<u32>((float)bits_as<_Float16>(x[item()]));
}
KERNEL(float_to_half)(u16* out, const u32* x) {
  out[item()] = bits_as<u16>((_Float16)bits_as<float>(x[item()]));
}
