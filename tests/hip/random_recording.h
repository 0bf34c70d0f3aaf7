// Random recordings and random moves, drawn from RapidCheck so that a failing one shrinks.
//
// Shapes (how many nodes, which kinds, sizes, offsets, buffers) are RapidCheck's choices; filler bytes come from one
// drawn seed, because nobody wants to look at shrunk filler. Filler contains addresses of buffers on purpose: a patcher
// must not touch a scalar that is equal to an address.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "hip/fake_api.h"
#include "hip/recording.h"
#include "hip/relocation.h"

namespace fake {

inline constexpr std::uint64_t kBufferBytes = 4096;
inline constexpr hip::BufferIndex kBuffers = 5;

struct RecordingShape {
  int max_nodes = 6;
  int max_depth = 3;    // how deep children nest
  bool opaque = false;  // opaque nodes as well
  bool kernels_only = false;
};

// A number from 0 to bound - 1, all alike.
int below(int bound);

// To be called inside a RapidCheck property. The kernels' layouts are registered with `world`.
hip::Recording draw_recording(World& world, const RecordingShape& shape = {});

// Distinct addresses for kBuffers buffers, out of a pool that is not much larger, so that addresses come back.
hip::AddressTable draw_addresses();

// Moves of some of the buffers: to other addresses of the pool, or among themselves (swaps and cycles). May contain
// moves that go nowhere.
std::vector<hip::Move> draw_moves(const hip::AddressTable& from);

// A permutation of the current addresses: at least one swap or cycle.
std::vector<hip::Move> draw_cycle(const hip::AddressTable& from);

inline std::uint64_t bits(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

inline std::uint64_t load(const std::vector<std::byte>& block, std::size_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, block.data() + offset, sizeof(value));
  return value;
}

inline hip::RecordedNode child_of(hip::Recording recording) {
  return {hip::ChildRecord{std::make_shared<const hip::Recording>(std::move(recording))}, {}, {}};
}

// `inner` below `depth` child graph nodes.
inline hip::Recording nested(hip::Recording inner, std::uint32_t depth) {
  for (std::uint32_t i = 0; i < depth; ++i) {
    hip::Recording parent;
    parent.add(child_of(std::move(inner)));
    inner = std::move(parent);
  }
  return inner;
}

// `leaf` below 40 levels, each of which holds the level below it twice: 2^40 nodes.
inline hip::Recording huge(hip::Recording leaf) {
  for (int level = 0; level < 40; ++level) {
    const hip::RecordedNode below = child_of(std::move(leaf));
    leaf = hip::Recording();
    leaf.add(below);
    leaf.add(below);
  }
  return leaf;
}

// Returns the table after all moves.
hip::AddressTable moved(hip::AddressTable addresses, const std::vector<hip::Move>& moves);

}  // namespace fake
