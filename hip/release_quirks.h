// hip::ReleaseQuirks: a table of faults in releases of AMD's and of NVIDIA's runtimes. They affect graphs that are
// changed, launched or destroyed, and memory that is freed in stream order.
//
// An entry names the releases, the operation, the nodes and their states for which the runtime goes wrong, and the way
// that is right there. Code that is about to add or set a node, to update, to launch or to destroy asks this class
// first and takes the entry's way if there is one. An entry has the name of its finding; docs/findings.md describes it.
// docs/safe-operations.md is the same table for readers. Both are made of verify/findings by tools/findings.
//
//   conditions  hold of the node that is added or set (all states of an entry at once), of one of the nodes of a
//               recording that is updated to, or of the graph as a whole. Operations such as a launch into a capture or
//               a destruction have no conditions on nodes.
//   unknown     facts that the caller does not give count as the worst case: memory may be of any kind, and a release
//               that is not listed has every quirk of its vendor's. The way that is taken then is slower, and right.
//
// Not in the table: findings that every way of recording a node has. docs/findings.md names an alternative to the node.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "hip/errors.h"
#include "hip/flatten.h"
#include "hip/recording.h"
#include "hip/releases/releases.h"

namespace hip {

enum class QuirkyUse : std::uint8_t {
  kSetInExec,        // a setter of an executable graph, for one of its own nodes
  kSetInGraph,       // a setter of a graph's node; also used for a child graph's nodes before the child is handed over
  kUpdate,           // hipGraphExecUpdate
  kLaunch,           // hipGraphLaunch of a recorded and instantiated graph
  kCapturedLaunch,   // a launch on a stream that captures
  kLaunchElsewhere,  // a launch on a stream of another device than the one where the graph was instantiated
  kAdd,              // adding a node to a graph
  kDestroy,          // hipGraphExecDestroy of a graph that was launched
  kFollow,           // hipStreamWaitEvent for the last launch, on another stream
  kRead,             // a getter of a node that was captured
  kSetOften,         // setters and updates of one executable graph, over and over
  kFreeAsync,        // hipFreeAsync of memory that its own stream still uses, when another stream has waited for that
  kFreeAddresses,    // hipMemAddressFree of a range whose mapped memory was used
};
enum class QuirkyNode : std::uint8_t { kAny, kKernel, kCopy, kMemset, kHost, kChild, kEmpty, kBatch };
enum class QuirkyState : std::uint8_t {
  kSeveralRows,      // memset: more rows than one
  kLargeElements,    // memset: elements of more than one byte
  kLinear,           // copy: 1D
  kShaped,           // copy: 2D or 3D
  kDriver,           // the driver's form added it
  kGeneric,          // added or set through the function that takes any type
  kOtherForm,        // copy: it was linear and is to be shaped, or the reverse
  kOtherFamily,      // copy: the driver's form added it and another sets it, or the reverse
  kPageable,         // copy: an end is pageable
  kOtherPageable,    // copy: an end was pageable and none is to be, or the reverse
  kBetweenHosts,     // copy: no end is on the device
  kBetweenPageable,  // copy: both ends are pageable
  kGraphMemory,      // memset, copy: of memory that a node of the graph allocates
  kToSymbol,         // copy: to a variable of device code
  kDisabled,         // the node is disabled in the executable graph
  kBesideDisabled,   // memset: a node of the executable graph is disabled
  kNested,           // child: it has a child graph itself
  kFollowed,         // child: another node waits for it
  kOtherDevice,      // child, update: a kernel or memset, at any depth, of another device than the first
  kOtherShape,       // update: other nodes, types or dependencies, or dependencies that were added in another order
  kSeveralRoots,     // of the graph
  kManyNodes,        // of the graph: 16 or more
  kManyDependents,   // of the graph: a node has five or more dependents
  kManyLeaves,       // of the graph: 14 or 15 nodes, eight or more of them without dependents
  kStreamLeftOut,    // of the graph: hip/spread/stream_spread.h
  kMixedHosts,       // copy: host to host, one end pageable and the other one not
  kManaged,          // copy: an end is managed
  kWithinDevice,     // copy: device to device
  kSeveralDevices,   // memory, nodes or streams are of more than one device
  kBranches,         // of the graph: several roots, or a node with several dependents
  kSymbolByDefault,  // copy: between a symbol and pageable memory, by hipMemcpyDefault
  kPinned,           // memset: of memory that is known to be pinned (or registered)
  kFromPageable,     // copy: from memory that is known to be pageable, where all is of one device
  kNotKnown,         // child: a library enqueued its nodes, and they are opaque
  kLastCaptures,     // kFollow: the stream of the last launch has begun to capture since
  kUncutValue,       // memset: the value does not fit into its element
  kCount
};
enum class QuirkWay : std::uint8_t {
  kTyped,         // the function of the node's own type
  kByDefault,     // hipMemcpyDefault
  kByDirection,   // the direction is named: host to device, or device to host
  kRecordAgain,   // the whole graph is recorded and instantiated anew
  kFlatten,       // child graphs become nodes of their parent graph (hip/flatten.h) when it is recorded
  kChain,         // the nodes are recorded one behind the other
  kRows,          // a node for each row is recorded in its place (hip/in_rows.h)
  kByHost,        // a host node is recorded in its place, or before it (hip/by_host.h)
  kChildNode,     // the graph is added to the capture as a child (hip::launch_into_capture)
  kDeviceFirst,   // the device is waited for, not only the stream of the last launch
  kOwnDevice,     // a stream of the graph's own device launches it, between two events (hip/home_stream.h)
  kNeverKnown,    // the node is opaque (hip/differential_capture.h)
  kDeviceMemory,  // hipMalloc and hipFree (hip/scratch_buffer.h)
  kCutValue,      // the bits of the value that do not fit into its element are left out
  kEventByHost,   // the host waits for the event behind the last launch
  kKeepRange,     // the range stays reserved and is used again (hip/address_ranges.h)
};

class QuirkyStates {
 public:
  constexpr QuirkyStates() = default;
  constexpr QuirkyStates(std::initializer_list<QuirkyState> states) {
    for (const QuirkyState state : states) add(state);
  }
  constexpr void add(QuirkyState state) { bits_ |= bit(state); }
  constexpr void add(QuirkyState state, bool holds) { bits_ |= holds ? bit(state) : 0; }
  [[nodiscard]] constexpr bool has(QuirkyState state) const { return (bits_ & bit(state)) != 0; }
  [[nodiscard]] constexpr bool includes(QuirkyStates other) const { return (bits_ & other.bits_) == other.bits_; }

 private:
  static_assert(static_cast<unsigned>(QuirkyState::kCount) <= 64, "a bit a state");
  static constexpr std::uint64_t bit(QuirkyState state) { return std::uint64_t{1} << static_cast<unsigned>(state); }
  std::uint64_t bits_ = 0;
};

// Whether the way is to record other nodes in a node's place.
[[nodiscard]] bool others_stand_for(QuirkWay way);

// The bits of a memset's value that fit into its element; the other bits are cleared.
[[nodiscard]] unsigned cut_value(const hipMemsetParams& params);

struct ReleaseQuirk {
  std::string_view id;  // of the finding
  ReleaseSet releases;
  QuirkyUse use;
  QuirkyNode node;
  QuirkyStates states;
  QuirkWay way;
};
[[nodiscard]] std::span<const ReleaseQuirk> release_quirks();

enum class BufferMemory : std::uint8_t {
  kUnknown,
  kDevice,
  kPinned,
  kPageable,
  kManaged,
  kGraph,  // a node of the graph allocates it; memory of unknown kind is not taken for this
};

// The facts besides recordings that the caller of a check knows.
struct QuirkContext {
  std::function<BufferMemory(BufferIndex)> memory{};  // empty: nothing is known
  std::set<NodeIndex> disabled{};                     // of the executable graph's own nodes
  // False: all memory and all streams are of one device, which is current when graphs are recorded and launched.
  bool several_devices = true;
};

class ReleaseQuirks {
 public:
  // A release without quirks.
  ReleaseQuirks() = default;
  // The quirks of the release with this version number (hip::version_of_release). A release that is not listed gets
  // the quirks of all releases of its vendor.
  [[nodiscard]] static ReleaseQuirks of_version(int runtime_version);

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // Each of these functions returns the first entry that affects the operation, or null if the operation is safe.
  // Setting one node of an executable graph, or of a graph; `index` is its index in `context.disabled`.
  [[nodiscard]] const ReleaseQuirk* of_set(QuirkyUse use, const RecordedNode& was, const RecordedNode& now,
                                           NodeIndex index, const QuirkContext& context) const;
  // Patching by setters: the nodes, at any depth, that hold one of the moved buffers.
  [[nodiscard]] const ReleaseQuirk* of_patch(QuirkyUse use, const Recording& recording, std::span<const Move> moves,
                                             const QuirkContext& context) const;
  // The same in advance, for a recording that is patched often: at each buffer's index the entry that a patch meets
  // when it moves that buffer. Empty without quirks. first_of() reads it.
  [[nodiscard]] std::vector<const ReleaseQuirk*> of_buffers(QuirkyUse use, const Recording& recording,
                                                            const QuirkContext& context) const;
  // Updating an executable graph from one recording to another.
  [[nodiscard]] const ReleaseQuirk* of_update(const Recording& from, const Recording& to,
                                              const QuirkContext& context) const;
  // Launching an executable graph of the recording.
  [[nodiscard]] const ReleaseQuirk* of_launch(const Recording& recording, const QuirkContext& context) const;
  // Adding a node to a graph, with the nodes of its child graph.
  [[nodiscard]] const ReleaseQuirk* of_add(const RecordedNode& node, const QuirkContext& context) const;
  // The node in a form that is added and set rightly: by another function, kind or value. Children are changed, too.
  [[nodiscard]] RecordedNode as_added(RecordedNode node, const QuirkContext& context) const;
  [[nodiscard]] Recording as_added(Recording recording, const QuirkContext& context) const;
  // Launching anything on a stream that captures.
  [[nodiscard]] const ReleaseQuirk* of_captured_launch() const { return of_use(QuirkyUse::kCapturedLaunch); }
  // Launching anything on a stream of another device than the one that was current when the graph was instantiated.
  [[nodiscard]] const ReleaseQuirk* of_launch_elsewhere() const { return of_use(QuirkyUse::kLaunchElsewhere); }
  // Destroying an executable graph after its stream or an event has reported that the last launch is done.
  [[nodiscard]] const ReleaseQuirk* of_destroy() const { return of_use(QuirkyUse::kDestroy); }
  // Changing one executable graph very often.
  [[nodiscard]] const ReleaseQuirk* of_set_often() const { return of_use(QuirkyUse::kSetOften); }
  // Reading a captured node by a getter.
  [[nodiscard]] const ReleaseQuirk* of_read(const RecordedNode& node) const;
  // Freeing memory in stream order.
  [[nodiscard]] const ReleaseQuirk* of_free_async() const { return of_use(QuirkyUse::kFreeAsync); }
  // Freeing a range of device addresses.
  [[nodiscard]] const ReleaseQuirk* of_free_addresses() const { return of_use(QuirkyUse::kFreeAddresses); }
  // Making a stream wait for the last launch of an executable graph after that launch's stream has begun to capture.
  // Null also where no way is right (6.4): a stream cannot wait then, and a wait of the host makes the capture invalid.
  [[nodiscard]] const ReleaseQuirk* of_follow_capturing() const;
  // For hip::flattened: replaces each node whose entry says kRows or kByHost by other nodes. Valid as long as this
  // object. `errors` receives failures to free the memory of such nodes with their graph.
  [[nodiscard]] Spelling spelling(const QuirkContext& context, const ErrorSink& errors) const;

 private:
  [[nodiscard]] const ReleaseQuirk* of_add_itself(const RecordedNode& node, const QuirkContext& context) const;
  [[nodiscard]] const ReleaseQuirk* find(QuirkyUse use, QuirkyNode node, QuirkyStates states) const;
  [[nodiscard]] const ReleaseQuirk* of_use(QuirkyUse use) const { return find(use, QuirkyNode::kAny, {}); }
  [[nodiscard]] const ReleaseQuirk* of_node(const RecordedNode& node, const QuirkContext& context) const;
  [[nodiscard]] const ReleaseQuirk* of_set_inside(QuirkyUse use, const RecordedNode& was, const RecordedNode& now,
                                                  const QuirkContext& context) const;
  void add_of_buffers(QuirkyUse use, const Recording& recording, const QuirkContext& context,
                      std::vector<const ReleaseQuirk*>& all) const;

  std::vector<const ReleaseQuirk*> entries_;
};

// The quirk that a patch with these moves meets, or null; costs a look-up for each move and allocates nothing.
[[nodiscard]] const ReleaseQuirk* first_of(std::span<const ReleaseQuirk* const> of_buffers,
                                           std::span<const Move> moves);

// Whether a copy of which the caller asks the same kind as before (`asked`) was recorded by one kind and is now to have
// another: no setter of an executable graph and no update changes the kind of a copy. Also for children.
[[nodiscard]] bool recorded_otherwise(const RecordedNode& was, const RecordedNode& now);
[[nodiscard]] bool recorded_otherwise(const Recording& was, const Recording& now);

// The recording as one chain of nodes, in an order that honours its dependencies. A recording whose dependencies form a
// cycle stays as it is. The nodes keep their numbers.
[[nodiscard]] Recording chained(const Recording& recording);

}  // namespace hip
