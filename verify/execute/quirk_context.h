// The context for queries of hip/release_quirks.h by strategies that work around a release's quirks.
#pragma once

#include "hip/release_quirks.h"
#include "verify/execute/objects.h"
#include "verify/execute/platform.h"

namespace verify {

// The quirks of the runtime's release; for a version of no known release, the quirks of all releases of its vendor.
[[nodiscard]] hip::ReleaseQuirks release_quirks_of(const StrategyContext& context);

// For the hip::AddressRanges of the harness's own memory; null where the runtime frees ranges rightly. Asked before a
// program runs: after a fault a runtime does not tell its version.
[[nodiscard]] const hip::ReleaseQuirk* free_addresses_of(Platform& platform);

[[nodiscard]] hip::BufferMemory buffer_memory(MemoryKind kind);
// The kind is unknown for variables of device code, for memory that streams allocated, and for other graphs' memory.
// The returned function refers to `context`.
[[nodiscard]] std::function<hip::BufferMemory(hip::BufferIndex)> memory_of(const StrategyContext& context,
                                                                           const hip::Recording& recording);

}  // namespace verify
