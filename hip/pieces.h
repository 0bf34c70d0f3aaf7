// Pieces of one allocation, each aligned like the start of an allocation.
//
// Checks that the sum of the sizes does not overflow, not that there is that much memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace hip {

// Alignment of the start of HIP's allocations.
inline constexpr std::size_t kPieceAlignment = 256;

// The offset at which the next piece may begin behind a piece of `bytes` bytes at `at`, which is such an offset itself.
// Nullopt: no allocation is that large.
[[nodiscard]] constexpr std::optional<std::size_t> behind_piece(std::size_t at, std::size_t bytes) {
  // The largest offset of a piece: rounding up never exceeds it, so no sum here overflows.
  constexpr std::size_t kLast = SIZE_MAX / kPieceAlignment * kPieceAlignment;
  if (bytes > kLast - at) return std::nullopt;
  return at + (bytes + (kPieceAlignment - 1)) / kPieceAlignment * kPieceAlignment;
}

}  // namespace hip
