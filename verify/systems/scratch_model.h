// The sequential model of hip::ScratchBuffer: the promises of a scratch buffer.
//
// A buffer has a place and a size. A reserve() that fits changes neither; a larger one gives a large enough place, and
// the contents are lost; a failed one changes nothing, contents included. A move passes on place, size, contents
// and stream, and leaves an empty buffer on the same stream. A released buffer is empty.
#pragma once

#include <cstddef>
#include <optional>

namespace verify {

struct ScratchModel {
  const void* place = nullptr;
  std::size_t size = 0;
  std::optional<int> value;  // of every byte, if the buffer was filled since it grew
  int stream = 0;            // index among the bench's streams

  [[nodiscard]] bool fits(std::size_t bytes) const { return bytes <= size; }
  void grew(const void* where, std::size_t bytes) {
    place = where;
    size = bytes;
    value.reset();
  }
  void released() { grew(nullptr, 0); }
  [[nodiscard]] ScratchModel move_out() {
    const ScratchModel taken = *this;
    released();
    return taken;
  }
};

}  // namespace verify
