// hip::Recording: the source of a graph, owned and complete.
//
// A recording is plain data: every node's parameters (copied, never the caller's memory), its dependencies and its
// relocations. From it and a table of addresses the graph can be recorded again at any time, on any runtime, and a
// patcher can compute any node's parameters at any addresses without asking the runtime for them (getters return the
// runtime's own memory; on ROCm, for `extra`, they return the given block without its layout).
//
// Not checked here: whether a kernel's argument block has the layout that the kernel expects.
// `KernelRecord::from_arguments` packs by the slots of the kernel's metadata; a caller that packs by hand has to know
// the layout. The runtime checks whether a symbol is a variable of the program, and large enough.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hip/api/api.h"
#include "hip/node_form/node_form.h"
#include "hip/relocation.h"

namespace hip {

class Recording;

// How a kernel's arguments are handed to the runtime when the node is recorded. Patches always use kExtra.
enum class ArgumentStyle : std::uint8_t { kParams, kExtra };

// The kind of an argument by the code object's metadata. A value may be a struct that holds pointers.
enum class ArgumentKind : std::uint8_t { kUnknown, kPointer, kValue };

// Where one argument lies in the packed block (from the code object's metadata).
struct ArgumentSlot {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  ArgumentKind kind = ArgumentKind::kUnknown;  // for the attribution of addresses (hip/differential_capture.h)
};

// Attributes of a kernel node that were set; an empty one has the default of the runtime.
struct KernelAttributes {
  std::optional<int> priority;  // as hipGraphKernelNodeSetAttribute takes it
  std::optional<bool> cooperative;
  std::optional<hipAccessPolicyWindow> window;  // its address is not relocated
};
[[nodiscard]] inline bool has_any(const KernelAttributes& attributes) {
  return attributes.priority || attributes.cooperative || attributes.window;
}

struct KernelRecord {
  hipFunction_t function = nullptr;
  dim3 grid{1, 1, 1};
  dim3 block{1, 1, 1};
  unsigned shared_bytes = 0;
  std::vector<std::byte> arguments;  // packed; pointers hold the addresses at recording time
  std::vector<ArgumentSlot> slots;   // needed for kParams only; may be empty with kExtra
  ArgumentStyle style = ArgumentStyle::kExtra;
  KernelAttributes attributes = {};  // set after the node was added; patches do not change them
  int device = 0;                    // the function's device; current while the node is recorded and set
  // `function` is the host function that stands for a kernel of the program, as hipLaunchKernel takes it.
  bool by_symbol = false;

  // Packs one value per slot at the slot's offset. Bytes that belong to no slot are zero. Every value has to be as
  // large as its slot, and no two slots may overlap (asserted). Launch dimensions are left at their defaults.
  [[nodiscard]] static KernelRecord from_arguments(hipFunction_t function, std::vector<ArgumentSlot> slots,
                                                   std::span<const std::span<const std::byte>> values);
};

// A variable of the program's device code, as HIP's functions name it, at one end of a copy. Its address is the
// runtime's own and never moves, so no relocation names that end.
struct CopySymbol {
  const void* symbol = nullptr;  // null: neither end is a symbol
  std::size_t offset = 0;        // bytes into the variable
  bool to = false;               // the symbol is the destination; otherwise it is the source
  // Each device has a variable of its own; nullopt: that of the device which is current when the node is recorded.
  std::optional<int> device = {};
};

// A copy of any shape. `linear` nodes were recorded by the 1D form and stay 1D (dst, src, extent.width bytes, kind). A
// copy to or from a symbol is linear and goes through HIP's functions for symbols: AMD's runtime keeps such a copy as
// another type of node, and the other setters do not know that type.
struct CopyRecord {
  hipMemcpy3DParms params{};
  bool linear = false;
  CopySymbol symbol = {};
  // The kind that the caller names, where params.kind is another that the release does rightly (hip/release_quirks.h).
  std::optional<hipMemcpyKind> asked = {};
};
[[nodiscard]] inline hipMemcpyKind kind_asked(const CopyRecord& copy) {
  return copy.asked.value_or(copy.params.kind);
}

struct MemsetRecord {
  hipMemsetParams params{};
  int device = 0;  // the memory's device; current while the node is recorded and set
};
struct HostRecord {
  hipHostNodeParams params{};
};
struct EmptyRecord {};
// The recording is shared, so it must not change any more once it is a child (it is const here for that reason).
struct ChildRecord {
  std::shared_ptr<const Recording> graph;
};

// An event record node (hipGraphAddEventRecordNode), which signals its event, and an event wait node. Events are the
// caller's and hold no buffer: no patch touches these nodes.
struct EventSignalRecord {
  hipEvent_t event = nullptr;
};
struct EventWaitRecord {
  hipEvent_t event = nullptr;
};

// Nodes that allocate and free memory when the graph runs. The runtime chooses a new address each time the allocation
// node is recorded. record_graph() returns the address (RecordedGraph::allocations), and the nodes behind name the
// buffer like any other. A patch never moves it.
struct MemoryAllocRecord {
  BufferIndex buffer = 0;
  std::size_t bytes = 0;
  int device = 0;
  static constexpr int kAccessBits = 32;
  std::uint32_t access = 0;  // the devices that access descriptors let read and write it: bit d is device d
};
struct MemoryFreeRecord {
  BufferIndex buffer = 0;
};

// A batch of memory operations, which run in order (hipGraphAddBatchMemOpNode): each writes a value, or waits until the
// memory compares with it. A wait inside a graph that nothing satisfies never ends; nothing checks that here.
struct MemoryOperation {
  enum class Comparison : std::uint8_t { kAtLeast, kEqual, kAnd, kNor };  // in the order of HIP's flags
  bool waits = false;
  std::uint32_t bytes = 4;  // 4 or 8
  DeviceAddress address = 0;
  std::uint64_t value = 0;
  Comparison comparison = Comparison::kAtLeast;  // of a wait
};
struct BatchRecord {
  std::vector<MemoryOperation> operations;
};

// External semaphores that a node signals or waits for (hipGraphAddExternalSemaphoresSignalNode,
// hipGraphAddExternalSemaphoresWaitNode), with the value of each. They are the caller's and hold no buffer: no patch
// touches these nodes.
struct SemaphoreRecord {
  std::vector<hipExternalSemaphore_t> semaphores;
  std::vector<std::uint64_t> values;  // as many
};
struct SemaphoreSignalRecord : SemaphoreRecord {};
struct SemaphoreWaitRecord : SemaphoreRecord {};

// Memory that the nodes of a graph use and that belongs neither to the runtime nor to the caller: it has to outlive all
// executable graphs of the graph, and their last launch.
class Kept {
 public:
  // `owner` is the key for of(): an address that only the recorder of the thing uses as a key.
  void add(const void* owner, std::shared_ptr<void> thing) { things_.emplace_back(owner, std::move(thing)); }
  // The thing that was added last under this key, or null.
  [[nodiscard]] void* of(const void* owner) const;
  void take(Kept other);
  [[nodiscard]] bool empty() const { return things_.empty(); }

 private:
  std::vector<std::pair<const void*, std::shared_ptr<void>>> things_;
};

// A node that can be recorded again but has unknown fields. A patch that moves one of its buffers says that the graph
// has to be recorded again (A7); it never guesses.
struct OpaqueRecord {
  std::function<Result<hipGraphNode_t>(const Api&, hipGraph_t, std::span<const hipGraphNode_t> dependencies,
                                       std::span<const DeviceAddress> addresses, Kept& kept)>
      record;
  std::vector<BufferIndex> buffers;  // every buffer that it may hold an address of
  std::string reason;                // why it is opaque, for people
  bool kernel = false;               // it adds one kernel node; if false, it may be a child graph
  int device = 0;                    // current while the node is recorded, as in KernelRecord
  bool by_host = false;              // it adds one node that is no child graph, and of no device (hip/by_host.h)
  bool with_the_one_before = false;  // it uses an object that the node before it keeps; both have to be in one graph
};

using NodeRecord = std::variant<KernelRecord, CopyRecord, MemsetRecord, HostRecord, EmptyRecord, ChildRecord,
                                OpaqueRecord, EventSignalRecord, EventWaitRecord, MemoryAllocRecord, MemoryFreeRecord,
                                BatchRecord, SemaphoreSignalRecord, SemaphoreWaitRecord>;

struct RecordedNode {
  NodeRecord record;
  std::vector<NodeIndex> dependencies;  // nodes of this recording, each once; only earlier nodes when the node is added
  std::vector<Relocation> relocations;  // of this node's own fields; a child's are in the child
  NodeForm form = NodeForm::kTyped;     // the function by which it is recorded
};
// The form that is used when the node is recorded: always kTyped for a linear copy.
[[nodiscard]] NodeForm form_of(const RecordedNode& node);

// Returns the flaw of a node that is to follow `earlier_nodes` nodes of a recording, or null. A flaw is a dependency
// that is not an earlier node or is named twice, a relocation of a field that the node does not have, outside the
// argument block or overlapping another one, slots outside the block, a child or a function that is missing. Any node
// may be passed.
[[nodiscard]] const char* flaw_of(const RecordedNode& node, std::size_t earlier_nodes);

// The limits of the depth of child graphs (1: children without children) and of the nodes of a graph, nodes of children
// included (one recording may be the child of many nodes, so a small recording can be a huge graph).
inline constexpr std::uint32_t kMaxChildDepth = 64;
inline constexpr std::uint32_t kMaxTreeNodes = 1U << 24;

class Recording {
 public:
  // Appends a node and returns its index. Asserts that it has no flaw.
  NodeIndex add(RecordedNode node);

  // Replaces the parameters and relocations of a node; its type (asserted, except that an opaque node may stand for any
  // type) and its dependencies stay. Linear in the nodes of this level.
  void replace(NodeIndex node, NodeRecord record, std::vector<Relocation> relocations);

  // Sets the form in which the node is added.
  void set_form(NodeIndex node, NodeForm form);

  // Adds or removes the dependency of node `to` on node `from` (hipGraphAddDependencies, hipGraphRemoveDependencies).
  // The two nodes differ, and the dependency is new, or exists (asserted). `from` may be a later node. Circles are not
  // checked: the runtime refuses to instantiate them.
  void connect(NodeIndex from, NodeIndex to);
  void disconnect(NodeIndex from, NodeIndex to);
  // Removes `count` nodes from `first` on and their dependencies, both ways (hipGraphDestroyNode). The indices of later
  // nodes decrease by `count`.
  void erase(NodeIndex first, NodeIndex count = 1);

  [[nodiscard]] std::span<const RecordedNode> nodes() const { return nodes_; }
  // The dependencies that connect() added, in that order. record_graph() adds each of them after the same number of
  // nodes: hipGraphExecUpdate requires that a graph's edges are added in the same order as the executable graph's
  // (CUDA, cudaGraphExecUpdate; AMD's runtimes pair the nodes of two graphs by that order).
  struct Connection {
    NodeIndex from = 0, to = 0;
    NodeIndex nodes_before = 0;  // how many nodes there were then
  };
  [[nodiscard]] std::span<const Connection> connections() const { return connections_; }
  // Whether there are memory allocation or free nodes at this level: HIP allows none in child graphs.
  [[nodiscard]] bool has_memory_nodes() const { return has_memory_nodes_; }
  // One more than the highest buffer index that any relocation, opaque or memory node names, children included.
  [[nodiscard]] BufferIndex buffer_count() const { return buffer_count_; }
  // How deep children nest: 0 without children. Takes constant time.
  [[nodiscard]] std::uint32_t child_depth() const { return child_depth_; }
  // The number of nodes, with the nodes of children at every depth; stays at the largest value of its type.
  [[nodiscard]] std::uint32_t tree_size() const { return tree_size_; }
  // Whether the recording is within kMaxChildDepth and kMaxTreeNodes.
  [[nodiscard]] bool within_bounds() const { return child_depth_ <= kMaxChildDepth && tree_size_ <= kMaxTreeNodes; }

 private:
  void count(const RecordedNode& node);
  void count_again();

  std::vector<RecordedNode> nodes_;
  std::vector<Connection> connections_;
  BufferIndex buffer_count_ = 0;
  std::uint32_t child_depth_ = 0;
  std::uint32_t tree_size_ = 0;
  bool has_memory_nodes_ = false;
};

// The word for the kind of a node: "kernel", "copy", "memset", "host", "empty", "child graph", "opaque",
// "event record", "event wait", "memory allocation", "memory free", "batch", "semaphore signal" or "semaphore wait".
[[nodiscard]] const char* kind_of(const NodeRecord& record);

// The device that has to be current while the node is recorded or set: HIP takes the current device for the node's
// device. A child graph node has the device of its recording (home_of).
[[nodiscard]] int device_of(const NodeRecord& record);
// The device to make current before the node is recorded or set; nullopt: the graph's device (home_of) is right.
[[nodiscard]] std::optional<int> device_needed(const NodeRecord& record);
// The device of all kernels (opaque ones, too) and memsets of a graph and of its children; 0 if they are of several
// devices or there are none. The caller makes that device current while the graph is instantiated and updated: AMD's
// runtimes put the resources of an executable graph on the current device.
[[nodiscard]] int home_of(const Recording& recording);

// Whether a node may go from parameters `old` to `now` without changing its type. Opaque nodes may stand for any type.
[[nodiscard]] bool may_follow(const NodeRecord& old, const NodeRecord& now);

// Sets the field that `relocation` names to `base` plus its addend. The node has to have that field (asserted).
void write_address(NodeRecord& record, const Relocation& relocation, DeviceAddress base);

// `record` with every relocated field set to the address of its buffer plus its addend. A child's record is left as it
// is: its nodes are relocated when they are recorded.
[[nodiscard]] NodeRecord relocated(const RecordedNode& node, std::span<const DeviceAddress> addresses);

// A graph that was recorded from a Recording: the runtime's handles, node by node.
struct RecordedGraph {
  hipGraph_t graph = nullptr;         // owned by the caller of record_graph
  std::vector<hipGraphNode_t> nodes;  // in the order of the recording's nodes
  // The addresses of the memory that its allocation nodes allocate.
  std::vector<std::pair<BufferIndex, DeviceAddress>> allocations;
  Kept kept{};
};

// Results of recording one node beside its handle.
struct NodeExtras {
  DeviceAddress allocated = 0;  // the address that the runtime gave to an allocation node
  Kept kept{};
};

// Adds one node of a recording to `graph`, relocated, with `dependencies` as handles. A child is recorded into a graph
// of its own, which is destroyed again (hipGraphAddChildGraphNode clones it). If destroying it fails, or setting a
// kernel's attributes, that error is returned although the node was added.
[[nodiscard]] Result<hipGraphNode_t> record_node(const Api& api, hipGraph_t graph, const RecordedNode& node,
                                                 std::span<const hipGraphNode_t> dependencies,
                                                 std::span<const DeviceAddress> addresses, NodeExtras& extras);

// Records the whole graph at `addresses`, which has to have every buffer that the recording names (asserted). After an
// error the unfinished graph is destroyed (if that fails too, the message says so). Recordings outside their bounds are
// refused with hipErrorInvalidValue before the first call.
[[nodiscard]] Result<RecordedGraph> record_graph(const Api& api, const Recording& recording,
                                                 std::span<const DeviceAddress> addresses);

}  // namespace hip
