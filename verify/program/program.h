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

namespace verify {

using Id = std::uint32_t;

// Bounds on what one program may ask for; the parser and the validator name them when they are passed.
inline constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{1} << 28;
inline constexpr std::uint32_t kMaxId = 9999;
inline constexpr std::uint32_t kMaxFan = 20000;
inline constexpr std::uint32_t kMaxNest = 64;                          // child graphs within child graphs, in all
inline constexpr std::uint64_t kMaxInstances = 65536;                  // nodes of one graph, fans and children counted
inline constexpr std::uint64_t kMaxProducts = std::uint64_t{1} << 20;  // multiplications of one matrix kernel
inline constexpr std::uint32_t kMaxRepeat = 1000000;
inline constexpr std::size_t kMaxCommands = 100000;

enum class Placement : std::uint8_t { kArena, kNative };
enum class MemoryKind : std::uint8_t { kDevice, kPinned, kPageable };
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
  const KernelSpec* kernel = nullptr;    // of the catalogue
  std::vector<ArgumentValue> arguments;  // one per field of the spec, in its order
  std::uint32_t grid = 1;                // workgroups
  std::uint32_t block = 64;              // work items a workgroup
  ArgumentStyle style = ArgumentStyle::kParams;
  bool opaque = false;  // recorded by somebody who cannot say where its pointers are
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

struct CopyParams {
  CopyEnd dst, src;
  CopyKind kind = CopyKind::kDefault;
  bool linear = true;  // the 1D form: width bytes
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

using NodeParams = std::variant<KernelParams, CopyParams, MemsetParams, HostParams, EmptyParams, ChildParams>;

// ---- commands

struct DeclareBuffer {
  Id buffer = 0;
  std::uint64_t bytes = 0;
  MemoryKind memory = MemoryKind::kDevice;
  bool operator==(const DeclareBuffer&) const = default;
};
struct DeclareGraph {
  Id graph = 0;
  bool operator==(const DeclareGraph&) const = default;
};
struct DeclareStream {
  Id stream = 0;
  bool non_blocking = false;
  bool operator==(const DeclareStream&) const = default;
};
struct DeclareEvent {
  Id event = 0;
  bool operator==(const DeclareEvent&) const = default;
};

struct AddNode {
  Id graph = 0;
  Id node = 0;
  NodeParams params;
  std::vector<Id> after;
  std::uint32_t fan = 1;  // that many unordered nodes; written pointers advance by what each writes
  bool operator==(const AddNode&) const = default;
};
struct Instantiate {
  Id exec = 0;
  Id graph = 0;
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
struct Read {
  Id buffer = 0;
  bool operator==(const Read&) const = default;
};
struct Write {
  Id buffer = 0;
  std::uint64_t seed = 0;
  bool operator==(const Write&) const = default;
};
struct Free {
  Id buffer = 0;
  bool operator==(const Free&) const = default;
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

using Command =
    std::variant<DeclareBuffer, DeclareGraph, DeclareStream, DeclareEvent, AddNode, Instantiate, Launch, MoveBuffers,
                 Patch, SetNode, Update, Synchronize, RecordEvent, WaitEvent, Read, Write, Free, Destroy, Fail>;

struct Step {
  Command command;
  std::uint32_t repeat = 1;
  std::uint32_t line = 0;  // of the text it came from; 0 when it was generated
  // Where it was written is no part of what it means.
  bool operator==(const Step& other) const { return command == other.command && repeat == other.repeat; }
};

struct Program {
  Placement placement = Placement::kArena;
  std::vector<Step> steps;
  bool operator==(const Program&) const = default;
};

// How many commands a person has to read: declarations of buffers, graphs, streams and events, and reads, are left out.
[[nodiscard]] std::uint64_t counted_commands(const Program& program);

// The stream that exists without declaration: HIP's null stream.
inline constexpr Id kNullStream = 0;

}  // namespace verify
