// hip::ReleaseQuirks: a table of faults in releases of AMD's and of NVIDIA's runtimes. They affect graphs that are
// changed, launched or destroyed, and memory that streams hand back.
//
// An entry names the releases, the operation, the nodes and their states for which the runtime goes wrong, and the
// right way there. Code that is about to add or set a node, to update, to launch or to destroy asks this class first
// and takes the entry's way if there is one. An entry has the name of its finding; docs/findings.md describes it.
// docs/safe-operations.md is the same table for people. Both are made of verify/findings by tools/findings.
//
//   conditions  hold of the node that is added or set (all states of an entry at once), of one of the nodes of a
//               recording that is updated to, or of the graph as a whole. A launch into a capture, one that
//               follows and a destruction have none.
//   unknown     facts that the caller does not give count as the worst case: memory may be of any kind, and a release
//               that is not listed has every quirk of its vendor's. The way that is taken then is slower, and right.
//
// Not here: findings that occur in every way of recording a node. docs/findings.md names an alternative to such a node.
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
  kSetInExec,        // a setter of an executable graph, of a node of its own
  kSetInGraph,       // a setter of a graph's node; also used for a child graph's nodes before the child is handed over
  kUpdate,           // hipGraphExecUpdate
  kLaunch,           // hipGraphLaunch of a recorded and instantiated graph
  kCapturedLaunch,   // a launch on a stream that captures
  kLaunchElsewhere,  // a launch on a stream of another device than the one where the graph was instantiated
  kAdd,              // of a node to a graph
  kDestroy,          // hipGraphExecDestroy of a graph that was launched
  kFollow,           // hipStreamWaitEvent for the last launch, on another stream
  kRead,             // a getter of a node that was captured
  kSetOften,         // setters and updates of one executable graph, over and over
  kFreeAsync,        // hipFreeAsync of memory that its own stream still uses, when another stream has waited for that
};
enum class QuirkyNode : std::uint8_t { kAny, kKernel, kCopy, kMemset, kHost, kChild, kEmpty };
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
  kDisabled,         // in the executable graph
  kBesideDisabled,   // memset: a node of the executable graph is disabled
  kNested,           // child: a child graph in it
  kFollowed,         // child: another node waits for it
  kOtherDevice,      // child, update: a kernel or memset, at any depth, of another device than the first
  kOtherShape,       // update: other nodes, other types or other dependencies, or these made in another order
  kSeveralRoots,     // of the graph
  kManyNodes,        // of the graph: 16 or more
  kManyDependents,   // of the graph: five or more of one of its nodes
  kManyLeaves,       // of the graph: 14 or 15 nodes, and no node depends on eight of them or more
  kStreamLeftOut,    // of the graph: hip/spread/stream_spread.h
  kMixedHosts,       // copy: host to host, one end pageable and the other one not
  kManaged,          // copy: an end is managed
  kWithinDevice,     // copy: device to device
  kSeveralDevices,   // memory, nodes or streams are of more than one
  kBranches,         // of the graph: several roots, or several dependents of one of its nodes
  kSymbolByDefault,  // copy: between a symbol and pageable memory, by hipMemcpyDefault
  kPinned,           // memset: of memory that is known to be pinned (or registered)
  kFromPageable,     // copy: from memory that is known to be pageable, where all is of one device
  kNotKnown,         // child: its nodes are a library's, and opaque
  kLastCaptures,     // of following a launch: its stream has begun to capture since
  kUncutValue,       // memset: the value does not fit into its element
  kCount
};
enum class QuirkWay : std::uint8_t {
  kTyped,         // the function of the node's own type
  kByDefault,     // hipMemcpyDefault
  kByDirection,   // the direction is named: the host's memory to the device's, or the reverse
  kRecordAgain,   // the whole graph is recorded and instantiated anew
  kFlatten,       // child graphs become nodes of their parent's (hip/flatten.h) when it is recorded
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
  kGraph,  // a node of the graph allocates it; no memory of which nothing is known counts as this
};

// The facts that the caller of a check knows beside recordings.
struct QuirkContext {
  std::function<BufferMemory(BufferIndex)> memory{};  // none: nothing is known
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
  // Each of these functions answers the first entry that touches the operation, or null: it is safe.
  // Setting one node (`index`: for `context.disabled`) of an executable graph or of a graph's own.
  [[nodiscard]] const ReleaseQuirk* of_set(QuirkyUse use, const RecordedNode& was, const RecordedNode& now,
                                           NodeIndex index, const QuirkContext& context) const;
  // Patching by setters: the nodes in which one of the buffers is, at any depth.
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
  // Adding a node to a graph, with the nodes inside it.
  [[nodiscard]] const ReleaseQuirk* of_add(const RecordedNode& node, const QuirkContext& context) const;
  // The node as it is added and set rightly: through another function, or by another kind. Nodes of children, too.
  [[nodiscard]] RecordedNode as_added(RecordedNode node, const QuirkContext& context) const;
  [[nodiscard]] Recording as_added(Recording recording, const QuirkContext& context) const;
  // Launching anything on a stream that captures.
  [[nodiscard]] const ReleaseQuirk* of_captured_launch() const;
  // Launching anything on a stream of another device than the one that was current when it was instantiated.
  [[nodiscard]] const ReleaseQuirk* of_launch_elsewhere() const;
  // Destroying an executable graph after its stream or an event has reported that the last launch is done.
  [[nodiscard]] const ReleaseQuirk* of_destroy() const;
  // Changing one executable graph very often.
  [[nodiscard]] const ReleaseQuirk* of_set_often() const;
  // Reading a captured node by a getter.
  [[nodiscard]] const ReleaseQuirk* of_read(const RecordedNode& node) const;
  // Giving memory back in a stream's order.
  [[nodiscard]] const ReleaseQuirk* of_free_async() const;
  // Making a stream wait for the last launch of an executable graph after that launch's stream has begun to capture.
  // Null also where no way is right (6.4): a stream does not wait then, and a wait of the host invalidates the capture.
  [[nodiscard]] const ReleaseQuirk* of_follow_capturing() const;
  // For hip::flattened: replaces each node whose entry says kRows or kByHost by other nodes. Valid as long as this
  // object. `errors` receives failures to free the memory of such nodes with their graph.
  [[nodiscard]] Spelling spelling(const QuirkContext& context, const ErrorSink& errors) const;

 private:
  [[nodiscard]] const ReleaseQuirk* of_add_itself(const RecordedNode& node, const QuirkContext& context) const;
  [[nodiscard]] const ReleaseQuirk* find(QuirkyUse use, QuirkyNode node, QuirkyStates states) const;
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

// Whether copies of the kind that the caller names were recorded by one kind and are now to be by another (`asked`):
// no setter of an executable graph and no update changes the kind of a copy. In children, too.
[[nodiscard]] bool recorded_otherwise(const RecordedNode& was, const RecordedNode& now);
[[nodiscard]] bool recorded_otherwise(const Recording& was, const Recording& now);

// The recording as one chain of nodes, in an order that honours its dependencies. A recording whose dependencies form a
// cycle stays as it is. The nodes keep their numbers.
[[nodiscard]] Recording chained(const Recording& recording);

}  // namespace hip
