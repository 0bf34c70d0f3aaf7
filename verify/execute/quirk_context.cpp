#include "verify/execute/quirk_context.h"

#include <utility>

namespace verify {

hip::ReleaseQuirks release_quirks_of(const Machine& machine) {
  int version = 0;  // of no release: all there are
  static_cast<void>(machine.interposer.inner().hipRuntimeGetVersion(&version));
  return hip::ReleaseQuirks::of_version(version);
}

std::function<hip::BufferMemory(hip::BufferIndex)> memory_of(const Machine& machine, const hip::Recording& recording) {
  std::set<hip::BufferIndex> own;
  for (const hip::RecordedNode& node : recording.nodes()) {
    if (const auto* allocated = std::get_if<hip::MemoryAllocRecord>(&node.record)) own.insert(allocated->buffer);
  }
  return [&machine, own = std::move(own)](hip::BufferIndex buffer) {
    if (own.contains(buffer)) return hip::BufferMemory::kGraph;
    return machine.on_device[buffer] ? hip::BufferMemory::kDevice : hip::BufferMemory::kUnknown;
  };
}

}  // namespace verify
