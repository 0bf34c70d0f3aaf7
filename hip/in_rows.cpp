#include "hip/in_rows.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace hip {
namespace {

// The relocations of the field, with `bytes` added to their addends.
std::vector<Relocation> moved_on(const RecordedNode& node, Field field, std::size_t bytes) {
  std::vector<Relocation> moved;
  for (Relocation relocation : node.relocations) {
    if (relocation.field != field) continue;
    relocation.addend += static_cast<std::int64_t>(bytes);
    moved.push_back(relocation);
  }
  return moved;
}

// Computes with numbers, since the pointer may be null: a relocation writes an address over it.
void* further(void* pointer, std::size_t bytes) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(pointer) + bytes);
}

std::vector<RecordedNode> memset_in_rows(const RecordedNode& node, const MemsetRecord& rows) {
  const hipMemsetParams& shape = rows.params;
  if (shape.height <= 1) return {};
  const bool whole = shape.pitch == shape.width * shape.elementSize;
  std::vector<RecordedNode> nodes;
  for (std::size_t y = 0; y < (whole ? 1 : shape.height); ++y) {
    MemsetRecord row = rows;
    row.params.dst = further(shape.dst, y * shape.pitch);
    row.params.width = shape.width * (whole ? shape.height : 1);
    row.params.height = 1;
    row.params.pitch = row.params.width * shape.elementSize;
    nodes.push_back({row, {}, moved_on(node, Field::kMemsetDestination, y * shape.pitch)});
  }
  return nodes;
}

// The offset at which row `y` of slice `z` of an extent begins.
std::size_t row_at(const hipPitchedPtr& end, const hipPos& position, std::size_t y, std::size_t z) {
  return position.x + end.pitch * (position.y + y + end.ysize * (position.z + z));
}

// Whether the rows of an extent lie without gaps.
bool gapless(const hipPitchedPtr& end, const hipExtent& extent) {
  return (end.pitch == extent.width || (extent.height == 1 && extent.depth == 1)) &&
         (end.ysize == extent.height || extent.depth == 1);
}

std::vector<RecordedNode> copy_in_rows(const RecordedNode& node, const CopyRecord& rows) {
  const hipMemcpy3DParms& shape = rows.params;
  if (rows.linear || shape.dstArray != nullptr || shape.srcArray != nullptr) return {};
  const bool whole = gapless(shape.dstPtr, shape.extent) && gapless(shape.srcPtr, shape.extent);
  std::vector<RecordedNode> nodes;
  for (std::size_t z = 0; z < (whole ? 1 : shape.extent.depth); ++z) {
    for (std::size_t y = 0; y < (whole ? 1 : shape.extent.height); ++y) {
      const std::size_t to = row_at(shape.dstPtr, shape.dstPos, y, z), from = row_at(shape.srcPtr, shape.srcPos, y, z);
      const std::size_t bytes = shape.extent.width * (whole ? shape.extent.height * shape.extent.depth : 1);
      CopyRecord row;
      row.linear = true;
      row.params.dstPtr = {further(shape.dstPtr.ptr, to), bytes, bytes, 1};
      row.params.srcPtr = {further(shape.srcPtr.ptr, from), bytes, bytes, 1};
      row.params.extent = {bytes, 1, 1};
      // AMD's runtimes refuse a linear copy between pinned and pageable memory of this kind, and take it by default.
      row.params.kind = shape.kind == hipMemcpyHostToHost ? hipMemcpyDefault : shape.kind;
      std::vector<Relocation> relocations = moved_on(node, Field::kCopyDestination, to);
      for (const Relocation& source : moved_on(node, Field::kCopySource, from)) relocations.push_back(source);
      nodes.push_back({row, {}, std::move(relocations)});
    }
  }
  return nodes;
}

}  // namespace

std::vector<RecordedNode> in_rows(const RecordedNode& node) {
  if (const auto* memset = std::get_if<MemsetRecord>(&node.record)) return memset_in_rows(node, *memset);
  if (const auto* copy = std::get_if<CopyRecord>(&node.record)) return copy_in_rows(node, *copy);
  return {};
}

}  // namespace hip
