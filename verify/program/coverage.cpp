#include "verify/program/coverage.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <map>

#include "verify/program/meetings.h"
#include "verify/program/state.h"

namespace verify {

namespace {

struct StateRow {
  Object object;
  StateMeaning state;
};

// The order within an object is that of the bits in its mask (see Tracker).
constexpr std::array kStates = {
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
};

constexpr auto kMeanings = [] {
  std::array<StateMeaning, kStates.size()> meanings{};
  for (std::size_t i = 0; i < kStates.size(); ++i) meanings[i] = kStates[i].state;
  return meanings;
}();

struct Impossible {
  std::string_view operation;  // a prefix of the operation's name
  std::string_view state;
  std::string_view why;
};

constexpr std::string_view kMemoryNodes = "HIP refuses it where there are memory nodes";
constexpr std::string_view kUnfreed = "the memory is freed first: a strategy that records again would leave it behind";
constexpr std::string_view kVariable = "it is where it is for as long as the program runs";
constexpr std::string_view kNoNames = "HIP names an executable graph's nodes by those of its graph";

// Every row is a precondition of verify::State or the meaning of a word; a test runs programs against this list.
constexpr std::array kImpossible = {
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
    Impossible{"allocate on", "stream: of another device", "what graphs and streams allocate is device 0's"},
    Impossible{"free memory on", "stream: of another device", "what graphs and streams allocate is device 0's"},
};

std::string_view why_not(std::string_view operation, std::string_view state) {
  for (const Impossible& row : kImpossible) {
    if (operation.starts_with(row.operation) && state == row.state) return row.why;
  }
  return {};
}

// A state that cannot follow another one of the same object.
struct Excluded {
  std::string_view before, state;
};

constexpr std::array kExcluded = {
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
};

bool excluded(std::string_view before, std::string_view state) {
  return std::ranges::any_of(kExcluded,
                             [&](const Excluded& row) { return row.before == before && row.state == state; });
}

// The places of an operation's first pair and first triple.
struct First {
  std::size_t pair = 0, triple = 0, states = 0;
};

// All pairs, in the order of operations, and of each pair the triples.
struct Layout {
  std::vector<CoveragePair> pairs;
  std::vector<CoverageTriple> triples;
  std::map<std::string, First, std::less<>> first;

  Layout() {
    for (const Meeting& operation : operations()) {
      First& at = first[operation.operation];
      at.pair = pairs.size();
      for (const StateRow& row : kStates) {
        if (row.object != operation.object) continue;
        pairs.push_back(
            {operation.operation, std::string(row.state.name), why_not(operation.operation, row.state.name)});
      }
      at.states = pairs.size() - at.pair;
    }
    for (const Meeting& operation : operations()) add_triples(first[operation.operation]);
  }

  void add_triples(First& at) {
    at.triple = triples.size();
    for (std::size_t state = 0; state < at.states; ++state) {
      const CoveragePair& pair = pairs[at.pair + state];
      for (std::size_t before = 0; before < at.states; ++before) {
        const std::string& name = pairs[at.pair + before].state;
        triples.push_back({&pair, name, !pair.why_not.empty() || excluded(name, pair.state)});
      }
    }
  }
};

const Layout& layout() {
  static const Layout made;
  return made;
}

// Facts that State does not remember, because no precondition needs them.
struct GraphNotes {
  std::uint64_t changes = 0;
  bool copied = false;
};
struct ExecNotes {
  std::uint64_t changes_then = 0;  // GraphNotes::changes of its graph when it was instantiated
  bool launched = false, set = false, patched = false, updated = false;
};
struct StreamNotes {
  bool non_blocking = false, waited = false;
};
struct EventNotes {
  std::uint32_t recorded = 0;
  bool waited = false;
};

class Tracker {
 public:
  Tracker(std::span<std::uint64_t> counts, std::vector<std::uint32_t>* triples) : counts_(counts), triples_(triples) {}

  void take(const Command& command) {
    const std::vector<Meeting> meetings = meetings_of(command);
    std::vector<std::pair<Named, Mask>> now;
    for (const Meeting& met : meetings) {
      if (met.operation.empty()) continue;
      now.emplace_back(Named{met.object, met.id}, states(met.object, met.id));
      count(met.operation, now.back().second, before_[now.back().first]);
    }
    for (const auto& [object, mask] : now) before_[object] = mask;
    state_.apply(command);
    for (const Meeting& met : meetings) leave(met.leaves, met.id);
    if (const auto* declared = std::get_if<DeclareStream>(&command)) {
      streams_[declared->stream].non_blocking = declared->non_blocking;
    }
  }

 private:
  using Mask = std::uint32_t;
  using Named = std::pair<Object, Id>;

  void count(std::string_view operation, Mask mask, Mask before) {
    const auto found = layout().first.find(operation);
    assert(found != layout().first.end());
    const First& first = found->second;
    for (std::size_t state = 0; mask >> state != 0; ++state) {
      if ((mask >> state & 1U) == 0) continue;
      ++counts_[first.pair + state];
      if (triples_ != nullptr) note(first.triple + state * first.states, before);
    }
  }
  void note(std::size_t first, Mask before) {
    for (; before != 0; before &= before - 1) {
      triples_->push_back(static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(std::countr_zero(before)));
    }
  }
  static Mask bits(std::initializer_list<bool> states) {
    Mask mask = 0;
    unsigned bit = 0;
    for (const bool state : states) mask |= Mask{state} << bit++;
    return mask;
  }

  [[nodiscard]] std::size_t executables(Id graph, bool running) const {
    std::size_t count = 0;
    for (const auto& [id, exec] : state_.execs()) {
      if (exec.alive && exec.origin == graph && (!running || state_.exec_running(id))) ++count;
    }
    return count;
  }

  // ---- the states of each object, in the order of kStates

  [[nodiscard]] Mask graph(Id id) const {
    const GraphState& graph = *state_.graph(id);
    const auto notes = graphs_.find(id);
    bool children = false, changed = false;
    std::uint64_t nodes = 0;
    for (const NodeState& node : graph.nodes) {
      nodes += node.fan;
      children = children || node.child != nullptr;
    }
    for (const auto& [exec_id, exec] : state_.execs()) {
      const auto known = execs_.find(exec_id);
      changed = changed || (exec.alive && exec.origin == id && known != execs_.end() && notes != graphs_.end() &&
                            known->second.changes_then != notes->second.changes);
    }
    return bits({graph.nodes.empty(), children, nodes >= kWide, !state_.current(graph), executables(id, false) != 0,
                 executables(id, true) != 0, changed, notes != graphs_.end() && notes->second.copied, graph.cloned,
                 !graph.removed.empty(), graph.has_memory});
  }
  [[nodiscard]] Mask exec(Id id) const {
    const ExecState& exec = *state_.exec(id);
    const auto found = execs_.find(id);
    const ExecNotes notes = found == execs_.end() ? ExecNotes{} : found->second;
    const auto origin = graphs_.find(exec.origin);
    const bool running = state_.exec_running(id);
    bool disabled = false;
    for (const NodeState& node : exec.graph.nodes) disabled = disabled || !node.enabled;
    return bits({!notes.launched, running, notes.launched && !running, !state_.current(exec.graph),
                 exec.graph.nodes.empty(), notes.set, notes.patched, notes.updated, !state_.graph(exec.origin)->alive,
                 origin != graphs_.end() && origin->second.changes != notes.changes_then,
                 executables(exec.origin, false) > 1, disabled, !exec.gone.empty(), state_.unfreed_memory(exec.graph)});
  }
  [[nodiscard]] Mask stream(Id id) const {
    const auto found = streams_.find(id);
    const StreamNotes notes = found == streams_.end() ? StreamNotes{} : found->second;
    const bool busy = state_.stream_busy(id);
    const CaptureState* capture = state_.capture_of(id);
    return bits({id == kNullStream, id != kNullStream && !notes.non_blocking, notes.non_blocking, busy, !busy,
                 notes.waited, capture != nullptr && capture->valid, capture != nullptr && !capture->valid,
                 state_.device_of_stream(id) != 0});
  }
  [[nodiscard]] Mask event(Id id) const {
    const auto found = events_.find(id);
    const EventNotes notes = found == events_.end() ? EventNotes{} : found->second;
    return bits({notes.recorded == 0, notes.recorded != 0, notes.recorded > 1, notes.waited, state_.event_captured(id),
                 state_.device_of_event(id) != 0});
  }
  [[nodiscard]] Mask buffer(Id id) const {
    const BufferState& buffer = *state_.buffer(id);
    bool named = false;
    for (const auto& [graph_id, graph] : state_.graphs())
      named = named || (graph.alive && graph.addresses.contains(id));
    for (const auto& [exec_id, exec] : state_.execs()) {
      named = named || (exec.alive && exec.graph.addresses.contains(id));
    }
    return bits({buffer.memory == MemoryKind::kDevice, buffer.memory == MemoryKind::kPinned,
                 buffer.memory == MemoryKind::kPageable, buffer.version == 0, buffer.version != 0, named,
                 state_.buffer_in_use(id), buffer.graph.has_value(), buffer.symbol.has_value(), buffer.of_stream,
                 buffer.device != 0});
  }

  [[nodiscard]] Mask states(Object object, Id id) const {
    switch (object) {
      case Object::kGraph:
        return graph(id);
      case Object::kExec:
        return exec(id);
      case Object::kStream:
        return stream(id);
      case Object::kEvent:
        return event(id);
      case Object::kBuffer:
        return buffer(id);
    }
    return 0;
  }
  void leave(Leaves leaves, Id id) {
    switch (leaves) {
      case Leaves::kNothing:
        break;
      case Leaves::kGraphChanged:
        ++graphs_[id].changes;
        break;
      case Leaves::kCopied:
        graphs_[id].copied = true;
        break;
      case Leaves::kInstantiated:
        execs_[id].changes_then = graphs_[state_.exec(id)->origin].changes;
        break;
      case Leaves::kLaunched:
        execs_[id].launched = true;
        break;
      case Leaves::kNodesSet:
        execs_[id].set = true;
        break;
      case Leaves::kPatched:
        execs_[id].patched = true;
        break;
      case Leaves::kUpdated:
        execs_[id].updated = true;
        break;
      case Leaves::kRecorded:
        ++events_[id].recorded;
        break;
      case Leaves::kWaitedFor:
        events_[id].waited = true;
        break;
      case Leaves::kBehindAnEvent:
        streams_[id].waited = true;
        break;
    }
  }

  static constexpr std::uint64_t kWide = 16;  // with this many nodes 7.2.4 spreads a graph over several streams

  std::span<std::uint64_t> counts_;
  std::vector<std::uint32_t>* triples_;
  State state_;
  std::map<Named, Mask> before_;  // 0: the object was not met yet
  std::map<Id, GraphNotes> graphs_;
  std::map<Id, ExecNotes> execs_;
  std::map<Id, StreamNotes> streams_;
  std::map<Id, EventNotes> events_;
};

}  // namespace

std::span<const CoveragePair> coverage_pairs() {
  return layout().pairs;
}

std::span<const CoverageTriple> coverage_triples() {
  return layout().triples;
}

std::string name_of(const CoverageTriple& triple) {
  return triple.pair->operation + " with " + triple.pair->state + ", after " + std::string(triple.before);
}

std::span<const StateMeaning> object_states() {
  return kMeanings;
}

void count_pairs(const Program& program, std::span<std::uint64_t> counts, std::vector<std::uint32_t>* triples) {
  assert(counts.size() == coverage_pairs().size());
  Tracker tracker(counts, triples);
  for (const Step& step : program.steps) {
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) tracker.take(step.command);
  }
}

}  // namespace verify
