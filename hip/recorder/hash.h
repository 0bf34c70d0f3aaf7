// The hash by which a recorder's log names contents that it does not hold in full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace hip::recorder {

// FNV-1a over words of eight bytes: tells contents apart, but gives no protection against collisions on purpose.
[[nodiscard]] inline std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL ^ bytes.size();
  std::size_t i = 0;
  for (; i + sizeof hash <= bytes.size(); i += sizeof hash) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    hash = (hash ^ word) * 0x100000001b3ULL;
    hash ^= hash >> 29;
  }
  for (; i < bytes.size(); ++i) hash = (hash ^ static_cast<std::uint64_t>(bytes[i])) * 0x100000001b3ULL;
  return hash;
}

}  // namespace hip::recorder
