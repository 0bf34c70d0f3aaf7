// The sequential model of hip::CachedAllocator: the promises of a cached allocator.
//
// A name keeps one allocation while that is large enough. For a larger request it gets a new allocation, and the
// smaller one is freed; the caller is told that the buffer has moved. A failed call changes nothing; an allocation that
// could not be freed belongs to no name any more, is counted as held, and is tried again when everything is cleared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace verify {

class AllocatorModel {
 public:
  using Name = std::uint64_t;

  // Whether get(name, bytes) frees the name's buffer, and whether it returns another place than the last get() did.
  [[nodiscard]] bool replaces(Name name, std::size_t bytes) const { return has(name) && buffers_.at(name) < bytes; }
  [[nodiscard]] bool moves(Name name, std::size_t bytes) const { return !has(name) || replaces(name, bytes); }

  [[nodiscard]] bool has(Name name) const { return buffers_.contains(name); }
  [[nodiscard]] std::size_t bytes_of(Name name) const { return buffers_.at(name); }
  [[nodiscard]] const std::map<Name, std::size_t>& buffers() const { return buffers_; }
  // The number of allocations: of names, and allocations that could not be freed.
  [[nodiscard]] std::size_t held() const { return buffers_.size() + stuck_; }

  // A get() that succeeded. `freed`: the smaller buffer, where there was one, could be freed, too.
  void got(Name name, std::size_t bytes, bool freed) {
    if (replaces(name, bytes) && !freed) ++stuck_;
    if (moves(name, bytes)) buffers_[name] = bytes;
  }
  void released(Name name, bool freed) {
    if (buffers_.erase(name) != 0 && !freed) ++stuck_;
  }
  // Freeing everything was tried, and `stuck` allocations could not be freed.
  void cleared(std::size_t stuck) {
    buffers_.clear();
    stuck_ = stuck;
  }

 private:
  std::map<Name, std::size_t> buffers_;
  std::size_t stuck_ = 0;
};

}  // namespace verify
