#include "verify/race/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace verify::race {
namespace {

constexpr std::size_t kRegionBytes = std::size_t{1} << 30;  // of address space; only touched pages take memory
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kOverwritten = 256;  // bytes at the front of a block that was deleted
constexpr std::uint32_t kLive = 0xA110CA7E;
constexpr std::uint32_t kDeleted = 0xDE1E7EDU;

struct Header {
  std::uint32_t size;
  std::uint32_t state;
  std::uint32_t step;
  std::uint32_t thread;
};
constexpr std::size_t kAlignment = 16;
static_assert(sizeof(Header) == kAlignment);

std::byte* align(std::byte* at, std::size_t alignment) {
  const std::uintptr_t number = reinterpret_cast<std::uintptr_t>(at);
  return at + ((number + alignment - 1) / alignment * alignment - number);
}

}  // namespace

Arena& Arena::of_process() {
  static constinit Arena arena;
  return arena;
}

void Arena::begin(bool keep) {
  if (!usable_) return;
  if (base_ == nullptr) {
    void* const memory =
        mmap(nullptr, kRegionBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    base_ = lowest_ = first_ = next_ = static_cast<std::byte*>(memory);
    end_ = base_ + kRegionBytes;
  }
  // One schedule always has half of the region. After wrapping round it begins far away from the memory kept last.
  if (keep) first_ = next_ > base_ + kRegionBytes / 2 ? lowest_ : align(next_, kPageBytes);
  next_ = first_;
  live_ = 0;
}

void Arena::pin() {
  if (live_ == 0) return;
  lowest_ = first_ = next_ = align(next_, kPageBytes);
  live_ = 0;
}

void* Arena::allocate(std::size_t size, std::size_t alignment) {
  std::byte* const data = align(next_ + sizeof(Header), std::max(alignment, kAlignment));
  if (data > end_ || size > static_cast<std::size_t>(end_ - data)) return nullptr;
  if (data - sizeof(Header) != next_) std::memset(next_, 0, static_cast<std::size_t>(data - next_));
  const Header header{static_cast<std::uint32_t>(size), kLive, step_, thread_};
  std::memcpy(data - sizeof(Header), &header, sizeof(Header));
  next_ = align(data + std::max(size, std::size_t{1}), kAlignment);
  ++live_;
  return data;
}

bool Arena::release(void* memory) {
  std::byte* const data = static_cast<std::byte*>(memory);
  if (data < base_ || data >= end_ || base_ == nullptr) return false;
  Header header;
  std::memcpy(&header, data - sizeof(Header), sizeof(Header));
  if (header.state == kDeleted && on_) {
    if (twice_ != nullptr) twice_(context_);
    return true;
  }
  if (header.state == kLive && data >= first_ && data < next_) --live_;
  header.state = kDeleted;
  std::memcpy(data - sizeof(Header), &header, sizeof(Header));
  std::memset(data, 0xDD, std::min<std::size_t>(header.size, kOverwritten));
  return true;
}

// Walks the blocks: each begins where the previous one ends, apart from gaps for alignment.
Leaks Arena::leaks() const {
  Leaks leaks;
  leaks.blocks = live_;
  if (live_ == 0) return leaks;
  bool first = true;
  for (std::byte* at = first_; at < next_;) {
    Header header;
    std::memcpy(&header, at, sizeof(Header));
    if (header.state != kLive && header.state != kDeleted) {  // a gap before a block of larger alignment
      at += kAlignment;
      continue;
    }
    if (header.state == kLive) {
      leaks.bytes += header.size;
      if (first) leaks.thread = static_cast<hip::sync::ThreadNumber>(header.thread), leaks.step = header.step;
      first = false;
    }
    at = align(at + sizeof(Header) + std::max<std::size_t>(header.size, 1), kAlignment);
  }
  return leaks;
}

}  // namespace verify::race
