// What a cached allocator promises, in sequence: the model of hip::CachedAllocator.
//
// A name has one allocation as long as that is large enough. Asked for more, it gets another one, and the smaller one
// is freed; the caller is told that the buffer is not where it was. What fails changes nothing; what could not be freed
// belongs to no name any more, is counted among what is held, and is tried again when everything is cleared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace verify {

class AllocatorModel {
 public:
  using Name = std::uint64_t;

  // Whether a get() of as many frees the name's buffer, and whether it answers another place than the last one did.
  [[nodiscard]] bool replaces(Name name, std::size_t bytes) const { return has(name) && buffers_.at(name) < bytes; }
  [[nodiscard]] bool moves(Name name, std::size_t bytes) const { return !has(name) || replaces(name, bytes); }

  [[nodiscard]] bool has(Name name) const { return buffers_.contains(name); }
  [[nodiscard]] std::size_t bytes_of(Name name) const { return buffers_.at(name); }
  [[nodiscard]] const std::map<Name, std::size_t>& buffers() const { return buffers_; }
  // Allocations: of names, and those that could not be freed.
  [[nodiscard]] std::size_t held() const { return buffers_.size() + stuck_; }

  // A get() that succeeded. `freed`: so did freeing the smaller buffer, where there was one.
  void got(Name name, std::size_t bytes, bool freed) {
    if (replaces(name, bytes) && !freed) ++stuck_;
    if (moves(name, bytes)) buffers_[name] = bytes;
  }
  void released(Name name, bool freed) {
    if (buffers_.erase(name) != 0 && !freed) ++stuck_;
  }
  // All of it was tried, and so many could not be freed.
  void cleared(std::size_t stuck) {
    buffers_.clear();
    stuck_ = stuck;
  }

 private:
  std::map<Name, std::size_t> buffers_;
  std::size_t stuck_ = 0;
};

}  // namespace verify
