// The checks behind every access; the contract is in the header.
#include "model/gfx942/reach.h"

#include <cstdio>

namespace gfx942 {
static std::string access_text(bool write, u32 size, const char* where, u64 address) {
  char text[96];
  std::snprintf(text, sizeof(text), "%s of %u bytes at %s0x%llx", write ? "write" : "read", size, where,
                static_cast<unsigned long long>(address));
  return text;
}

std::byte* Reach::ask(u32 lane, u64 address, u32 size) {
  extent_ = wave_.memory->reach(address, size, write_);
  const bool inside =
      extent_.bytes != nullptr && address >= extent_.begin && address < extent_.end && size <= extent_.end - address;
  if (inside) return extent_.bytes + (address - extent_.begin);
  extent_ = {};
  wave_.raise(FaultKind::kMemory,
              access_text(write_, size, "", address) + ": " + wave_.memory->explain(address, size, write_), lane,
              address);
  return nullptr;
}

std::byte* Reach::flat(u32 lane, u64 address, u32 size) {
  const u32 aperture = static_cast<u32>(address >> 32);
  if (aperture == kSharedAperture) return local(lane, address & 0xffffffff, size);
  if (aperture == kPrivateAperture) return scratch(lane, static_cast<i64>(address & 0xffffffff), size);
  return global(lane, address, size);
}

std::byte* Reach::local(u32 lane, u64 offset, u32 size) {
  if (offset <= wave_.lds.size() && size <= wave_.lds.size() - offset) return wave_.lds.data() + offset;
  wave_.raise(FaultKind::kMemory,
              access_text(write_, size, "LDS offset ", offset) + ": the workgroup has " +
                  std::to_string(wave_.lds.size()) + " bytes of LDS",
              lane, offset);
  return nullptr;
}

std::byte* Reach::scratch(u32 lane, i64 offset, u32 size) {
  const u32 bytes = wave_.private_bytes;
  if (offset >= 0 && offset <= bytes && size <= bytes - offset) {
    return wave_.scratch.data() + static_cast<std::size_t>(lane) * bytes + offset;
  }
  wave_.raise(FaultKind::kMemory,
              access_text(write_, size, "scratch offset ", static_cast<u64>(offset)) + ": a work item has " +
                  std::to_string(bytes) + " bytes of scratch",
              lane, static_cast<u64>(offset));
  return nullptr;
}

// op[1] is the part of the address that each lane has, op[3] the scalar part.
Addresses::Addresses(Wave& w, const Instruction& in) : segment_(in.segment) {
  const Operand& lanes = in.op[1];
  const Operand& scalar = in.op[3];
  base_ = static_cast<u64>(static_cast<i64>(in.offset));
  const bool whole = segment_ == Segment::kFlat || (segment_ == Segment::kGlobal && scalar.kind == Kind::kNone);
  if (lanes.kind != Kind::kNone) {
    // Copies, because a load may overwrite its own address.
    std::memcpy(rows_[0].lane, w.row(lanes, 0).lane, sizeof(Row));
    low_ = rows_[0].lane;
    if (whole) {
      std::memcpy(rows_[1].lane, w.row(lanes, 1).lane, sizeof(Row));
      high_ = rows_[1].lane;
    }
  }
  if (scalar.kind != Kind::kNone) base_ += segment_ == Segment::kScratch ? scalar32(w, scalar) : scalar64(w, scalar);
}

std::byte* Addresses::at(Reach& reach, u32 lane, u32 size) const {
  const u64 address = (*this)[lane];
  switch (segment_) {
    case Segment::kFlat:
      return reach.flat(lane, address, size);
    case Segment::kGlobal:
      return reach.global(lane, address, size);
    case Segment::kScratch:
      return reach.scratch(lane, static_cast<i64>(static_cast<i32>(address)), size);
  }
  return nullptr;
}

bool Addresses::consecutive(u32 size) const {
  if (!in_global_memory() || low_ == nullptr) return false;
  // Lanes that share the high half and step in the low half. A carry between the halves is left to the slow path.
  u32 wrong = 0;
  for (u32 lane = 0; lane < kLanes; ++lane) wrong |= low_[lane] ^ (low_[0] + lane * size);
  if (low_[0] > ~u32{0} - kLanes * size) return false;
  if (high_ != nullptr) {
    for (u32 lane = 0; lane < kLanes; ++lane) wrong |= high_[lane] ^ high_[0];
  }
  return wrong == 0;
}

bool Addresses::in_global_memory() const {
  if (segment_ == Segment::kScratch) return false;
  const u32 top = static_cast<u32>((*this)[0] >> 32);
  return segment_ == Segment::kGlobal || (top != kSharedAperture && top != kPrivateAperture);
}

}  // namespace gfx942
