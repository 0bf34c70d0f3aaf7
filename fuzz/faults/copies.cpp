// F07 and F08: patchers that re-issue copies in a shape of their own.
//
// F07. The author believed: a copy moves width * height * depth bytes, so the 1D setter serves for every copy. The
// mistake: pitches, positions and slices are lost, and rows that lie apart overwrite the bytes between them. A5.
//
// F08. The author believed: a graph copies only memory of the device. The mistake: a copy to or from the host, or a
// copy that leaves the direction to the runtime, becomes a different copy. A5.
//
// A runtime refuses some of these changes in an executable graph (a copy there keeps its direction and its number of
// dimensions); then the patch fails and says so. In a graph's definition they go through.
#include "fuzz/faults/flat_patcher.h"

namespace fuzz {

namespace {

class FlattenedCopies final : public FlatPatcher {
  using FlatPatcher::FlatPatcher;

  [[nodiscard]] hipError_t set(hipGraphNode_t node, hip::NodeRecord& record) const override {
    const auto* copy = std::get_if<hip::CopyRecord>(&record);
    if (copy == nullptr) return FlatPatcher::set(node, record);
    const hipMemcpy3DParms& p = copy->params;
    const std::size_t bytes = p.extent.width * p.extent.height * p.extent.depth;
    return exec() != nullptr
               ? api().hipGraphExecMemcpyNodeSetParams1D(exec(), node, p.dstPtr.ptr, p.srcPtr.ptr, bytes, p.kind)
               : api().hipGraphMemcpyNodeSetParams1D(node, p.dstPtr.ptr, p.srcPtr.ptr, bytes, p.kind);
  }
};

class DeviceToDevice final : public FlatPatcher {
  using FlatPatcher::FlatPatcher;

  [[nodiscard]] hipError_t set(hipGraphNode_t node, hip::NodeRecord& record) const override {
    const auto* copy = std::get_if<hip::CopyRecord>(&record);
    if (copy == nullptr) return FlatPatcher::set(node, record);
    hip::CopyRecord on_device = *copy;
    on_device.params.kind = hipMemcpyDeviceToDevice;
    hip::NodeRecord sent = on_device;
    return FlatPatcher::set(node, sent);
  }
};

}  // namespace

std::vector<Fault> copies_faults() {
  using enum verify::PropertyId;
  return {patcher_fault<FlattenedCopies>("F07", "re-issues 2D and 3D copies as 1D", {kA5, verify::PropertyId::kP4}),
          patcher_fault<DeviceToDevice>("F08", "sends every patched copy as device-to-device", {kA5})};
}

}  // namespace fuzz
