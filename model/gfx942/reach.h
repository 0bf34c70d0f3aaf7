// Checks every access of a wave to memory: global, flat, LDS and scratch.
//
// One Reach serves one instruction. It remembers the stretch of live memory that the last lane was in, so that lanes in
// the same allocation cost one look-up. A refused access raises the wave's fault and returns null.
#pragma once

#include "model/gfx942/lanes.h"

namespace gfx942 {

class Reach {
 public:
  Reach(Wave& w, bool write) : wave_(w), write_(write) {}

  // An address of global memory; `lane` is for the fault's text, kLanes for none.
  [[nodiscard]] std::byte* global(u32 lane, u64 address, u32 size) {
    if (address >= extent_.begin && address < extent_.end && size <= extent_.end - address) {
      return extent_.bytes + (address - extent_.begin);
    }
    return ask(lane, address, size);
  }
  // A flat address: global, or in one of the apertures.
  [[nodiscard]] std::byte* flat(u32 lane, u64 address, u32 size);
  [[nodiscard]] std::byte* local(u32 lane, u64 offset, u32 size);
  [[nodiscard]] std::byte* scratch(u32 lane, i64 offset, u32 size);

 private:
  [[nodiscard]] std::byte* ask(u32 lane, u64 address, u32 size);

  Wave& wave_;
  bool write_;
  Extent extent_;
};

// The place in LDS of the dword that a load to LDS writes for a lane: M0 and the offset of the instruction give the
// place of lane 0, and the others follow.
[[nodiscard]] inline u64 lds_place(const Wave& w, const Instruction& in, u32 lane) {
  return static_cast<u64>(static_cast<i64>(w.sgpr[kM0] & 0xffff) + in.offset + i64{4} * lane);
}

// The addresses of a flat, global or scratch instruction, lane by lane.
class Addresses {
 public:
  Addresses(Wave& w, const Instruction& in);
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;

  [[nodiscard]] u64 operator[](u32 lane) const {
    u64 address = base_;
    if (low_ != nullptr) address += low_[lane];
    if (high_ != nullptr) address += static_cast<u64>(high_[lane]) << 32;
    return address;
  }
  [[nodiscard]] std::byte* at(Reach& reach, u32 lane, u32 size) const;
  // No range check drops these accesses.
  [[nodiscard]] static bool dropped(u32 /*lane*/, u32 /*size*/) { return false; }
  // Whether the address of each lane is `size` above that of the lane before: then one access serves all lanes.
  [[nodiscard]] bool consecutive(u32 size) const;
  [[nodiscard]] bool in_global_memory() const;

 private:
  Segment segment_;
  u64 base_ = 0;
  const u32* low_ = nullptr;
  const u32* high_ = nullptr;
  Row rows_[2];
};

}  // namespace gfx942
