// What strategies that go around a release's quirks ask hip/release_quirks.h with.
#pragma once

#include "hip/release_quirks.h"
#include "verify/execute/objects.h"

namespace verify {

// The quirks of the context's runtime: of a version that is no known release's, all there are.
[[nodiscard]] hip::ReleaseQuirks release_quirks_of(const StrategyContext& context);

[[nodiscard]] hip::BufferMemory buffer_memory(MemoryKind kind);
// Nothing is known of variables of device code, of what streams allocated, and of other graphs' memory. The function
// refers to `context`.
[[nodiscard]] std::function<hip::BufferMemory(hip::BufferIndex)> memory_of(const StrategyContext& context,
                                                                           const hip::Recording& recording);

}  // namespace verify
