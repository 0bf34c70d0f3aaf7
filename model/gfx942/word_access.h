// Dwords in global memory that the host or another launch may access at the same time.
//
// An access of 4 to 16 bytes is made of indivisible pieces: each 8 bytes at a multiple of 8 are one access, as on the
// hardware, and what is left are single dwords. Protocols that put a value and its flag next to each other need this.
// An access that is not aligned to a dword has no such promise.
#pragma once

#include <atomic>
#include <cstring>
#include <type_traits>

#include "model/gfx942/types.h"

namespace gfx942 {

inline bool is_aligned(const std::byte* bytes, std::size_t size) {
  return reinterpret_cast<std::uintptr_t>(bytes) % size == 0;
}

template <class T>
void load_piece(const std::byte* bytes, u32* words) {
  const T value =
      std::atomic_ref<T>(*reinterpret_cast<T*>(const_cast<std::byte*>(bytes))).load(std::memory_order_acquire);
  std::memcpy(words, &value, sizeof(value));
}
template <class T>
void store_piece(std::byte* bytes, const u32* words) {
  T value = 0;
  std::memcpy(&value, words, sizeof(value));
  std::atomic_ref<T>(*reinterpret_cast<T*>(bytes)).store(value, std::memory_order_release);
}

// Calls `dword(i)` or `pair(i)` for each piece; `i` is the number of its first dword.
template <u32 Words, class Dword, class Pair>
void for_pieces(const std::byte* bytes, const Dword& dword, const Pair& pair) {
  u32 i = 0;
  if (!is_aligned(bytes, sizeof(u64))) dword(i++);
  for (; i + 2 <= Words; i += 2) pair(i);
  if (i < Words) dword(i);
}

template <u32 Words>
void load_words(const std::byte* bytes, u32 (&words)[Words]) {
  if (!is_aligned(bytes, sizeof(u32))) {
    std::memcpy(words, bytes, sizeof(words));
    return;
  }
  for_pieces<Words>(
      bytes, [&](u32 i) { load_piece<u32>(bytes + i * sizeof(u32), words + i); },
      [&](u32 i) { load_piece<u64>(bytes + i * sizeof(u32), words + i); });
}
template <u32 Words>
void store_words(std::byte* bytes, const u32 (&words)[Words]) {
  if (!is_aligned(bytes, sizeof(u32))) {
    std::memcpy(bytes, words, sizeof(words));
    return;
  }
  for_pieces<Words>(
      bytes, [&](u32 i) { store_piece<u32>(bytes + i * sizeof(u32), words + i); },
      [&](u32 i) { store_piece<u64>(bytes + i * sizeof(u32), words + i); });
}

// The conversion that a load of fewer than 4 bytes applies, and of 4 bytes: none.
enum class Narrow : u8 { kWord, kU8, kI8, kU16, kI16 };

template <Narrow N>
u32 load_narrow(const std::byte* bytes) {
  if constexpr (N == Narrow::kU8 || N == Narrow::kI8) {
    const u8 value = static_cast<u8>(*bytes);
    return N == Narrow::kU8 ? value : static_cast<u32>(static_cast<i32>(static_cast<i8>(value)));
  } else if constexpr (N == Narrow::kWord) {
    u32 words[1];
    load_words(bytes, words);
    return words[0];
  } else {
    u16 value = 0;
    std::memcpy(&value, bytes, sizeof(value));
    return N == Narrow::kU16 ? value : static_cast<u32>(static_cast<i32>(static_cast<i16>(value)));
  }
}
constexpr u32 size_of(Narrow n) {
  if (n == Narrow::kWord) return 4;
  return n == Narrow::kU8 || n == Narrow::kI8 ? 1 : 2;
}

// The half of the register that a d16 load writes; the other one stays.
enum class Part : u8 { kWhole, kLow, kHigh };

template <Part P>
void merge_narrow(u32& to, u32 value) {
  if constexpr (P == Part::kWhole) to = value;
  if constexpr (P == Part::kLow) to = (to & 0xffff0000) | (value & 0xffff);
  if constexpr (P == Part::kHigh) to = (to & 0xffff) | value << 16;
}

}  // namespace gfx942
