// Buffers: memory behind a resource descriptor (V#), with addressing and range checks by AMD's ISA documents.
//
// An address is base + soffset + the offset in the buffer. The offset in the buffer is index * stride + offset; `index`
// and `offset` come from registers (idxen, offen), from the lane's number (add_tid) and from the instruction. With
// swizzling, index_stride records are interleaved in elements of 4 bytes, as gfx9 has it.
//
// Range checks are for each dword, and for an operation of fewer bytes or an atomic one as a whole. Raw buffers (stride
// 0, or neither idxen nor add_tid) hold num_records bytes, and soffset counts. Structured buffers hold num_records
// records; the offset inside of a record is not checked: Mesa's drivers rely on both for gfx9. Offsets do not wrap at
// 32 bits (LLVM's usage document: the check saturates). Out of range, loads give 0, stores and atomics are dropped. Not
// modelled: formats (typed buffers), and the fields of the descriptor that choose caches.
#pragma once

#include "model/gfx942/reach.h"

namespace gfx942 {

struct BufferResource {
  u64 base = 0;
  u64 stride = 0;
  u64 records = 0;
  u64 index_stride = 8;
  bool swizzled = false;
  bool add_lane = false;
};

// The descriptor in four scalar registers.
[[nodiscard]] BufferResource read_resource(const Wave& w, u32 first_register);

// The places of the lanes of one instruction. op[1] is the index, the offset or both, op[3] the resource, op[4]
// soffset.
class BufferPlaces {
 public:
  BufferPlaces(Wave& w, const Instruction& in);
  BufferPlaces(const BufferPlaces&) = delete;
  BufferPlaces& operator=(const BufferPlaces&) = delete;

  // An address, and whether the range check lets the access through.
  struct Place {
    u64 address = 0;
    bool inside = false;
  };
  // The place of `size` bytes of lane `lane`, `further` bytes behind its first byte.
  [[nodiscard]] Place place(u32 lane, u32 further, u32 size) const;
  // Whether the dwords of one lane follow one another in memory.
  [[nodiscard]] bool contiguous() const { return !resource_.swizzled; }

  // The address of a lane's first byte, in range or not.
  [[nodiscard]] u64 operator[](u32 lane) const { return place(lane, 0, 1).address; }
  // Whether the range check drops the whole access of a lane.
  [[nodiscard]] bool dropped(u32 lane, u32 size) const { return !place(lane, 0, size).inside; }
  // The bytes of a lane, wherever they are; null after a fault. Ask dropped() first.
  [[nodiscard]] std::byte* at(Reach& reach, u32 lane, u32 size) const {
    return reach.global(lane, place(lane, 0, size).address, size);
  }

 private:
  BufferResource resource_;
  bool structured_ = false;
  u64 scalar_offset_ = 0;
  u64 fixed_offset_ = 0;
  const u32* index_ = nullptr;
  const u32* offset_ = nullptr;
  Row rows_[2];
};

}  // namespace gfx942
