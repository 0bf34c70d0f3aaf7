// model::NodeParams: the parameters of a graph node or of a stream operation. Plain values that own all their data.
//
// The checks and effects of copies and memsets are here as well, once for graphs, executable graphs and streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/kernel.h"

namespace model {

struct EmptyParams {
  bool operator==(const EmptyParams&) const = default;
};

// hipKernelNodeAttrValue: kept for the getters. A kernel sees only LaunchShape::cooperative.
struct AccessWindow {
  Address base = 0;
  std::size_t bytes = 0;
  float hit_ratio = 0;
  int hit = 0, miss = 0;  // hipAccessProperty
  bool operator==(const AccessWindow&) const = default;
};
struct KernelAttributes {
  AccessWindow window;
  int cooperative = 0;
  int priority = 0;
  int sync_domain = 0;
  unsigned char sync_domain_default = 0, sync_domain_remote = 0;
  bool operator==(const KernelAttributes&) const = default;
};

struct KernelParams {
  KernelRef function;
  LaunchShape shape;
  std::vector<std::byte> arguments;  // packed, exactly signature.argument_bytes
  KernelAttributes attributes = {};  // setting parameters leaves them as they are
  bool operator==(const KernelParams&) const = default;
};

// The numbers of hipMemcpyKind.
enum class CopyKind : int {
  kHostToHost = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 3,
  kDefault = 4,
  kDeviceToDeviceNoCu = 1024,
};

struct PitchedPointer {
  Address base = 0;
  std::size_t pitch = 0;  // bytes from row to row
  std::size_t xsize = 0;  // logical width of a row in bytes
  std::size_t ysize = 0;  // rows of a slice
  bool operator==(const PitchedPointer&) const = default;
};
struct Position {
  std::size_t x = 0, y = 0, z = 0;
  bool operator==(const Position&) const = default;
};
struct Extent {
  std::size_t width = 0, height = 0, depth = 0;  // bytes, rows, slices
  bool operator==(const Extent&) const = default;
};

// A copy of any shape: row (y, z) of a side begins at base + (z + pos.z) * pitch * ysize + (y + pos.y) * pitch + pos.x.
struct CopyParams {
  bool linear = false;  // recorded by the 1D form: extent {bytes, 1, 1}, positions 0
  PitchedPointer dst, src;
  Position dst_pos, src_pos;
  Extent extent;
  CopyKind kind = CopyKind::kDefault;
  bool operator==(const CopyParams&) const = default;
};
[[nodiscard]] CopyParams linear_copy(Address dst, Address src, std::size_t bytes, CopyKind kind);

struct MemsetParams {
  Address dst = 0;
  std::size_t pitch = 0;  // unused when height is 1
  std::uint32_t value = 0;
  std::uint32_t element_size = 1;
  std::size_t width = 0;  // elements
  std::size_t height = 1;
  bool operator==(const MemsetParams&) const = default;
};

struct HostParams {
  void (*function)(void*) = nullptr;
  void* user_data = nullptr;
  bool operator==(const HostParams&) const = default;
};

// The child graph itself belongs to the node (Graph) or to the executable node (GraphExec).
struct ChildParams {
  bool operator==(const ChildParams&) const = default;
};

// An event by its id; event_order.h describes its effect in a launch.
struct EventRecordParams {
  ObjectId event = 0;
  bool operator==(const EventRecordParams&) const = default;
};
struct EventWaitParams {
  ObjectId event = 0;
  bool operator==(const EventWaitParams&) const = default;
};

// Memory nodes; graph_memory.cpp describes them. A node owns its range from the moment it is added.
struct MemoryAccessRight {
  int device = 0;
  int flags = 0;  // hipMemAccessFlags
  bool operator==(const MemoryAccessRight&) const = default;
};
struct AllocateParams {
  std::shared_ptr<Reservation> range;
  std::vector<MemoryAccessRight> rights;  // kept for the getter, without effect: every device reaches every allocation
  bool operator==(const AllocateParams&) const = default;
};
struct FreeParams {
  std::shared_ptr<Reservation> range;
  std::shared_ptr<const char> only = {};  // Reservation::free_node
  bool operator==(const FreeParams&) const = default;
};

// Stream memory operations, in order: a value is written, or waited for (hipStreamBatchMemOp).
inline constexpr std::size_t kMaxBatch = 255;                                            // "must be less than 256"
enum class Comparison : std::uint32_t { kAtLeast = 0, kEqual = 1, kAnd = 2, kNor = 3 };  // hipStreamWaitValue*
struct MemoryOperation {
  bool waits = false;
  std::uint32_t bytes = 4;  // 4 or 8
  Address address = 0;
  std::uint64_t value = 0;
  std::uint64_t mask = ~std::uint64_t{0};  // of a wait
  Comparison comparison = Comparison::kAtLeast;
  bool operator==(const MemoryOperation&) const = default;
};
struct BatchParams {
  std::vector<MemoryOperation> operations;
  bool operator==(const BatchParams&) const = default;
};

// A semaphore that was imported from outside (hipImportExternalSemaphore). A node signals or waits for all semaphores
// of its list, in order.
struct Semaphore {
  std::uint64_t value = 0;  // of the last signal
};
struct SemaphoreValue {
  std::shared_ptr<Semaphore> semaphore;
  std::uint64_t value = 0;  // that a signal sets, or that a wait waits for: this or a higher one
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

using NodeParams =
    std::variant<EmptyParams, KernelParams, CopyParams, MemsetParams, HostParams, ChildParams, EventRecordParams,
                 EventWaitParams, AllocateParams, FreeParams, BatchParams, SemaphoreSignalParams, SemaphoreWaitParams>;

// In the order of NodeParams.
enum class NodeType : std::uint8_t {
  kEmpty,
  kKernel,
  kCopy,
  kMemset,
  kHost,
  kChild,
  kEventRecord,
  kEventWait,
  kAllocate,
  kFree,
  kBatch,
  kSemaphoreSignal,
  kSemaphoreWait
};
[[nodiscard]] inline NodeType type_of(const NodeParams& params) {
  return static_cast<NodeType>(params.index());
}
[[nodiscard]] std::string_view name_of(NodeType type);

// Checks parameters as HIP does when it receives them; nothing is changed. The end of a copy may be an address of no
// live allocation (host memory, or memory that is allocated later); a range that begins in a live allocation and leaves
// it is refused. The rules and their sources are in the .cpp.
[[nodiscard]] Status validate(const NodeParams& params, const AddressSpace& space);

// Copies the attributes, which setting a kernel node's parameters does not change. Does nothing for other types.
void keep_attributes(const NodeParams& from, NodeParams* to);

// Whether the memory of a wait has the awaited value. True also if the memory is gone, so that the operation runs.
[[nodiscard]] bool satisfied(const MemoryOperation& wait, const AddressSpace& space);
// Whether each semaphore has its value.
[[nodiscard]] bool satisfied(const SemaphoreWaitParams& wait);

// Whether a copy moves one row only; its 1D form and a 3D form of one row are interchangeable.
[[nodiscard]] bool one_dimensional(const CopyParams& copy);

// Runs one operation: copies, memsets, batches and kernels through `memory`, host functions and semaphores directly.
// Empty, child, event and memory nodes do nothing here. kIllegalAddress after an illegal access (`memory.bad()`);
// another status when the operation failed or cannot be run, with the reason in `why`.
Status apply(const NodeParams& params, MemoryAccess& memory, std::string* why);

}  // namespace model
