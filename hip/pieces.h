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

// Where the next piece may begin behind one of that many bytes, which begins at `at`, itself such a place. None: no
// allocation reaches so far.
[[nodiscard]] constexpr std::optional<std::size_t> behind_piece(std::size_t at, std::size_t bytes) {
  // The last place where one could begin, so that rounding up stays below it: no sum here is too large.
  constexpr std::size_t kLast = SIZE_MAX / kPieceAlignment * kPieceAlignment;
  if (bytes > kLast - at) return std::nullopt;
  return at + (bytes + (kPieceAlignment - 1)) / kPieceAlignment * kPieceAlignment;
}

}  // namespace hip
