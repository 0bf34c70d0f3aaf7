#include "verify/program/coverage.h"

#include <array>
#include <cassert>
#include <map>
#include <set>

#include "verify/program/state.h"
#include "verify/program/text.h"

namespace verify {

namespace {

enum class Object : std::uint8_t { kGraph, kExec, kStream, kEvent, kBuffer };

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
    StateRow{Object::kBuffer, {"buffer: memory of a stream", "hipMallocAsync, or from a pool"}},
    StateRow{Object::kBuffer, {"buffer: of another device", "memory of a device that is not device 0"}},
};

constexpr auto kMeanings = [] {
  std::array<StateMeaning, kStates.size()> meanings{};
  for (std::size_t i = 0; i < kStates.size(); ++i) meanings[i] = kStates[i].state;
  return meanings;
}();

struct OperationRow {
  std::string_view name;
  Object object;
};

constexpr std::array kOperations = {
    OperationRow{"add kernel", Object::kGraph},
    OperationRow{"add memcpy", Object::kGraph},
    OperationRow{"add memcpy3d", Object::kGraph},
    OperationRow{"add memset", Object::kGraph},
    OperationRow{"add host", Object::kGraph},
    OperationRow{"add empty", Object::kGraph},
    OperationRow{"add child", Object::kGraph},
    OperationRow{"add eventrecord", Object::kGraph},
    OperationRow{"add eventwait", Object::kGraph},
    OperationRow{"add alloc", Object::kGraph},
    OperationRow{"add free", Object::kGraph},
    OperationRow{"add as a child", Object::kGraph},
    OperationRow{"instantiate", Object::kGraph},
    OperationRow{"patch graph", Object::kGraph},
    OperationRow{"set graph kernel", Object::kGraph},
    OperationRow{"set graph memcpy", Object::kGraph},
    OperationRow{"set graph memcpy3d", Object::kGraph},
    OperationRow{"set graph memset", Object::kGraph},
    OperationRow{"set graph host", Object::kGraph},
    OperationRow{"set graph eventrecord", Object::kGraph},
    OperationRow{"set graph eventwait", Object::kGraph},
    OperationRow{"update from", Object::kGraph},
    OperationRow{"destroy graph", Object::kGraph},
    OperationRow{"clone", Object::kGraph},
    OperationRow{"find", Object::kGraph},
    OperationRow{"edge", Object::kGraph},
    OperationRow{"unedge", Object::kGraph},
    OperationRow{"remove", Object::kGraph},
    OperationRow{"inspect graph", Object::kGraph},
    OperationRow{"retain into", Object::kGraph},
    OperationRow{"release from", Object::kGraph},
    OperationRow{"dot", Object::kGraph},
    OperationRow{"set attributes in", Object::kGraph},
    OperationRow{"copy attributes from", Object::kGraph},
    OperationRow{"launch", Object::kExec},
    OperationRow{"patch exec", Object::kExec},
    OperationRow{"set exec kernel", Object::kExec},
    OperationRow{"set exec memcpy", Object::kExec},
    OperationRow{"set exec memcpy3d", Object::kExec},
    OperationRow{"set exec memset", Object::kExec},
    OperationRow{"set exec host", Object::kExec},
    OperationRow{"set exec eventrecord", Object::kExec},
    OperationRow{"set exec eventwait", Object::kExec},
    OperationRow{"set exec child", Object::kExec},
    OperationRow{"update", Object::kExec},
    OperationRow{"destroy exec", Object::kExec},
    OperationRow{"enable", Object::kExec},
    OperationRow{"disable", Object::kExec},
    OperationRow{"upload", Object::kExec},
    OperationRow{"inspect exec", Object::kExec},
    OperationRow{"launch on", Object::kStream},
    OperationRow{"sync stream", Object::kStream},
    OperationRow{"record on", Object::kStream},
    OperationRow{"wait", Object::kStream},
    OperationRow{"destroy stream", Object::kStream},
    OperationRow{"give work to", Object::kStream},
    OperationRow{"free memory on", Object::kStream},
    OperationRow{"allocate on", Object::kStream},
    OperationRow{"query stream", Object::kStream},
    OperationRow{"begin capture on", Object::kStream},
    OperationRow{"end capture on", Object::kStream},
    OperationRow{"ask for the capture of", Object::kStream},
    OperationRow{"change what comes before on", Object::kStream},
    OperationRow{"record", Object::kEvent},
    OperationRow{"wait for", Object::kEvent},
    OperationRow{"sync event", Object::kEvent},
    OperationRow{"destroy event", Object::kEvent},
    OperationRow{"query event", Object::kEvent},
    OperationRow{"elapsed", Object::kEvent},
    OperationRow{"move", Object::kBuffer},
    OperationRow{"read", Object::kBuffer},
    OperationRow{"write", Object::kBuffer},
    OperationRow{"free", Object::kBuffer},
    OperationRow{"free_async", Object::kBuffer},
    OperationRow{"name in a node", Object::kBuffer},
};

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
    Impossible{"patch exec", "exec: its graph is destroyed", kNoNames},
    Impossible{"set exec", "exec: its graph is destroyed", kNoNames},
    Impossible{"update", "exec: its graph is destroyed", kNoNames},
    Impossible{"enable", "exec: its graph is destroyed", kNoNames},
    Impossible{"disable", "exec: its graph is destroyed", kNoNames},
    Impossible{"inspect exec", "exec: its graph is destroyed", kNoNames},
    Impossible{"add as a child", "graph: with memory nodes", kMemoryNodes},
    Impossible{"clone", "graph: with memory nodes", kMemoryNodes},
    Impossible{"unedge", "graph: with memory nodes", kMemoryNodes},
    Impossible{"remove", "graph: with memory nodes", kMemoryNodes},
    Impossible{"update from", "graph: with memory nodes", "what an update does with memory nodes is not documented"},
    Impossible{"add free", "graph: empty", "nothing is allocated there"},
    Impossible{"add free", "graph: with executables", "they leave the memory to others to free"},
    Impossible{"add free", "graph: while an executable of it runs", "they leave the memory to others to free"},
    Impossible{"add free", "graph: changed since it was instantiated", "they leave the memory to others to free"},
    Impossible{"patch exec", "exec: with memory that was not freed", kUnfreed},
    Impossible{"set exec", "exec: with memory that was not freed", kUnfreed},
    Impossible{"update", "exec: with memory that was not freed", kUnfreed},
    Impossible{"destroy exec", "exec: with memory that was not freed", kUnfreed},
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

// Where an operation's pairs begin, and where the states of an object do.
struct Layout {
  std::vector<CoveragePair> pairs;
  std::map<std::string_view, std::pair<std::size_t, Object>> first;
};

const Layout& layout() {
  static const Layout made = [] {
    Layout result;
    for (const OperationRow& operation : kOperations) {
      result.first[operation.name] = {result.pairs.size(), operation.object};
      for (const StateRow& row : kStates) {
        if (row.object != operation.object) continue;
        result.pairs.push_back(
            {std::string(operation.name), std::string(row.state.name), why_not(operation.name, row.state.name)});
      }
    }
    return result;
  }();
  return made;
}

// What State does not remember because no precondition asks for it.
struct GraphNotes {
  std::uint64_t changes = 0;
  bool copied = false;
};
struct ExecNotes {
  std::uint64_t changes_then = 0;  // of its graph, when it was instantiated
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
  explicit Tracker(std::span<std::uint64_t> counts) : counts_(counts) {}

  void take(const Command& command) {
    std::visit([this](const auto& c) { meet(c); }, command);
    state_.apply(command);
    std::visit([this](const auto& c) { note(c); }, command);
  }

 private:
  using Mask = std::uint32_t;

  void count(std::string_view operation, Mask mask) {
    const auto found = layout().first.find(operation);
    assert(found != layout().first.end());
    for (std::size_t at = found->second.first; mask != 0; mask >>= 1, ++at) counts_[at] += mask & 1U;
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

  // ---- what an operation meets

  void meet(const AddNode& c) {
    count(add_word(c.params), graph(c.graph));
    if (const auto* child = std::get_if<ChildParams>(&c.params)) count("add as a child", graph(child->graph));
    meet_buffers(c.params);
  }
  void meet_buffers(const NodeParams& params) {
    std::set<Id> seen;
    for_each_ref(params, [&](const BufferRef& ref) {
      if (seen.insert(ref.buffer).second) count("name in a node", buffer(ref.buffer));
    });
  }
  void meet(const Instantiate& c) { count("instantiate", graph(c.graph)); }
  void meet(const Launch& c) {
    count("launch", exec(c.exec));
    count("launch on", stream(c.stream));
  }
  void meet(const MoveBuffers& c) {
    for (const BufferMove& move : c.moves) count("move", buffer(move.buffer));
  }
  void meet(const Patch& c) {
    if (c.target == Target::kGraph) return count("patch graph", graph(c.id));
    count("patch exec", exec(c.id));
  }
  void meet(const SetNode& c) {
    count(set_word(c.target == Target::kExec, c.params), c.target == Target::kExec ? exec(c.id) : graph(c.id));
    meet_buffers(c.params);
  }
  void meet(const Update& c) {
    count("update", exec(c.exec));
    count("update from", graph(c.graph));
  }
  void meet(const Synchronize& c) {
    if (c.target == Target::kStream) count("sync stream", stream(c.id));
    if (c.target == Target::kEvent) count("sync event", event(c.id));
  }
  void meet(const RecordEvent& c) {
    count("record", event(c.event));
    count("record on", stream(c.stream));
  }
  void meet(const WaitEvent& c) {
    count("wait", stream(c.stream));
    count("wait for", event(c.event));
  }
  void meet(const Enqueue& c) {
    count("give work to", stream(c.stream));
    meet_buffers(c.params);
  }
  void meet(const Query& c) {
    if (c.target == Target::kStream) return count("query stream", stream(c.id));
    count("query event", event(c.id));
  }
  void meet(const Elapsed& c) {
    count("elapsed", event(c.from));
    count("elapsed", event(c.to));
  }
  void meet(const BeginCapture& c) { count("begin capture on", stream(c.stream)); }
  void meet(const EndCapture& c) { count("end capture on", stream(c.stream)); }
  void meet(const CaptureInfo& c) { count("ask for the capture of", stream(c.stream)); }
  void meet(const CaptureAfter& c) { count("change what comes before on", stream(c.stream)); }
  void meet(const Read& c) { count("read", buffer(c.buffer)); }
  void meet(const Write& c) { count("write", buffer(c.buffer)); }
  void meet(const Free& c) { count("free", buffer(c.buffer)); }
  void meet(const FreeAsync& c) {
    count("free_async", buffer(c.buffer));
    count("free memory on", stream(c.stream));
  }
  void meet(const MallocAsync& c) { count("allocate on", stream(c.stream)); }
  void meet(const Destroy& c) {
    if (c.target == Target::kGraph) count("destroy graph", graph(c.id));
    if (c.target == Target::kExec) count("destroy exec", exec(c.id));
    if (c.target == Target::kStream) count("destroy stream", stream(c.id));
    if (c.target == Target::kEvent) count("destroy event", event(c.id));
  }
  void meet(const CloneGraph& c) { count("clone", graph(c.from)); }
  void meet(const FindInClone& c) { count("find", graph(c.graph)); }
  void meet(const ChangeEdges& c) { count(c.add ? "edge" : "unedge", graph(c.graph)); }
  void meet(const RemoveNode& c) { count("remove", graph(c.graph)); }
  void meet(const EnableNode& c) { count(c.enabled ? "enable" : "disable", exec(c.exec)); }
  void meet(const Upload& c) { count("upload", exec(c.exec)); }
  void meet(const Inspect& c) {
    if (c.target == Target::kGraph) return count("inspect graph", graph(c.id));
    count("inspect exec", exec(c.id));
  }
  void meet(const RetainUserObject& c) { count("retain into", graph(c.graph)); }
  void meet(const ReleaseUserObject& c) {
    if (c.graph) count("release from", graph(*c.graph));
  }
  void meet(const PrintDot& c) { count("dot", graph(c.graph)); }
  void meet(const SetAttributes& c) { count("set attributes in", graph(c.graph)); }
  void meet(const CopyAttributes& c) { count("copy attributes from", graph(c.from)); }
  template <class Declaration>
  void meet(const Declaration&) {}  // what is new meets nothing

  // ---- what it leaves behind

  void note(const AddNode& c) {
    ++graphs_[c.graph].changes;
    if (const auto* child = std::get_if<ChildParams>(&c.params)) graphs_[child->graph].copied = true;
  }
  void note(const EndCapture& c) { ++graphs_[c.graph].changes; }
  void note(const Instantiate& c) { execs_[c.exec].changes_then = graphs_[c.graph].changes; }
  void note(const ChangeEdges& c) { ++graphs_[c.graph].changes; }
  void note(const RemoveNode& c) { ++graphs_[c.graph].changes; }
  void note(const Launch& c) { execs_[c.exec].launched = true; }
  void note(const Patch& c) {
    if (c.target == Target::kGraph) ++graphs_[c.id].changes;
    if (c.target == Target::kExec) execs_[c.id].patched = true;
  }
  void note(const SetNode& c) {
    if (c.target == Target::kGraph) ++graphs_[c.id].changes;
    if (c.target == Target::kExec) execs_[c.id].set = true;
  }
  void note(const Update& c) { execs_[c.exec].updated = true; }
  void note(const DeclareStream& c) { streams_[c.stream].non_blocking = c.non_blocking; }
  void note(const RecordEvent& c) { ++events_[c.event].recorded; }
  void note(const WaitEvent& c) {
    events_[c.event].waited = true;
    streams_[c.stream].waited = true;
  }
  template <class Other>
  void note(const Other&) {}

  static std::string_view add_word(const NodeParams& params) {
    static constexpr std::array<std::string_view, 11> kWords = {
        "add kernel", "add memcpy",      "add memcpy3d",  "add memset", "add host", "add empty",
        "add child",  "add eventrecord", "add eventwait", "add alloc",  "add free"};
    return of_its_type(kWords, params);
  }
  static std::string_view set_word(bool exec, const NodeParams& params) {
    static constexpr std::array<std::string_view, 8> kExec = {
        "set exec kernel", "set exec memcpy", "set exec memcpy3d",    "set exec memset",
        "set exec host",   "set exec child",  "set exec eventrecord", "set exec eventwait"};
    static constexpr std::array<std::string_view, 7> kGraph = {
        "set graph kernel", "set graph memcpy",      "set graph memcpy3d", "set graph memset",
        "set graph host",   "set graph eventrecord", "set graph eventwait"};
    return exec ? of_its_type(kExec, params) : of_its_type(kGraph, params);
  }
  // The word that ends in the type's own.
  template <std::size_t n>
  static std::string_view of_its_type(const std::array<std::string_view, n>& words, const NodeParams& params) {
    const std::string_view type = node_word(params);
    for (const std::string_view word : words) {
      if (word.substr(word.rfind(' ') + 1) == type) return word;
    }
    assert(false);
    return words[0];
  }

  static constexpr std::uint64_t kWide = 16;  // from here on 7.2.4 spreads a graph over several streams

  std::span<std::uint64_t> counts_;
  State state_;
  std::map<Id, GraphNotes> graphs_;
  std::map<Id, ExecNotes> execs_;
  std::map<Id, StreamNotes> streams_;
  std::map<Id, EventNotes> events_;
};

}  // namespace

std::span<const CoveragePair> coverage_pairs() {
  return layout().pairs;
}

std::span<const StateMeaning> object_states() {
  return kMeanings;
}

void count_pairs(const Program& program, std::span<std::uint64_t> counts) {
  assert(counts.size() == coverage_pairs().size());
  Tracker tracker(counts);
  for (const Step& step : program.steps) {
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) tracker.take(step.command);
  }
}

}  // namespace verify
