// A5, copies keep their shape: a patched copy keeps direction, extent, pitch, offsets and kind.
//
// Detector: a copy node that differs from its recording in anything but its two addresses. A linear copy may be held as
// the equal one-row shape (HIP does not say which of the two a getter or a runtime uses).
#include <fmt/format.h>

#include "verify/properties/evidence.h"

namespace verify {

namespace {

std::string shape_text(const model::CopyParams& copy) {
  return fmt::format("kind {} extent {}x{}x{} pitches {} and {} rows {} and {} at {},{},{} and {},{},{}{}",
                     static_cast<int>(copy.kind), copy.extent.width, copy.extent.height, copy.extent.depth,
                     copy.dst.pitch, copy.src.pitch, copy.dst.ysize, copy.src.ysize, copy.dst_pos.x, copy.dst_pos.y,
                     copy.dst_pos.z, copy.src_pos.x, copy.src_pos.y, copy.src_pos.z, copy.linear ? " linear" : "");
}

model::CopyParams expected_shape(const hip::CopyRecord& record) {
  const hipMemcpy3DParms& p = record.params;
  model::CopyParams copy;
  copy.linear = record.linear;
  copy.kind = static_cast<model::CopyKind>(p.kind);
  copy.extent = {p.extent.width, p.extent.height, p.extent.depth};
  copy.dst = {0, p.dstPtr.pitch, p.dstPtr.xsize, p.dstPtr.ysize};
  copy.src = {0, p.srcPtr.pitch, p.srcPtr.xsize, p.srcPtr.ysize};
  copy.dst_pos = {p.dstPos.x, p.dstPos.y, p.dstPos.z};
  copy.src_pos = {p.srcPos.x, p.srcPos.y, p.srcPos.z};
  return copy;
}

bool same_shape(const model::CopyParams& a, const model::CopyParams& b) {
  if (a.kind != b.kind || !(a.extent == b.extent)) return false;
  const bool one_row = a.extent.height == 1 && a.extent.depth == 1;
  if (one_row && (a.linear || b.linear)) {
    return a.dst_pos == b.dst_pos && a.src_pos == b.src_pos;
  }
  return a.linear == b.linear && a.dst.pitch == b.dst.pitch && a.src.pitch == b.src.pitch &&
         a.dst.ysize == b.dst.ysize && a.src.ysize == b.src.ysize && a.dst_pos == b.dst_pos && a.src_pos == b.src_pos;
}

}  // namespace

bool detect_a5(const PatchEvidence& patch, Violations& found) {
  bool exercised = false;
  for (const NodeEvidence& node : patch.nodes) {
    const auto* recorded = std::get_if<hip::CopyRecord>(&node.recorded->record);
    const auto* actual = std::get_if<model::CopyParams>(node.actual);
    if (recorded == nullptr || actual == nullptr) continue;
    exercised = exercised || node.touched;
    const model::CopyParams expected = expected_shape(*recorded);
    if (same_shape(expected, *actual)) continue;
    found.push_back(
        {PropertyId::kA5, patch.step, fmt::format("{} copy", node.name), shape_text(expected), shape_text(*actual)});
  }
  return exercised;
}

}  // namespace verify
