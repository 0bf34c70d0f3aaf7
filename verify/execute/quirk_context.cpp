#include "verify/execute/quirk_context.h"

#include <utility>

namespace verify {

hip::ReleaseQuirks release_quirks_of(const StrategyContext& context) {
  const hip::Result<int> version = hip::version_of_release(context.interposer.inner());
  return hip::ReleaseQuirks::of_version(version ? version.value() : 0);  // 0: of no release
}

const hip::ReleaseQuirk* free_addresses_of(Platform& platform) {
  if (platform.white_box()) return nullptr;
  const hip::Result<int> version = hip::version_of_release(platform.api());
  return version ? hip::ReleaseQuirks::of_version(version.value()).of_free_addresses() : nullptr;
}

hip::BufferMemory buffer_memory(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kDevice:
      return hip::BufferMemory::kDevice;
    case MemoryKind::kPinned:
    case MemoryKind::kRegistered:
      return hip::BufferMemory::kPinned;
    case MemoryKind::kPageable:
      return hip::BufferMemory::kPageable;
    case MemoryKind::kManaged:
      return hip::BufferMemory::kManaged;
  }
  return hip::BufferMemory::kUnknown;
}

std::function<hip::BufferMemory(hip::BufferIndex)> memory_of(const StrategyContext& context,
                                                             const hip::Recording& recording) {
  std::set<hip::BufferIndex> own;
  for (const hip::RecordedNode& node : recording.nodes()) {
    if (const auto* allocated = std::get_if<hip::MemoryAllocRecord>(&node.record)) own.insert(allocated->buffer);
  }
  return [&context, own = std::move(own)](hip::BufferIndex buffer) {
    if (own.contains(buffer)) return hip::BufferMemory::kGraph;
    return context.memory[buffer];
  };
}

}  // namespace verify
