// Address space of one agent: the placement of allocations and the reuse of freed ones.
//
// Pages are real: the host can touch all memory (large BAR), and untouched pages cost nothing. Between two allocations
// lies an inaccessible page.
//
// Without quarantine, a freed block is the next one of its size to be allocated (last in, first out), with its old
// bytes; when more than kCachedBytes are waiting, the oldest blocks are merged with their neighbours, and a request
// that finds no block of its size takes the smallest that fits. With quarantine, a freed block becomes inaccessible at
// once and its addresses are used again only when more than kQuarantineBytes are waiting.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "hip/agent/address_map.h"
#include "hip/agent/types.h"

namespace agent {

// Puts zeros of ordinary memory at the pages of a block. False: the old pages may be there or gone, so the block must
// not be used again.
[[nodiscard]] bool renew_pages(u64 base, u64 size);

class Heap {
 public:
  static constexpr u64 kChunkBytes = u64{16} << 30;  // of address space, reserved at a time
  static constexpr u64 kCachedBytes = u64{64} << 20;
  static constexpr u64 kQuarantineBytes = u64{256} << 30;
  static constexpr std::size_t kQuarantineBlocks = 16384;

  Heap(AddressMap& map, bool quarantine) : map_(map), quarantine_(quarantine) {}
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap();

  // Readable and writable bytes at a multiple of `alignment` (a power of two); 0 when there is no address space.
  [[nodiscard]] u64 allocate(u64 size, u64 alignment = kPage);
  // Whether the address lies in this heap, allocated or not.
  [[nodiscard]] bool owns(u64 address);
  // Takes back a block of allocate(). Its range must have been erased from the map.
  void release(u64 base, u64 size);

 private:
  struct Block {
    u64 base;
    u64 length;  // with the guard page
  };
  [[nodiscard]] static u64 length_of(u64 size) { return round_up(size == 0 ? 1 : size, kPage) + kPage; }
  [[nodiscard]] bool take_cached(u64 length, u64 alignment, Block& block);
  [[nodiscard]] bool take_free(u64 length, u64 alignment, Block& block);
  [[nodiscard]] bool reserve(u64 length);
  void add_free(Block block);
  void remove_free(Block block);
  // Unmaps the pages; false if a kernel may still use them.
  [[nodiscard]] bool vacate(Block block);
  void trim();

  AddressMap& map_;
  const bool quarantine_;
  hip::sync::Mutex mutex_;
  std::map<u64, u64> free_;                 // base to length; inaccessible
  std::set<std::pair<u64, u64>> by_size_;   // the blocks of free_, as length and base
  std::map<u64, Block> waiting_;            // freed, by the order of freeing; accessible unless in quarantine
  std::map<u64, std::vector<u64>> cached_;  // the numbers of waiting blocks, by length; the last one freed at the end
  u64 next_number_ = 0;
  u64 waiting_bytes_ = 0;
  std::vector<Block> chunks_;
};

}  // namespace agent
