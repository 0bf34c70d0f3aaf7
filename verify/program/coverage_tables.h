// The states of objects, and the pairs and triples that no valid program can show. Internal to coverage.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "verify/program/coverage.h"
#include "verify/program/meetings.h"

namespace verify {

struct StateRow {
  Object object;
  StateMeaning state;
};

// The order within an object is that of the bits in its mask (see Tracker).
inline constexpr std::array kStates = {
    StateRow{Object::kGraph, {"graph: empty", "it has no node"}},
    StateRow{Object::kGraph, {"graph: with child graphs", "a node of it is a child graph"}},
    StateRow{Object::kGraph, {"graph: wide", "at least 16 nodes, fans counted"}},
    StateRow{Object::kGraph, {"graph: with old addresses", "a buffer that it names has moved and it was not patched"}},
    StateRow{Object::kGraph, {"graph: with executables", "it was instantiated, and the executable graph lives"}},
    StateRow{Object::kGraph, {"graph: while an executable of it runs", "one that was launched and not waited for"}},
    StateRow{Object::kGraph,
             {"graph: changed since it was instantiated", "a node or an edge was added, removed, set or patched"}},
    StateRow{Object::kGraph, {"graph: copied into another as a child", "hipGraphAddChildGraphNode took a copy of it"}},
    StateRow{Object::kGraph, {"graph: a clone", "hipGraphClone made it"}},
    StateRow{Object::kGraph, {"graph: nodes were removed", "hipGraphDestroyNode on a node of it"}},
    StateRow{Object::kGraph, {"graph: with memory nodes", "it allocates memory when it runs"}},
    StateRow{Object::kExec, {"exec: never launched", "instantiated, not launched yet"}},
    StateRow{Object::kExec, {"exec: running", "a launch of it was not waited for"}},
    StateRow{Object::kExec, {"exec: idle", "launched, and waited for"}},
    StateRow{Object::kExec, {"exec: with old addresses", "a buffer that it names has moved and it was not patched"}},
    StateRow{Object::kExec, {"exec: empty", "it has no node"}},
    StateRow{Object::kExec, {"exec: parameters were set", "by hipGraphExec*NodeSetParams"}},
    StateRow{Object::kExec, {"exec: was patched", "brought to other addresses in place"}},
    StateRow{Object::kExec, {"exec: was updated", "by hipGraphExecUpdate"}},
    StateRow{Object::kExec, {"exec: its graph is destroyed", "hipGraphDestroy on what it came from"}},
    StateRow{Object::kExec, {"exec: its graph changed since", "a node was added to it, set or patched"}},
    StateRow{Object::kExec, {"exec: one of several", "its graph has another living executable graph"}},
    StateRow{Object::kExec, {"exec: with disabled nodes", "hipGraphNodeSetEnabled"}},
    StateRow{Object::kExec, {"exec: its graph lost a node", "one that the executable graph was made with"}},
    StateRow{Object::kExec, {"exec: with memory that was not freed", "its last launch allocated it"}},
    StateRow{Object::kExec, {"exec: over another mapping", "what a view of it shows changed since its last launch"}},
    StateRow{Object::kStream, {"stream: null", "HIP's legacy null stream"}},
    StateRow{Object::kStream, {"stream: blocking", "created with hipStreamDefault"}},
    StateRow{Object::kStream, {"stream: non-blocking", "created with hipStreamNonBlocking"}},
    StateRow{Object::kStream, {"stream: with work", "a launch on it was not waited for"}},
    StateRow{Object::kStream, {"stream: without work", "all that was launched on it was waited for"}},
    StateRow{Object::kStream, {"stream: behind an event", "it was told to wait for one"}},
    StateRow{Object::kStream, {"stream: capturing", "it takes part in a capture that is valid"}},
    StateRow{Object::kStream, {"stream: in an invalid capture", "something that HIP forbids was done meanwhile"}},
    StateRow{Object::kStream, {"stream: of another device", "created while that one was current"}},
    StateRow{Object::kEvent, {"event: never recorded", "created, and nothing more"}},
    StateRow{Object::kEvent, {"event: recorded", "by hipEventRecord"}},
    StateRow{Object::kEvent, {"event: recorded again", "more than once"}},
    StateRow{Object::kEvent, {"event: waited for by a stream", "hipStreamWaitEvent"}},
    StateRow{Object::kEvent, {"event: recorded in a capture", "last, and the capture is open or over"}},
    StateRow{Object::kEvent, {"event: of another device", "created while that one was current"}},
    StateRow{Object::kBuffer, {"buffer: device memory", "hipMalloc"}},
    StateRow{Object::kBuffer, {"buffer: pinned memory", "hipHostMalloc"}},
    StateRow{Object::kBuffer, {"buffer: pageable memory", "the host's own"}},
    StateRow{Object::kBuffer, {"buffer: never moved", "it is where it was made"}},
    StateRow{Object::kBuffer, {"buffer: moved", "it was moved, contents and all"}},
    StateRow{Object::kBuffer, {"buffer: named by a graph", "a living graph or executable graph holds its address"}},
    StateRow{Object::kBuffer, {"buffer: in use by a launch", "that was not waited for"}},
    StateRow{Object::kBuffer, {"buffer: memory of a graph", "an allocation node made it"}},
    StateRow{Object::kBuffer, {"buffer: a variable", "of the device code, named by its symbol or its address"}},
    StateRow{Object::kBuffer, {"buffer: memory of a stream", "hipMallocAsync, from a pool, or `malloc`"}},
    StateRow{Object::kBuffer, {"buffer: of another device", "memory of a device that is not device 0"}},
    StateRow{Object::kBuffer, {"buffer: a view", "of a reserved range, whatever is mapped there"}},
    StateRow{Object::kBuffer, {"buffer: a view of shared memory", "its memory is mapped at another place, too"}},
    StateRow{Object::kRange, {"range: nothing is mapped", "no page of it has memory"}},
    StateRow{Object::kRange, {"range: with a mapping", "memory is mapped in it"}},
    StateRow{Object::kRange, {"range: mapped again", "something was unmapped in it before"}},
    StateRow{Object::kRange, {"range: with a view", "a buffer is a part of it"}},
    StateRow{Object::kRange, {"range: named by a graph", "a living graph or executable graph names a view of it"}},
    StateRow{Object::kRange, {"range: in use by a launch", "or by other work, that was not waited for"}},
    StateRow{Object::kRange, {"range: with shared memory", "some of its memory is mapped at another place, too"}},
    StateRow{Object::kRange, {"range: with released memory", "only the mapping holds some of its memory"}},
    StateRow{Object::kRange, {"range: while a stream captures", "the call makes no node"}},
    StateRow{Object::kRange, {"range: of another device", "reserved for memory of a device that is not device 0"}},
    StateRow{Object::kPhysical, {"physical: mapped nowhere", "no range shows it"}},
    StateRow{Object::kPhysical, {"physical: mapped", "at one place at least"}},
    StateRow{Object::kPhysical, {"physical: mapped twice", "at two places at least"}},
    StateRow{Object::kPhysical,
             {"physical: named by a graph", "a living graph or executable graph names a view that shows it"}},
    StateRow{Object::kPhysical, {"physical: with another handle", "`retain` got it"}},
    StateRow{Object::kPhysical, {"physical: of another device", "of a device that is not device 0"}},
};

inline constexpr auto kMeanings = [] {
  std::array<StateMeaning, kStates.size()> meanings{};
  for (std::size_t i = 0; i < kStates.size(); ++i) meanings[i] = kStates[i].state;
  return meanings;
}();

struct Impossible {
  std::string_view operation;  // a prefix of the operation's name
  std::string_view state;
  std::string_view why;
};

inline constexpr std::string_view kMemoryNodes = "HIP refuses it where there are memory nodes";
inline constexpr std::string_view kUnfreed =
    "the memory is freed first: a strategy that records again would leave it behind";
inline constexpr std::string_view kVariable = "it is where it is for as long as the program runs";
inline constexpr std::string_view kView = "its address is that of its range: memory is mapped and unmapped under it";
inline constexpr std::string_view kUnmapped = "all is unmapped, and waited for, before the addresses are given back";
inline constexpr std::string_view kNoNames = "HIP names an executable graph's nodes by those of its graph";

// Every row is a precondition of verify::State or the meaning of a word; a test runs programs against this list.
inline constexpr std::array kImpossible = {
    Impossible{"launch", "exec: with old addresses", "a launch has its buffers where they are"},
    Impossible{"instantiate", "graph: with old addresses", "a graph is patched before it is instantiated"},
    Impossible{"set exec child", "exec: empty", "there is no node to set"},
    Impossible{"set ", "exec: empty", "there is no node to set"},
    Impossible{"set ", "graph: empty", "there is no node to set"},
    Impossible{"dot", "graph: with child graphs", "how child graphs are printed is nowhere said"},
    Impossible{"find", "graph: empty", "there is no node to find"},
    Impossible{"edge", "graph: empty", "there is no node to join"},
    Impossible{"unedge", "graph: empty", "there is no edge to remove"},
    Impossible{"remove", "graph: empty", "there is no node to remove"},
    Impossible{"enable", "exec: empty", "there is no node to enable"},
    Impossible{"disable", "exec: empty", "there is no node to disable"},
    Impossible{"change what comes before on", "stream: null", "the null stream takes part in no capture"},
    Impossible{"change what comes before on", "stream: in an invalid capture", "its dependencies are not documented"},
    Impossible{"elapsed", "event: recorded in a capture", "what HIP answers is not documented"},
    Impossible{"destroy stream", "stream: null", "the null stream is never destroyed"},
    Impossible{"update from", "graph: with old addresses", "a graph is patched before something is updated from it"},
    Impossible{"add as a child", "graph: with old addresses", "a graph is patched before it becomes a child"},
    Impossible{"set exec", "exec: its graph is destroyed", kNoNames},
    Impossible{"enable", "exec: its graph is destroyed", kNoNames},
    Impossible{"disable", "exec: its graph is destroyed", kNoNames},
    Impossible{"inspect exec", "exec: its graph is destroyed", kNoNames},
    Impossible{"add as a child", "graph: with memory nodes", kMemoryNodes},
    Impossible{"clone", "graph: with memory nodes", kMemoryNodes},
    Impossible{"unedge", "graph: with memory nodes", kMemoryNodes},
    Impossible{"remove", "graph: with memory nodes", kMemoryNodes},
    Impossible{"update from", "graph: with memory nodes", "what an update does with memory nodes is not documented"},
    Impossible{"patch exec", "exec: with memory that was not freed", kUnfreed},
    Impossible{"set exec", "exec: with memory that was not freed", kUnfreed},
    Impossible{"update", "exec: with memory that was not freed", kUnfreed},
    Impossible{"move", "buffer: memory of a graph", "where it is is the runtime's business"},
    Impossible{"write", "buffer: memory of a graph", "nodes and streams write it"},
    Impossible{"free_async", "buffer: pinned memory", "what graphs and streams allocate is a device's"},
    Impossible{"free_async", "buffer: pageable memory", "what graphs and streams allocate is a device's"},
    Impossible{"free_async", "buffer: moved", "what graphs and streams allocate is never moved"},
    Impossible{"move", "buffer: memory of a stream", "where it is is the runtime's business"},
    Impossible{"copy attributes from", "graph: empty", "there is no node that has any"},
    Impossible{"move", "buffer: a variable", kVariable},
    Impossible{"free", "buffer: a variable", kVariable},
    Impossible{"free_async", "buffer: of another device", "what graphs and streams allocate is device 0's"},
    Impossible{"move", "buffer: a view", kView},
    Impossible{"free", "buffer: a view", kView},
    Impossible{"move", "buffer: a view of shared memory", kView},
    Impossible{"free", "buffer: a view of shared memory", kView},
    Impossible{"unreserve", "range: with a mapping", kUnmapped},
    Impossible{"unreserve", "range: with shared memory", kUnmapped},
    Impossible{"unreserve", "range: with released memory", kUnmapped},
    Impossible{"unreserve", "range: in use by a launch", kUnmapped},
    Impossible{"unmap", "range: nothing is mapped", "there is no mapping to take away"},
    Impossible{"retain", "range: nothing is mapped", "there is no mapping whose memory gets a handle"},
    Impossible{"access", "range: nothing is mapped", "there is no mapping to which a device gets a right"},
    Impossible{"allocate on", "stream: of another device", "what graphs and streams allocate is device 0's"},
    Impossible{"free memory on", "stream: of another device", "what graphs and streams allocate is device 0's"},
};

inline std::string_view why_not(std::string_view operation, std::string_view state) {
  for (const Impossible& row : kImpossible) {
    if (operation.starts_with(row.operation) && state == row.state) return row.why;
  }
  return {};
}

// A state that cannot follow another one of the same object.
struct Excluded {
  std::string_view before, state;
};

inline constexpr std::array kExcluded = {
    Excluded{"exec: running", "exec: never launched"},
    Excluded{"exec: idle", "exec: never launched"},
    Excluded{"stream: null", "stream: blocking"},
    Excluded{"stream: null", "stream: non-blocking"},
    Excluded{"stream: blocking", "stream: null"},
    Excluded{"stream: blocking", "stream: non-blocking"},
    Excluded{"stream: non-blocking", "stream: null"},
    Excluded{"stream: non-blocking", "stream: blocking"},
    Excluded{"stream: of another device", "stream: null"},
    Excluded{"stream: null", "stream: of another device"},
    Excluded{"event: recorded", "event: never recorded"},
    Excluded{"event: recorded again", "event: never recorded"},
    Excluded{"buffer: device memory", "buffer: pinned memory"},
    Excluded{"buffer: device memory", "buffer: pageable memory"},
    Excluded{"buffer: pinned memory", "buffer: device memory"},
    Excluded{"buffer: pinned memory", "buffer: pageable memory"},
    Excluded{"buffer: pageable memory", "buffer: device memory"},
    Excluded{"buffer: pageable memory", "buffer: pinned memory"},
    Excluded{"buffer: moved", "buffer: never moved"},
    Excluded{"buffer: a view", "buffer: moved"},
};

inline bool excluded(std::string_view before, std::string_view state) {
  return std::ranges::any_of(kExcluded,
                             [&](const Excluded& row) { return row.before == before && row.state == state; });
}

}  // namespace verify
