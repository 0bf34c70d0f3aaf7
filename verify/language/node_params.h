// The parameters of graph nodes, as plain data: references to symbolic buffers, kernel arguments, copies, sets.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "verify/language/kernel_spec.h"

namespace verify {

using Id = std::uint32_t;

// Bounds on one program; the parser and the validator name the bound in their error when a program exceeds it.
inline constexpr std::uint64_t kAnyNumber = ~std::uint64_t{0};  // no bound
inline constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{1} << 28;
inline constexpr std::uint32_t kMaxId = 99999;
inline constexpr std::uint32_t kMaxFan = 20000;
inline constexpr std::uint32_t kMaxNest = 64;                          // child graphs within child graphs, in all
inline constexpr std::uint64_t kMaxInstances = 65536;                  // nodes of one graph, fans and children counted
inline constexpr std::uint64_t kMaxProducts = std::uint64_t{1} << 20;  // multiplications of one matrix kernel
inline constexpr std::uint32_t kMaxSharedBytes = 65536;                // for a workgroup, on every device that HIP has
inline constexpr std::size_t kMaxWrittenBytes = 65536;                 // of one write's own bytes
inline constexpr std::uint32_t kMaxRepeat = 1000000;
inline constexpr std::size_t kMaxCommands = 100000;
// The variables of the project's device code (hip/kernels/kernels.hip), and the bytes of each.
inline constexpr std::uint32_t kSymbols = 4;
inline constexpr std::uint64_t kSymbolBytes = 1024;
// Devices are numbered from 0; a command that names no device means device 0.
inline constexpr Id kMaxDevices = 4;
inline constexpr std::int32_t kMaxNodePriority = 1;  // absolute value; a runtime's range is that of its streams

enum class Placement : std::uint8_t { kArena, kNative };
// Registered memory is pageable memory that hipHostRegister made known.
enum class MemoryKind : std::uint8_t { kDevice, kPinned, kPageable, kManaged, kRegistered };
inline constexpr std::size_t kMemoryKinds = 5;
enum class CopyKind : std::uint8_t { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kDefault };
enum class ArgumentStyle : std::uint8_t { kParams, kExtra };

// "b1+256" in the text. An offset equal to the buffer's size is one past its end.
struct BufferRef {
  Id buffer = 0;
  std::int64_t offset = 0;
  bool operator==(const BufferRef&) const = default;
};

// The value of one field of a kernel's arguments.
struct ArgumentValue {
  enum class Kind : std::uint8_t {
    kNumber,      // n=64
    kPointer,     // out=b0+0: a relocation
    kAddressBits  // a=addr(b0+8): a scalar that takes the address's bits once and keeps them (frozen)
  };
  Kind kind = Kind::kNumber;
  std::uint64_t number = 0;
  BufferRef ref;
  bool operator==(const ArgumentValue&) const = default;
};

struct KernelParams {
  const KernelSpec* kernel = nullptr;    // a kernel of the catalogue, or a foreign kernel
  std::vector<ArgumentValue> arguments;  // one per field of the spec, in its order
  std::uint32_t grid = 1;                // workgroups
  std::uint32_t block = 64;              // work items in each workgroup
  // The further dimensions of a foreign kernel; the project's kernels have one.
  std::uint32_t grid_y = 1, grid_z = 1, block_y = 1, block_z = 1;
  ArgumentStyle style = ArgumentStyle::kParams;
  bool opaque = false;             // recorded without knowledge of where its pointers are
  std::uint32_t shared_bytes = 0;  // dynamic shared memory, which no kernel of the project touches
  Id device = 0;                   // the device that the kernel runs on; its function belongs to that device
  std::optional<Id> module;        // whose function it is; none: that of the module that is there from the start
  bool by_symbol = false;          // named by its host function, as compiled programs name it, and not by a handle
  bool operator==(const KernelParams&) const = default;
};

struct Position {
  std::uint64_t x = 0, y = 0, z = 0;
  bool operator==(const Position&) const = default;
};

// One end of a copy. The pitch is bytes a row, `rows` the rows of a slice; both are 0 in a linear copy.
struct CopyEnd {
  BufferRef ref;
  std::uint64_t pitch = 0;
  std::uint64_t rows = 0;
  Position position;
  bool operator==(const CopyEnd&) const = default;
};

// Which end of a copy is named as a variable of the device code and not by its address.
enum class CopySymbol : std::uint8_t { kNone, kDestination, kSource };

// Eager copies through HIP's functions that are told the devices of both ends: hipMemcpyPeerAsync, hipMemcpyPeer.
enum class PeerCopy : std::uint8_t { kNone, kAsync, kBlocking };

struct CopyParams {
  CopyEnd dst, src;
  CopyKind kind = CopyKind::kDefault;
  CopySymbol symbol = CopySymbol::kNone;  // hipMemcpyToSymbol and similar functions; linear
  PeerCopy peer = PeerCopy::kNone;        // for eager work only; linear
  bool linear = true;                     // the 1D form: width bytes
  std::uint64_t width = 0, height = 1, depth = 1;
  bool operator==(const CopyParams&) const = default;
};

struct MemsetParams {
  BufferRef dst;
  std::uint32_t value = 0;
  std::uint32_t element = 1;            // bytes: 1, 2 or 4
  std::uint64_t width = 0, height = 1;  // elements, rows
  std::uint64_t pitch = 0;              // bytes a row; 0 when height is 1
  bool operator==(const MemsetParams&) const = default;
};

// A host function that is counted by its tag and, given host memory, mixes the tag into it.
struct HostParams {
  std::uint32_t tag = 0;
  std::optional<BufferRef> memory;
  std::uint32_t bytes = 0;
  bool operator==(const HostParams&) const = default;
};

struct EmptyParams {
  bool operator==(const EmptyParams&) const = default;
};

// A child graph; nest=N wraps it into N-1 graphs that hold nothing else.
struct ChildParams {
  Id graph = 0;
  std::uint32_t nest = 1;
  bool operator==(const ChildParams&) const = default;
};

// An event node; in the text "eventrecord" or "eventwait".
struct EventRecordParams {
  Id event = 0;
  bool operator==(const EventRecordParams&) const = default;
};
struct EventWaitParams {
  Id event = 0;
  bool operator==(const EventWaitParams&) const = default;
};

// Memory that is there from this node's execution until it is freed: by a free node of the same graph, by the program
// (`free b5`, `free_async b5 s1`), or by the next launch of an executable graph that was instantiated with auto_free.
// The runtime chooses its address.
struct MemoryAllocParams {
  Id buffer = 0;
  std::uint64_t bytes = 0;
  // The devices that the node's access descriptors name, for reading and writing: bit d is device d.
  std::uint32_t access = 0;
  bool operator==(const MemoryAllocParams&) const = default;
};
struct MemoryFreeParams {
  Id buffer = 0;
  bool operator==(const MemoryFreeParams&) const = default;
};

// A batch of memory operations, which run in order. Each wait is on a value that an earlier write of the same batch has
// written, so that every launch ends.
inline constexpr std::size_t kMaxBatchOperations = 4;
enum class WaitComparison : std::uint8_t { kAtLeast, kEqual, kAnd, kNor };
struct MemoryOperation {
  bool waits = false;
  std::uint32_t bytes = 4;  // 4 or 8
  BufferRef ref;
  std::uint64_t value = 0;
  WaitComparison comparison = WaitComparison::kAtLeast;  // of a wait
  bool operator==(const MemoryOperation&) const = default;
};
struct BatchParams {
  std::vector<MemoryOperation> operations;
  bool operator==(const BatchParams&) const = default;
};

// External semaphores, by number, and a value for each. A program's semaphores have the value kSemaphoreStart when it
// begins; signals set it or a higher value and waits are for it or a lower one, so that every launch ends.
inline constexpr Id kMaxSemaphores = 8;
inline constexpr std::uint64_t kSemaphoreStart = 100;
struct SemaphoreValue {
  Id semaphore = 0;
  std::uint64_t value = kSemaphoreStart;
  bool operator==(const SemaphoreValue&) const = default;
};
struct SemaphoreParams {
  std::vector<SemaphoreValue> list;
  bool operator==(const SemaphoreParams&) const = default;
};
struct SemaphoreSignalParams : SemaphoreParams {
  bool operator==(const SemaphoreSignalParams&) const = default;
};
struct SemaphoreWaitParams : SemaphoreParams {
  bool operator==(const SemaphoreWaitParams&) const = default;
};

using NodeParams = std::variant<KernelParams, CopyParams, MemsetParams, HostParams, EmptyParams, ChildParams,
                                EventRecordParams, EventWaitParams, MemoryAllocParams, MemoryFreeParams, BatchParams,
                                SemaphoreSignalParams, SemaphoreWaitParams>;

// Null for other types of nodes.
[[nodiscard]] inline const SemaphoreParams* semaphores_in(const NodeParams& params) {
  if (const auto* signal = std::get_if<SemaphoreSignalParams>(&params)) return signal;
  return std::get_if<SemaphoreWaitParams>(&params);
}

[[nodiscard]] inline bool is_event_node(const NodeParams& params) {
  return std::holds_alternative<EventRecordParams>(params) || std::holds_alternative<EventWaitParams>(params);
}

enum class Target : std::uint8_t { kGraph, kExec, kStream, kEvent, kDevice };

// The host threads of a program: 0 is the program's own thread, the rest are helper threads that take turns with it.
inline constexpr Id kMaxThread = 3;

// The stream that exists without declaration: HIP's null stream.
inline constexpr Id kNullStream = 0;

// The commands of a family; verify/commands/commands.h joins the families to one variant.
template <class... Commands>
struct CommandList {};

}  // namespace verify
