// The family of commands about memory that the runtime allocates while the program runs: stream-ordered memory and its
// pools, plain memory, and the memory that a device keeps for graphs.
#pragma once

#include "verify/commands/fields.h"

namespace verify {

// hipMallocAsync, or hipMallocFromPoolAsync: `buffer` is memory at an address that the runtime chooses, for work
// that is ordered behind the call. On a stream that captures it becomes an allocation node of the captured graph.
struct MallocAsync {
  Id buffer = 0;
  std::uint64_t bytes = 0;
  Id stream = 0;
  std::optional<Id> pool;  // none: the device's current pool
  bool by_hand = false;    // a node that is added to the graph that the stream captures into
  static constexpr auto spec() {
    return describe_command(
        "malloc_async",
        "Stream-ordered memory: `hipMallocAsync`, or `hipMallocFromPoolAsync`. The name is a buffer from here "
        "on. On a stream that captures it becomes an allocation node, which `by_hand` adds as `on` does; it does not "
        "stand in a capture `into` a graph.",
        kDrawnByHand, kDescribedByHand, NameField{&MallocAsync::buffer, 'b', kIsNew},
        field::size(&MallocAsync::bytes, 0, kMaxBufferBytes, Simpler::kSmallSize),
        NameField{&MallocAsync::stream, 's', meets("allocate on", Leaves::kNothing), true},
        NameKey{"pool", &MallocAsync::pool, 'p', "pool of one's own"},
        FlagKey{"by_hand", &MallocAsync::by_hand, "allocation by hand in a capture"});
  }
  bool operator==(const MallocAsync&) const = default;
};
bool describe_events(EventEmitter& out, const MallocAsync& c);
// hipMalloc in the middle of a program: `buffer` is memory of device 0 at an address that the runtime chooses, for all
// work from here on.
struct Malloc {
  Id buffer = 0;
  std::uint64_t bytes = 0;
  static constexpr auto spec() {
    return describe_command(
        "malloc",
        "`hipMalloc` at this point of the program, of device 0. The name is a buffer from here on, at an address that "
        "the runtime chooses.",
        kDrawnByHand, kNoDeviation, NameField{&Malloc::buffer, 'b', kIsNew},
        field::size(&Malloc::bytes, 0, kMaxBufferBytes, Simpler::kSmallSize));
  }
  bool operator==(const Malloc&) const = default;
};
// hipFreeAsync of memory that a graph, a stream or hipMalloc allocated; in a capture the call becomes a free node.
struct FreeAsync {
  Id buffer = 0;
  Id stream = 0;
  bool by_hand = false;  // as above
  static constexpr auto spec() {
    return describe_command(
        "free_async",
        "`hipFreeAsync` of memory that a graph, a stream or `malloc` allocated and nobody has freed. Only a graph's "
        "memory keeps its name. On a stream that captures it becomes a free node, of memory that a launched "
        "graph allocated, or of that capture and behind everything that names it; `by_hand` adds it as `on` does.",
        kDrawnByHand, kDescribedByHand, NameField{&FreeAsync::buffer, 'b', meets("free_async", Leaves::kNothing)},
        NameField{&FreeAsync::stream, 's', meets("free memory on", Leaves::kNothing), true},
        FlagKey{"by_hand", &FreeAsync::by_hand, "free by hand in a capture"});
  }
  bool operator==(const FreeAsync&) const = default;
};
bool describe_events(EventEmitter& out, const FreeAsync& c);
// hipMemPoolCreate; or a name for the device's default pool, which exists already.
struct DeclarePool {
  Id pool = 0;
  bool of_device = false;
  static constexpr auto spec() {
    return describe_command("pool", "A memory pool (`hipMemPoolCreate`), or a name for the device's default pool.",
                            drawn(Topic::kPools, 8), kNoDeviation, NameField{&DeclarePool::pool, 'p', kIsNew},
                            FlagKey{"default", &DeclarePool::of_device, "default pool"})
        .uncounted();
  }
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
inline constexpr std::array<std::string_view, 8> kPoolAttributeWords = {
    "follow_events", "opportunistic", "internal_dependencies", "release_threshold", "reserved", "reserved_high",
    "used",          "used_high"};
// Whether the pool keeps the value that a program sets, unlike a mark or a count. That value is an observation.
[[nodiscard]] inline bool is_kept(PoolAttribute attribute) {
  return attribute <= PoolAttribute::kThreshold;
}
// Sets an attribute where a value is given, and asks for the attribute.
struct AskPool {
  Id pool = 0;
  PoolAttribute attribute = PoolAttribute::kThreshold;
  std::optional<std::uint64_t> value;
  static constexpr auto spec() {
    return describe_command(
        "pool_attribute",
        "Sets an attribute of a pool and asks for it, or only asks. The values of `release_threshold` and "
        "of the flags `follow_events`, `opportunistic` and `internal_dependencies` are observations. For "
        "`used` the observation is whether it is at least the bytes that were taken and not freed; for "
        "`used_high`, `reserved` and `reserved_high` it is only the status. High marks are reset with `=0`.",
        drawn(Topic::kPools, 50), kNoDeviation, NameField{&AskPool::pool, 'p', kNotCovered},
        PoolAttributeField{&AskPool::attribute, &AskPool::value});
  }
  bool operator==(const AskPool&) const = default;
};
struct TrimPool {
  Id pool = 0;
  std::uint64_t bytes = 0;  // how many bytes the pool may keep
  static constexpr auto spec() {
    return describe_command("pool_trim", "`hipMemPoolTrimTo`.", drawn(Topic::kPools, 15), kNoDeviation,
                            NameField{&TrimPool::pool, 'p', kNotCovered},
                            field::size(&TrimPool::bytes, 0, kAnyNumber, Simpler::kLess));
  }
  bool operator==(const TrimPool&) const = default;
};
// hipMemPoolSetAccess for the pool's own device, to read and write, then hipMemPoolGetAccess.
struct AccessPool {
  Id pool = 0;
  static constexpr auto spec() {
    return describe_command("pool_access",
                            "Read and write access for the pool's own device (`hipMemPoolSetAccess`); the answer of "
                            "`hipMemPoolGetAccess` is an observation.",
                            drawn(Topic::kPools, 8), kNoDeviation, NameField{&AccessPool::pool, 'p', kNotCovered});
  }
  bool operator==(const AccessPool&) const = default;
};
// hipDeviceSetMemPool with `pool` (none: the default pool), then hipDeviceGetMemPool, whose answer is an observation.
struct UsePool {
  std::optional<Id> pool;
  static constexpr auto spec() {
    return describe_command(
        "pool_use",
        "`hipDeviceSetMemPool`, by default with the default pool. The pool that the device then has is an observation.",
        drawn(Topic::kPools, 12), kNoDeviation, NameOrWordField{&UsePool::pool, 'p', "default"});
  }
  bool operator==(const UsePool&) const = default;
};
struct DestroyPool {
  Id pool = 0;
  static constexpr auto spec() {
    return describe_command("destroy",
                            "`hipMemPoolDestroy`. Memory of the pool stays, and the device has its default pool again.",
                            drawn(Topic::kPools, 15), kNoDeviation, NameField{&DestroyPool::pool, 'p', kNotCovered});
  }
  bool operator==(const DestroyPool&) const = default;
};

// hipDeviceGetGraphMemAttribute and hipDeviceSetGraphMemAttribute in the order of HIP's numbers; hipDeviceGraphMemTrim.
enum class GraphMemoryCall : std::uint8_t { kUsed, kUsedHigh, kReserved, kReservedHigh, kTrim };
inline constexpr std::array<std::string_view, 5> kGraphMemoryWords = {"used", "used_high", "reserved", "reserved_high",
                                                                      "trim"};
// Asks for an attribute, after it was set to 0 where `reset` says so, or trims. Waits for the devices first.
struct ManageGraphMemory {
  GraphMemoryCall call = GraphMemoryCall::kUsed;
  bool reset = false;
  static constexpr auto spec() {
    return describe_command(
        "graph_memory",
        "The memory that device 0 keeps for graphs: asks for an attribute (`hipDeviceGetGraphMemAttribute`; a high "
        "mark "
        "may be `reset` first), or `trim` (`hipDeviceGraphMemTrim`). Waits for all work first. For `used`, `reserved` "
        "and `trim` the observation is whether at least the bytes that launches allocated and nothing has freed are "
        "there, and without such bytes whether 0 are used, or reserved after a `trim`. High marks: only the status.",
        drawn(Topic::kGraphMemory, 1), kNoDeviation,
        ChoiceField{&ManageGraphMemory::call, kGraphMemoryWords, "an attribute or trim",
                    "the attributes are used, used_high, reserved and reserved_high; or trim", "graph memory "},
        FlagKey{"reset", &ManageGraphMemory::reset, "reset of a high mark"});
  }
  bool operator==(const ManageGraphMemory&) const = default;
};

using StreamMemoryCommands = CommandList<MallocAsync, Malloc, FreeAsync, DeclarePool, AskPool, TrimPool, AccessPool,
                                         UsePool, DestroyPool, ManageGraphMemory>;

}  // namespace verify
