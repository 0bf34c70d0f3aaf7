// The executor's state of a program's graphs and executable graphs: the runtime's handles and the recordings that they
// were made from. Plain data; the strategies of verify/execute/strategy.h act on it.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hip/home_stream.h"
#include "hip/recording.h"
#include "hip/release_quirks.h"
#include "verify/execute/interposer.h"
#include "verify/execute/observation.h"
#include "verify/execute/patcher.h"
#include "verify/program/program.h"

namespace verify {

class MappedAllocations;

// The instances in the recording that a program's node stands for (several for a fan).
struct NodePlace {
  Id id = 0;
  hip::NodeIndex first = 0;
  std::uint32_t fan = 1;
};

// The place of a program's node; a node that could not be added has no instances.
[[nodiscard]] NodePlace place_of(const std::vector<NodePlace>& places, Id node);

struct GraphObject {
  Id id = 0;
  bool alive = false;
  bool spoiled = false;  // a capture into this graph failed: its topology is not observed
  // A capture into this graph failed on the per-thread stream: the runtime may have destroyed the graph.
  bool maybe_gone = false;
  hip::Recording recording;
  hip::RecordedGraph handles;
  hip::AddressTable addresses;  // at which it was recorded, by buffer id
  std::vector<NodePlace> places;
  std::unique_ptr<ExecPatcher> patcher;  // of its definition; made when first needed, dropped when nodes are added
  bool edited = false;                   // its nodes were set or patched
  std::map<hipUserObject_t, std::uint32_t> held_objects;  // with reference counts; its executable graphs hold them, too
};

// The shape in which an executable graph was recorded. In each shape its handles name the nodes of the recording; a
// flattened child has no handle.
enum class ExecShape : std::uint8_t { kAsItIs, kChained, kFlat };

struct ExecObject {
  Id id = 0;
  Id origin = 0;  // the graph it was instantiated from
  bool alive = false;
  hipGraphExec_t exec = nullptr;
  hip::Recording recording;
  hip::RecordedGraph handles;  // its nodes name the nodes of `exec`; the graph is null when it was destroyed
  bool owned = false;          // the graph was recorded again for this executable graph alone
  hip::AddressTable addresses;
  std::vector<NodePlace> places;
  std::unique_ptr<ExecPatcher> patcher;
  std::unique_ptr<ExecPatcher> stable;  // launches in place of `exec`, where a strategy does not launch `exec` directly
  ExecShape shape = ExecShape::kAsItIs;
  // The nodes that stand for one node, where several of its type do; the handle of that node is null.
  std::map<hip::NodeIndex, std::vector<hipGraphNode_t>> stand_ins;
  hipGraphExec_t anchor = nullptr;  // never launched: holds the user objects of the program's graph
  InstantiateForm form = InstantiateForm::kPlain;
  std::uint32_t flags = 0;
  std::set<hip::NodeIndex> disabled;
  // These nodes were removed from the original graph, or the graph was destroyed: the handles are not valid unless
  // `owned`.
  std::set<hip::NodeIndex> removed;
};

// The recording of an executable graph of the program, recorded and instantiated once more.
struct OwnGraph {
  hip::RecordedGraph recorded;
  hipGraphExec_t exec = nullptr;
};

// A step of a library's command buffer (hip/patcher_abi.h, version 2), where commands have changed in addresses only
// since the library recorded last: the commands, and where the buffers were in the step before and in this one.
struct LibraryStep {
  hip::Recording recording;
  hip::AddressTable before, now;
};

// The executor's functions, addresses and notes that strategies work with.
struct StrategyContext {
  const hip::Api& api;  // the interposer's table
  Interposer& interposer;
  const PatcherFactory& patchers;
  bool poison = false;
  const hip::AddressTable& addresses;  // where the buffers are now
  std::vector<std::uint64_t> buffer_bytes{};
  std::vector<hip::BufferMemory> memory{};  // of the buffers that the program declared, by id
  bool capturing = false;                   // a stream captured when the running command began
  // Recordings that were handed to a patcher and then overwritten; kept so that a stale reference reads poison.
  std::vector<std::unique_ptr<hip::Recording>> passed{};
  // Graphs whose definition was recorded again: executable graphs may still name their nodes by the old handles.
  std::vector<hipGraph_t> retired{};
  std::string unsupported{};  // the first function that was needed and that the runtime lacks
  // Patchers of executable graphs that were destroyed while a stream captured: freed when no stream captures.
  std::vector<std::unique_ptr<ExecPatcher>> leftovers{};
  // Executable graphs that were made for one launch each, with their graphs. They may still run, and are destroyed when
  // the program has waited for all devices and no stream captures (destroy_launched).
  std::vector<OwnGraph> launched_once{};
  bool error_reported = false;                    // this command had an error that did not make it fail
  Id devices = 1;                                 // that the program has
  std::vector<Id> buffer_devices{};               // by buffer id
  std::map<int, hip::HomeStream> home_streams{};  // by device; for strategies that launch on them
  StepCounts steps{};                             // of command buffers
  std::optional<LibraryStep> library_step{};      // that the running command launched
  // Where the program's buffers of device memory are, if they are mapped; null: they are not.
  MappedAllocations* mapped = nullptr;
  std::uint64_t most_buffer_bytes = 0;  // of a buffer of device memory that the program declares
};

// Notes in the context that the runtime lacks a function that the program needs, and returns the error for it.
[[nodiscard]] hip::Error lacking(StrategyContext& context, const char* function);

}  // namespace verify
