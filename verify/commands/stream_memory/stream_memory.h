// The family of commands about stream-ordered memory and its pools.
#pragma once

#include "verify/program/node_params.h"

namespace verify {

// hipMallocAsync, or hipMallocFromPoolAsync: `buffer` is memory where the runtime puts it, for work that is ordered
// behind this. On a stream that captures it becomes an allocation node, and the memory the graph's.
struct MallocAsync {
  Id buffer = 0;
  std::uint64_t bytes = 0;
  Id stream = 0;
  std::optional<Id> pool;  // none: the device's current one
  bool operator==(const MallocAsync&) const = default;
};
// hipFreeAsync of memory that a graph or a stream allocated; in a capture it becomes a free node.
struct FreeAsync {
  Id buffer = 0;
  Id stream = 0;
  bool operator==(const FreeAsync&) const = default;
};
// hipMemPoolCreate; or a name for the device's default pool, which exists already.
struct DeclarePool {
  Id pool = 0;
  bool of_device = false;
  bool operator==(const DeclarePool&) const = default;
};
// In the order of HIP's numbers, from 1.
enum class PoolAttribute : std::uint8_t {
  kFollowEvents,
  kOpportunistic,
  kInternal,
  kThreshold,
  kReserved,
  kReservedHigh,
  kUsed,
  kUsedHigh
};
// Whether it is set, and not a mark or a count: what it then is is an observation.
[[nodiscard]] inline bool is_kept(PoolAttribute attribute) {
  return attribute <= PoolAttribute::kThreshold;
}
// Sets an attribute where a value is given, and asks for it.
struct AskPool {
  Id pool = 0;
  PoolAttribute attribute = PoolAttribute::kThreshold;
  std::optional<std::uint64_t> value;
  bool operator==(const AskPool&) const = default;
};
struct TrimPool {
  Id pool = 0;
  std::uint64_t bytes = 0;  // that it may keep
  bool operator==(const TrimPool&) const = default;
};
// hipMemPoolSetAccess of its own device, to read and write, and hipMemPoolGetAccess.
struct AccessPool {
  Id pool = 0;
  bool operator==(const AccessPool&) const = default;
};
// hipDeviceSetMemPool where a pool is given, and hipDeviceGetMemPool: which one it then is is an observation.
struct UsePool {
  std::optional<Id> pool;
  bool operator==(const UsePool&) const = default;
};
struct DestroyPool {
  Id pool = 0;
  bool operator==(const DestroyPool&) const = default;
};

using StreamMemoryCommands =
    CommandList<MallocAsync, FreeAsync, DeclarePool, AskPool, TrimPool, AccessPool, UsePool, DestroyPool>;

}  // namespace verify
