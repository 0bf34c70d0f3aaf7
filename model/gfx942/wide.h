// Functions that are compiled twice: for every x86-64, and once more for processors with AVX2 and FMA.
//
// The project is built for every x86-64, whose vectors have four words. A function marked GFX942_WIDE may use vectors
// of eight words and may only be called where has_wide_vectors(). Both versions compute the same bits (the folder is
// compiled without contraction of a product and a sum), except the sign and payload of NaNs, which nothing here
// promises. Elsewhere than on x86-64 there is only the ordinary version.
#pragma once

#if defined(__x86_64__)
#define GFX942_WIDE [[gnu::target("avx2,fma")]]
#else
#define GFX942_WIDE
#endif

// Before a loop over lanes in which each lane reads and writes only its own words: rows are the same or apart, so no
// lane reads a word that another one wrote.
#if defined(__clang__)
#define GFX942_LANES_ARE_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define GFX942_LANES_ARE_APART _Pragma("GCC ivdep")
#endif

namespace gfx942 {

[[nodiscard]] inline bool has_wide_vectors() {
#if defined(__x86_64__)
  static const bool has = [] {
    __builtin_cpu_init();  // a static initialiser may come here first
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  }();
  return has;
#else
  return false;
#endif
}

}  // namespace gfx942
