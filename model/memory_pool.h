// model::MemoryPool: a pool of stream-ordered memory. model::StreamMemory: memory that was taken from a pool.
//
// Memory of hipMallocAsync exists from when its stream reaches the allocation until a stream reaches the free. Both
// count as writing all of it, so every operation on it has to be ordered with both. No other memory gets its address
// before the free. HIP does not know a destroyed pool any more; the object lives until the last of its memory is freed.
//
// Sources: HIP's header, hipMallocAsync, hipFreeAsync, hipMemPoolDestroy and hipMemPoolAttr; catch/unit/memory:
// hipMallocAsync.cc, hipMemPool*.cc; where these say nothing, CUDA's guide, "Stream Ordered Memory Allocator". The
// model keeps no memory in reserve: reserved and used memory are equal, and the attributes that control reuse change
// nothing that a program can see.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "model/address_space.h"
#include "model/object.h"

namespace model {

struct MemoryPool {
  ObjectId id = 0;
  int device = 0;
  bool of_device = false;  // a device's default pool, which cannot be destroyed
  std::uint64_t release_threshold = 0;
  std::array<int, 3> reuse = {1, 1, 1};  // follow events, opportunistic, internal dependencies
  std::uint64_t used = 0, used_high = 0;

  void take(std::size_t bytes) {
    used += bytes;
    used_high = used > used_high ? used : used_high;
  }
};

struct StreamMemory {
  std::shared_ptr<Reservation> range;
  std::shared_ptr<MemoryPool> pool;
};

}  // namespace model
