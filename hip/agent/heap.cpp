// Blocks and pages; the contract is in the header.
#include "hip/agent/heap.h"

#include <sys/mman.h>

#include <algorithm>

namespace agent {
namespace {

constexpr int kNothing = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

}  // namespace

bool renew_pages(u64 base, u64 size) {
  constexpr int kAccess = PROT_READ | PROT_WRITE;
  return mmap(pointer_to(base), round_up(size, kPage), kAccess, kNothing | MAP_FIXED, -1, 0) != MAP_FAILED;
}

Heap::~Heap() {
  for (const Block& chunk : chunks_) munmap(pointer_to(chunk.base), chunk.length);
}

u64 Heap::allocate(u64 size, u64 alignment) {
  if (size > kDeviceMemoryBytes) return 0;
  const hip::sync::LockGuard lock(mutex_);
  const u64 length = length_of(size);
  Block block{};
  if (take_cached(length, alignment, block)) return block.base;
  if (!take_free(length, alignment, block)) {
    if (!reserve(length + alignment) || !take_free(length, alignment, block)) return 0;
  }
  if (mprotect(pointer_to(block.base), length - kPage, PROT_READ | PROT_WRITE) != 0) {
    add_free(block);
    return 0;
  }
  return block.base;
}

bool Heap::owns(u64 address) {
  const hip::sync::LockGuard lock(mutex_);
  return std::ranges::any_of(chunks_, [&](const Block& c) { return address >= c.base && address - c.base < c.length; });
}

void Heap::release(u64 base, u64 size) {
  const hip::sync::LockGuard lock(mutex_);
  const Block block{base, length_of(size)};
  // If a kernel still uses the block, its pages stay until trim() unmaps them; the map refuses the address in any case.
  if (quarantine_) static_cast<void>(vacate(block));
  if (!quarantine_) cached_[block.length].push_back(next_number_);
  waiting_.emplace(next_number_++, block);
  waiting_bytes_ += block.length;
  trim();
}

bool Heap::take_cached(u64 length, u64 alignment, Block& block) {
  if (quarantine_) return false;
  const auto same = cached_.find(length);
  if (same == cached_.end()) return false;
  std::vector<u64>& numbers = same->second;
  const auto it = std::find_if(numbers.rbegin(), numbers.rend(),
                               [&](u64 number) { return waiting_.at(number).base % alignment == 0; });
  if (it == numbers.rend()) return false;
  block = waiting_.at(*it);
  waiting_.erase(*it);
  waiting_bytes_ -= length;
  numbers.erase(std::next(it).base());
  if (numbers.empty()) cached_.erase(same);
  return true;
}

bool Heap::take_free(u64 length, u64 alignment, Block& block) {
  for (auto it = by_size_.lower_bound({length, 0}); it != by_size_.end(); ++it) {
    const Block whole{it->second, it->first};
    const u64 base = round_up(whole.base, alignment);
    if (base - whole.base > whole.length - length) continue;
    remove_free(whole);
    if (base != whole.base) add_free({whole.base, base - whole.base});
    const u64 end = base + length;
    if (end != whole.base + whole.length) add_free({end, whole.base + whole.length - end});
    block = {base, length};
    return true;
  }
  return false;
}

bool Heap::reserve(u64 length) {
  const u64 bytes = std::max(kChunkBytes, round_up(length, kLargePage));
  void* p = mmap(nullptr, bytes, PROT_NONE, kNothing, -1, 0);
  if (p == MAP_FAILED) return false;
  chunks_.push_back({address_of(p), bytes});
  add_free(chunks_.back());
  return true;
}

void Heap::add_free(Block block) {
  auto next = free_.lower_bound(block.base);
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == block.base) {
      block = {before->first, before->second + block.length};
      remove_free({before->first, before->second});
    }
  }
  next = free_.lower_bound(block.base);
  if (next != free_.end() && block.base + block.length == next->first) {
    block.length += next->second;
    remove_free({next->first, next->second});
  }
  free_[block.base] = block.length;
  by_size_.emplace(block.length, block.base);
}

void Heap::remove_free(Block block) {
  free_.erase(block.base);
  by_size_.erase({block.length, block.base});
}

bool Heap::vacate(Block block) {
  if (!map_.quiesce()) return false;
  // Maps the range anew, so that neighbouring mappings are merged with it: the number of mappings is limited.
  return mmap(pointer_to(block.base), block.length, PROT_NONE, kNothing | MAP_FIXED, -1, 0) != MAP_FAILED;
}

void Heap::trim() {
  const u64 limit = quarantine_ ? kQuarantineBytes : kCachedBytes;
  while (!waiting_.empty() && (waiting_bytes_ > limit || waiting_.size() > kQuarantineBlocks)) {
    const Block oldest = waiting_.begin()->second;
    if (!vacate(oldest)) return;
    waiting_.erase(waiting_.begin());
    waiting_bytes_ -= oldest.length;
    if (const auto same = cached_.find(oldest.length); same != cached_.end()) {
      // The oldest waiting block is also the oldest of its length.
      same->second.erase(same->second.begin());
      if (same->second.empty()) cached_.erase(same);
    }
    add_free(oldest);
  }
}

}  // namespace agent
