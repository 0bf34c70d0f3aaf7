// verify::Program: a list of HIP graph operations over symbolic buffers, graphs and streams, as plain data.
//
// Ids are fixed up front: dropping a command never renames another. A program says nothing about addresses; whoever
// executes it chooses a placement. The text form (verify/program/text.h) is the same thing, one command a line; what
// each command means is in docs/program-language.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "verify/program/kernel_spec.h"
#include "verify/systems/action.h"

namespace verify {

using Id = std::uint32_t;

// Bounds on what one program may ask for; the parser and the validator name them when they are passed.
inline constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{1} << 28;
inline constexpr std::uint32_t kMaxId = 9999;
inline constexpr std::uint32_t kMaxFan = 20000;
inline constexpr std::uint32_t kMaxNest = 64;                          // child graphs within child graphs, in all
inline constexpr std::uint64_t kMaxInstances = 65536;                  // nodes of one graph, fans and children counted
inline constexpr std::uint64_t kMaxProducts = std::uint64_t{1} << 20;  // multiplications of one matrix kernel
inline constexpr std::uint32_t kMaxSharedBytes = 65536;                // of a workgroup, on every device that HIP has
inline constexpr std::size_t kMaxWrittenBytes = 65536;                 // of one write's own bytes
inline constexpr std::uint32_t kMaxRepeat = 1000000;
inline constexpr std::size_t kMaxCommands = 100000;
// The variables of the project's device code (hip/kernels/kernels.hip), and the bytes of each.
inline constexpr std::uint32_t kSymbols = 4;
inline constexpr std::uint64_t kSymbolBytes = 1024;
// Devices are numbered from 0; one that is not named is device 0.
inline constexpr Id kMaxDevices = 4;
inline constexpr std::int32_t kMaxNodePriority = 1;  // by amount; a runtime's range is that of its streams

enum class Placement : std::uint8_t { kArena, kNative };
// Registered memory is pageable memory that hipHostRegister made known.
enum class MemoryKind : std::uint8_t { kDevice, kPinned, kPageable, kManaged, kRegistered };
inline constexpr std::size_t kMemoryKinds = 5;
enum class CopyKind : std::uint8_t { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kDefault };
enum class ArgumentStyle : std::uint8_t { kParams, kExtra };

// b1+256. An offset of the buffer's size is one past its end.
struct BufferRef {
  Id buffer = 0;
  std::int64_t offset = 0;
  bool operator==(const BufferRef&) const = default;
};

// What one field of a kernel's arguments is given.
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
  const KernelSpec* kernel = nullptr;    // of the catalogue, or a foreign one
  std::vector<ArgumentValue> arguments;  // one per field of the spec, in its order
  std::uint32_t grid = 1;                // workgroups
  std::uint32_t block = 64;              // work items a workgroup
  // The further dimensions of a foreign kernel; the project's kernels have one.
  std::uint32_t grid_y = 1, grid_z = 1, block_y = 1, block_z = 1;
  ArgumentStyle style = ArgumentStyle::kParams;
  bool opaque = false;             // recorded by somebody who cannot say where its pointers are
  std::uint32_t shared_bytes = 0;  // dynamic shared memory, which no kernel of the project touches
  Id device = 0;                   // that it runs on: its function is that device's
  bool operator==(const KernelParams&) const = default;
};

struct Position {
  std::uint64_t x = 0, y = 0, z = 0;
  bool operator==(const Position&) const = default;
};

// One end of a copy. The pitch is bytes a row, `rows` the rows of a slice; both 0 in a linear copy.
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
  CopySymbol symbol = CopySymbol::kNone;  // hipMemcpyToSymbol and its like; linear
  PeerCopy peer = PeerCopy::kNone;        // of eager work; linear
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

// A child graph; nest=N wraps it into N graphs that hold nothing else.
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
// Where it is is the runtime's business.
struct MemoryAllocParams {
  Id buffer = 0;
  std::uint64_t bytes = 0;
  bool operator==(const MemoryAllocParams&) const = default;
};
struct MemoryFreeParams {
  Id buffer = 0;
  bool operator==(const MemoryFreeParams&) const = default;
};

using NodeParams = std::variant<KernelParams, CopyParams, MemsetParams, HostParams, EmptyParams, ChildParams,
                                EventRecordParams, EventWaitParams, MemoryAllocParams, MemoryFreeParams>;

[[nodiscard]] inline bool is_event_node(const NodeParams& params) {
  return std::holds_alternative<EventRecordParams>(params) || std::holds_alternative<EventWaitParams>(params);
}

// ---- commands

struct DeclareBuffer {
  Id buffer = 0;
  std::uint64_t bytes = 0;
  MemoryKind memory = MemoryKind::kDevice;
  // A variable of the device code, by number: it is where it is, for as long as the program runs.
  std::optional<std::uint32_t> symbol = {};
  Id device = 0;  // whose memory it is; of device memory alone
  bool operator==(const DeclareBuffer&) const = default;
};
struct DeclareGraph {
  Id graph = 0;
  bool operator==(const DeclareGraph&) const = default;
};
struct DeclareStream {
  Id stream = 0;
  bool non_blocking = false;
  std::int32_t priority = 0;  // as written; a runtime clamps it to its range
  bool per_thread = false;    // hipStreamPerThread of the first thread, which exists already
  Id device = 0;
  bool operator==(const DeclareStream&) const = default;
};
// What an event tells of when it is recorded (hipEventReleaseToDevice, hipEventReleaseToSystem): no order depends on
// it.
enum class EventRelease : std::uint8_t { kDefault, kDevice, kSystem };
struct DeclareEvent {
  Id event = 0;
  bool timing = false;
  bool blocking = false;
  EventRelease release = EventRelease::kDefault;
  Id device = 0;
  bool operator==(const DeclareEvent&) const = default;
};

// Which of HIP's functions a node is added or set through: that of its type; the one that takes any type
// (hipGraphAddNode, hipGraphNodeSetParams, hipGraphExecNodeSetParams); or the driver's (hipDrvGraph...).
enum class NodeForm : std::uint8_t { kTyped, kGeneric, kDriver };

struct AddNode {
  Id graph = 0;
  Id node = 0;
  NodeParams params;
  std::vector<Id> after;
  std::uint32_t fan = 1;  // that many unordered nodes; written pointers advance by what each writes
  NodeForm form = NodeForm::kTyped;
  bool operator==(const AddNode&) const = default;
};
// Which of HIP's functions makes an executable graph, and with which of its flags.
enum class InstantiateForm : std::uint8_t { kPlain, kFlags, kParams };
inline constexpr std::uint32_t kAutoFreeOnLaunch = 1, kUploadAtOnce = 2, kUseNodePriority = 8;  // HIP's numbers
struct Instantiate {
  Id exec = 0;
  Id graph = 0;
  InstantiateForm form = InstantiateForm::kPlain;
  std::uint32_t flags = 0;  // none with kPlain
  bool operator==(const Instantiate&) const = default;
};
struct Launch {
  Id exec = 0;
  Id stream = 0;
  bool operator==(const Launch&) const = default;
};

struct BufferMove {
  Id buffer = 0;
  std::optional<Id> onto;  // @b1: to where b1 is now (b1 has to move away in the same command)
  bool operator==(const BufferMove&) const = default;
};
struct MoveBuffers {
  std::vector<BufferMove> moves;
  bool operator==(const MoveBuffers&) const = default;
};

enum class Target : std::uint8_t { kGraph, kExec, kStream, kEvent, kDevice };
struct Patch {
  Target target = Target::kExec;
  Id id = 0;
  bool operator==(const Patch&) const = default;
};
struct SetNode {
  Target target = Target::kExec;
  Id id = 0;
  Id node = 0;
  NodeParams params;
  NodeForm form = NodeForm::kTyped;
  bool operator==(const SetNode&) const = default;
};
struct Update {
  Id exec = 0;
  Id graph = 0;
  bool operator==(const Update&) const = default;
};
struct Synchronize {
  Target target = Target::kDevice;
  Id id = 0;
  Id thread = 0;
  bool operator==(const Synchronize&) const = default;
};
struct RecordEvent {
  Id event = 0;
  Id stream = 0;
  bool operator==(const RecordEvent&) const = default;
};
struct WaitEvent {
  Id stream = 0;
  Id event = 0;
  bool operator==(const WaitEvent&) const = default;
};
// ---- streams, eager work and stream capture. `thread` is the host thread that makes the call: 0 is the program's own,
// the others are helpers that take turns with it.

inline constexpr Id kMaxThread = 3;

// A node's work given to a stream: done when its turn comes, or, on a stream that captures, a node of the capture.
struct Enqueue {
  Id stream = 0;
  NodeParams params;
  Id thread = 0;
  bool operator==(const Enqueue&) const = default;
};
struct Query {
  Target target = Target::kStream;  // or an event
  Id id = 0;
  Id thread = 0;
  bool operator==(const Query&) const = default;
};
struct Elapsed {
  Id from = 0, to = 0;
  bool operator==(const Elapsed&) const = default;
};
enum class CaptureMode : std::uint8_t { kGlobal, kThreadLocal, kRelaxed };  // HIP's numbers
struct BeginCapture {
  Id stream = 0;
  CaptureMode mode = CaptureMode::kGlobal;
  std::optional<Id> into;  // hipStreamBeginCaptureToGraph
  std::vector<Id> after;   // nodes of that graph
  Id thread = 0;
  bool operator==(const BeginCapture&) const = default;
};
// The capture becomes `graph`, whose nodes are named in the order in which they were captured: from n0, or from where
// the names of the graph that was captured into end.
struct EndCapture {
  Id stream = 0;
  Id graph = 0;
  Id thread = 0;
  bool operator==(const EndCapture&) const = default;
};
struct CaptureInfo {
  Id stream = 0;
  bool operator==(const CaptureInfo&) const = default;
};
// hipStreamUpdateCaptureDependencies: nodes of the capture by the names that they are going to have.
struct CaptureAfter {
  Id stream = 0;
  std::vector<Id> nodes;
  bool add = false;  // else they replace what the stream's next node comes behind
  bool operator==(const CaptureAfter&) const = default;
};
struct ExchangeCaptureMode {
  CaptureMode mode = CaptureMode::kGlobal;
  Id thread = 0;
  bool operator==(const ExchangeCaptureMode&) const = default;
};
// hipMalloc of a few bytes, and hipFree should it have worked: a call that captures may forbid.
struct UnsafeCall {
  Id thread = 0;
  bool operator==(const UnsafeCall&) const = default;
};

struct Read {
  Id buffer = 0;
  bool operator==(const Read&) const = default;
};
// A pattern over all of it, or bytes as they are (of a recorded program) from an offset on.
struct Write {
  Id buffer = 0;
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
  std::vector<std::uint8_t> data{};  // empty: the pattern
  bool operator==(const Write&) const = default;
};
struct Free {
  Id buffer = 0;
  bool operator==(const Free&) const = default;
};
// hipFreeAsync of memory that a graph or a stream allocated; in a capture it becomes a free node.
struct FreeAsync {
  Id buffer = 0;
  Id stream = 0;
  bool operator==(const FreeAsync&) const = default;
};
struct Destroy {
  Target target = Target::kGraph;
  Id id = 0;
  bool operator==(const Destroy&) const = default;
};
// The n-th call of a HIP function that the subject makes from here on fails once (P4). The baseline never sees it.
struct Fail {
  std::uint32_t nth = 1;
  std::string function;
  bool operator==(const Fail&) const = default;
};

// ---- graphs and executable graphs as wholes

// g1 is hipGraphClone's; its nodes have the names of the original's.
struct CloneGraph {
  Id graph = 0;
  Id from = 0;
  bool operator==(const CloneGraph&) const = default;
};
// hipGraphNodeFindInClone: which node of `clone` was made from a node of `graph`; an observation.
struct FindInClone {
  Id clone = 0;
  Id graph = 0;
  Id node = 0;
  bool operator==(const FindInClone&) const = default;
};
// Dependencies of `node` that are added or removed, all in one call. Only with `cycle` they may close a circle.
struct ChangeEdges {
  Id graph = 0;
  Id node = 0;
  std::vector<Id> after;
  bool add = true;
  bool cycle = false;
  bool operator==(const ChangeEdges&) const = default;
};
struct RemoveNode {
  Id graph = 0;
  Id node = 0;
  bool operator==(const RemoveNode&) const = default;
};
struct EnableNode {
  Id exec = 0;
  Id node = 0;
  bool enabled = false;
  bool operator==(const EnableNode&) const = default;
};
struct Upload {
  Id exec = 0;
  Id stream = 0;
  bool operator==(const Upload&) const = default;
};
// Every query that HIP has of a graph or an executable graph.
struct Inspect {
  Target target = Target::kGraph;
  Id id = 0;
  bool operator==(const Inspect&) const = default;
};

// Attributes of a kernel node of a graph (hipGraphKernelNodeSetAttribute); nothing: as the runtime gives them.
struct NodeAttributes {
  std::optional<std::int32_t> priority = {};
  std::optional<bool> cooperative = {};
  bool operator==(const NodeAttributes&) const = default;
};
// Sets those that are given; what the node has then is observed.
struct SetAttributes {
  Id graph = 0;
  Id node = 0;
  NodeAttributes attributes;
  bool operator==(const SetAttributes&) const = default;
};
// hipGraphKernelNodeCopyAttributes: `node` gets all that a node of `from` has; observed, too.
struct CopyAttributes {
  Id graph = 0;
  Id node = 0;
  Id from = 0;
  Id source = 0;
  bool operator==(const CopyAttributes&) const = default;
};

// Whether `device` may reach, from now on reaches, or does not reach any more what is on `peer`.
enum class PeerVerb : std::uint8_t { kCan, kEnable, kDisable };
struct PeerAccess {
  PeerVerb verb = PeerVerb::kCan;
  Id device = 0;
  Id peer = 0;
  bool operator==(const PeerAccess&) const = default;
};

// A resource of the program that graphs keep alive (hipUserObjectCreate); its function counts itself.
struct DeclareUserObject {
  Id object = 0;
  bool operator==(const DeclareUserObject&) const = default;
};
// A graph takes a reference of its own, or (move) the program's.
struct RetainUserObject {
  Id object = 0;
  Id graph = 0;
  bool move = false;
  bool operator==(const RetainUserObject&) const = default;
};
// Of the program's references, or of a graph's.
struct ReleaseUserObject {
  Id object = 0;
  std::optional<Id> graph;
  bool operator==(const ReleaseUserObject&) const = default;
};
// hipGraphDebugDotPrint into a file that passes; nodes and edges are counted.
struct PrintDot {
  Id graph = 0;
  bool operator==(const PrintDot&) const = default;
};
// A call with one invalid argument, against objects of its own (verify/errors/cases.inc): what it answers is observed.
struct BadCall {
  std::string function;
  std::string error_case;
  bool operator==(const BadCall&) const = default;
};

// ---- stream-ordered memory and its pools

// hipMallocAsync, or hipMallocFromPoolAsync: `buffer` is memory where the runtime puts it, for work that is ordered
// behind this. On a stream that captures it becomes an allocation node, and the memory the graph's.
struct MallocAsync {
  Id buffer = 0;
  std::uint64_t bytes = 0;
  Id stream = 0;
  std::optional<Id> pool;  // none: the device's current one
  bool operator==(const MallocAsync&) const = default;
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

using Command = std::variant<DeclareBuffer, DeclareGraph, DeclareStream, DeclareEvent, AddNode, Instantiate, Launch,
                             MoveBuffers, Patch, SetNode, Update, Synchronize, RecordEvent, WaitEvent, Read, Write,
                             Free, Destroy, Fail, CloneGraph, FindInClone, ChangeEdges, RemoveNode, EnableNode, Upload,
                             Inspect, Enqueue, Query, Elapsed, BeginCapture, EndCapture, CaptureInfo, CaptureAfter,
                             ExchangeCaptureMode, UnsafeCall, DeclareUserObject, RetainUserObject, ReleaseUserObject,
                             PrintDot, BadCall, FreeAsync, SetAttributes, CopyAttributes, MallocAsync, DeclarePool,
                             AskPool, TrimPool, AccessPool, UsePool, DestroyPool, PeerAccess, SystemAction>;

struct Step {
  Command command;
  std::uint32_t repeat = 1;
  std::uint32_t line = 0;  // of the text it came from; 0 when it was generated
  // Where it was written is no part of what it means.
  bool operator==(const Step& other) const;
};

// What copies, compares and destroys it is in program.cpp, not here: each source that did would compile all of it
// again.
struct Program {
  Program();
  Program(const Program&);
  Program(Program&&) noexcept;
  Program& operator=(const Program&);
  Program& operator=(Program&&) noexcept;
  ~Program();

  Placement placement = Placement::kArena;
  std::vector<Step> steps;
  bool operator==(const Program&) const;
};

// How many commands a person has to read: declarations of buffers, graphs, streams and events, and reads, are left out.
[[nodiscard]] std::uint64_t counted_commands(const Program& program);

// The stream that exists without declaration: HIP's null stream.
inline constexpr Id kNullStream = 0;

}  // namespace verify
