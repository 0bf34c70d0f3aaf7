// verify::State: what a program has done so far, symbolically: which objects exist, what every graph and executable
// graph holds, and at which addresses ("versions" of a buffer's place) it was recorded.
//
// One state serves three: the validator (may this command stand here?), the generator (which is the same question,
// asked first) and the executor's bookkeeping of symbolic parameters. check() is total and free of side effects;
// apply() may only be called where check() found nothing. A program is valid when every command is.
//
// Not decided here: data races between unordered nodes or launches. They need byte-exact knowledge and belong to the
// model, which reports them; races() is the conservative question that generators ask to stay clear of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "verify/program/capture_state.h"
#include "verify/program/program.h"

namespace verify {

// Bytes [lo, hi) of a buffer that a node touches. For strided shapes this is the hull.
struct ByteRange {
  Id buffer = 0;
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  bool write = false;
};

// One past the last byte of a buffer, whatever it has.
inline constexpr std::int64_t kToTheEnd = std::int64_t{1} << 62;

// Every reference to a buffer that a node's parameters hold, relocations first, frozen scalars not included.
void for_each_ref(const NodeParams& params, const std::function<void(const BufferRef&)>& visit);
// The same for the frozen scalars.
void for_each_frozen(const NodeParams& params, const std::function<void(const BufferRef&)>& visit);
// What node `params` with `fan` instances touches; children are not looked into.
void append_ranges(const NodeParams& params, std::uint32_t fan, std::vector<ByteRange>& ranges);
// The parameters of the k-th of a node's fan instances.
[[nodiscard]] NodeParams fan_instance(const NodeParams& params, std::uint32_t k);
[[nodiscard]] bool conflict(const std::vector<ByteRange>& a, const std::vector<ByteRange>& b);

struct BufferState {
  std::uint64_t bytes = 0;
  std::uint64_t capacity = 0;  // of the place it occupies: a move onto a larger buffer's place keeps that
  MemoryKind memory = MemoryKind::kDevice;
  std::uint32_t version = 0;  // of its place; 0 before the first move
  bool alive = false;
  // Of memory that a graph allocates.
  std::optional<Id> graph = {};
  bool unfreed = false;  // a launch allocated it, and nothing has freed it since
  bool has_free_node = false;
  bool freed_by_program = false;             // since its last launch
  std::optional<std::uint32_t> symbol = {};  // a variable of the device code
  Id device = 0;                             // whose memory it is, where it is a device's
  // Of memory that streams allocate (state_pools.cpp).
  bool of_stream = false;
  bool filled = false;                        // all of it was written since: before that it holds anything
  std::optional<Id> pool = {};                // that it is of; none: the device's default one
  std::optional<std::uint64_t> capture = {};  // serial of the one that allocated it, as long as that has not ended
  Id allocated_on = 0;
  std::optional<Id> freed_on = {};  // the stream that was told to free it
  // Streams that ROCm/clr takes for ordered behind that (MemoryTimestamp::AddSafeStream).
  std::set<Id> given_again_on = {};
  // Where it is is the runtime's business.
  [[nodiscard]] bool runtime_places() const { return graph || of_stream; }
  // Nothing may be done with it yet, or any more, that needs memory to be there.
  [[nodiscard]] bool usable() const { return alive && (graph ? unfreed : !of_stream || (filled && !capture)); }
};

// A memory pool as the program has set it up.
struct PoolState {
  bool alive = false;
  bool of_device = false;
};

struct GraphState;

// Whether HIP has a function of that form for such a node.
[[nodiscard]] bool has_form(const NodeParams& params, NodeForm form);

struct NodeState {
  Id id = 0;
  NodeParams params;
  std::vector<std::uint32_t> after;  // indices of nodes of the same graph, mostly of earlier ones
  std::uint32_t fan = 1;
  std::shared_ptr<const GraphState> child;  // as it was when the child node was added or set
  std::vector<ByteRange> ranges;            // of all instances, children included
  bool enabled = true;                      // of an executable graph's
  NodeForm form = NodeForm::kTyped;         // that it was added through
  NodeAttributes attributes = {};           // of a kernel's
  std::vector<Id> devices = {};             // State::devices_of its parameters
  bool captured = false;                    // it, or what it was cloned from, was captured
  Id added_on = 0;                          // the device that was current then, or of the stream that captured it
};

struct GraphState {
  bool alive = false;
  std::vector<NodeState> nodes;
  std::map<Id, std::uint32_t> addresses;  // buffer -> version at which this graph has it
  std::uint32_t depth = 1;                // graphs within graphs, this one counted
  std::uint64_t instances = 0;            // nodes, fans and children counted
  bool has_events = false;                // event nodes, at any depth
  bool has_memory = false;                // memory allocation or free nodes
  std::set<Id> removed;                   // nodes that it had; their names are not used again
  bool cloned = false;                    // by hipGraphClone
  bool cyclic = false;                    // it cannot be instantiated
  std::map<Id, std::uint32_t> objects;    // user objects, and how many references to each it holds
  std::uint64_t edges_taken = 0;          // that it had, whether they were added again or not
  bool edited = false;                    // its own nodes were set or patched: a strategy may have recorded it again

  [[nodiscard]] const NodeState* find(Id node) const;
  [[nodiscard]] int index_of(Id node) const;            // -1 when there is none
  [[nodiscard]] std::vector<ByteRange> ranges() const;  // of all its nodes
};

struct ExecState {
  bool alive = false;
  Id origin = 0;  // the graph whose node handles name its nodes
  GraphState graph;
  std::uint32_t flags = 0;
  std::set<Id> gone;  // its nodes whose handles are not valid any more: they were removed from the origin
};

// What hipGraphExecUpdate does with a pair of graphs. kUndefinedHere: no documentation says it, or several nodes differ
// in different ways and none says which one is found first.
enum class UpdateOutcome : std::uint8_t {
  kSuccess,
  kTopologyChanged,
  kNodeTypeChanged,
  kUndefinedHere,
  kParametersChanged
};
// A capture that has begun and not ended.
struct CaptureState {
  std::uint64_t serial = 0;  // from 1
  Id origin = 0;
  CaptureMode mode = CaptureMode::kGlobal;
  Id thread = 0;  // that began it
  std::optional<Id> into;
  bool valid = true;
  GraphState graph;                                 // what it is going to be; with `into`, what was there before too
  std::map<Id, std::vector<std::uint32_t>> behind;  // stream -> nodes that its next one comes behind, by index
  std::vector<std::uint32_t> taken_out;             // that capture_after replaced: they need not be joined
  bool taken_from_side = false;                     // some of them of another stream than the origin
};

[[nodiscard]] UpdateOutcome update_outcome(const GraphState& exec, const GraphState& graph);

class State {
 public:
  // Why `command` may not stand here, or nothing.
  [[nodiscard]] std::optional<std::string> check(const Command& command) const;
  void apply(const Command& command);
  // The runtime may refuse `command` here, and whether it does is an observation.
  [[nodiscard]] bool may_be_refused(const Command& command) const;

  // What a node with these parameters touches: a child what its graph does.
  [[nodiscard]] std::vector<ByteRange> ranges_of(const NodeParams& params, std::uint32_t fan) const;
  // Conservative: may adding (or, with `replaced`, setting) this node race with an unordered node of the same graph?
  [[nodiscard]] bool node_races(const GraphState& graph, const std::vector<ByteRange>& ranges,
                                const std::vector<std::uint32_t>& after, int replaced = -1) const;
  // The same of the node that a valid command sets.
  [[nodiscard]] bool set_races(const SetNode& command) const;
  // Conservative: may launching `exec` on `stream` race with work that nothing orders before it?
  [[nodiscard]] bool launch_races(Id exec, Id stream) const;
  [[nodiscard]] bool work_races(const std::vector<ByteRange>& ranges, Id stream) const;

  // Stream capture: what HIP answers to `command` by the rules of capture_state.h, and what it makes invalid.
  [[nodiscard]] CaptureAnswer answer(const Command& command) const;
  // What `command` answers besides (StepStatus::seen), where that is determined.
  [[nodiscard]] std::string seen(const Command& command) const;
  [[nodiscard]] const std::vector<CaptureState>& captures() const { return captures_; }
  [[nodiscard]] const CaptureState* capture_of(Id stream) const;  // null: it takes part in none
  [[nodiscard]] std::uint64_t captures_failed() const { return captures_failed_; }
  [[nodiscard]] std::uint64_t captures_begun() const { return captures_made_; }
  [[nodiscard]] bool chose_mode(Id thread) const { return modes_.contains(thread); }
  // An event that stands for nodes of a capture, open or over.
  [[nodiscard]] bool event_captured(Id event) const;
  // Captured, and on that stream.
  [[nodiscard]] bool event_captured_on(Id event, Id stream) const;
  // Recorded last, externally, in a capture: by a node that has not run.
  [[nodiscard]] bool event_external(Id event) const;
  // Recorded outside of captures, last on a stream that has been destroyed since.
  [[nodiscard]] bool event_stream_gone(Id event) const;
  // Whether it was last recorded outside of captures, on a stream that captures now.
  [[nodiscard]] bool event_stream_captures(Id event) const;
  [[nodiscard]] bool per_thread(Id stream) const;

  // Devices (state_devices.cpp): of a stream and of an event that are declared.
  [[nodiscard]] Id device_of_stream(Id stream) const;
  [[nodiscard]] Id device_of_event(Id event) const;
  // That a setter or an update keeps: where a kernel runs; whose memory a memset, and each end of a copy, is.
  [[nodiscard]] std::vector<Id> devices_of(const NodeParams& params) const;
  [[nodiscard]] bool peer_enabled(Id device, Id peer) const { return peers_.contains({device, peer}); }
  // What `device` is refused for, of what a kernel touches; nothing while it may reach all of it.
  [[nodiscard]] std::optional<std::string> unreachable(const KernelParams& kernel) const;
  // The same of all kernels of a graph, children included.
  [[nodiscard]] std::optional<std::string> unreachable(const GraphState& graph) const;

  [[nodiscard]] const BufferState* buffer(Id id) const { return find(buffers_, id); }
  [[nodiscard]] const GraphState* graph(Id id) const { return find(graphs_, id); }
  [[nodiscard]] const ExecState* exec(Id id) const { return find(execs_, id); }
  [[nodiscard]] const std::map<Id, BufferState>& buffers() const { return buffers_; }
  [[nodiscard]] const std::map<Id, GraphState>& graphs() const { return graphs_; }
  [[nodiscard]] const std::map<Id, ExecState>& execs() const { return execs_; }
  [[nodiscard]] const std::map<Id, std::uint32_t>& user_objects() const { return objects_; }
  [[nodiscard]] const std::map<Id, PoolState>& pools() const { return pools_; }
  // What hipMallocAsync takes from; none: the device's default pool.
  [[nodiscard]] std::optional<Id> pool_in_use() const { return pool_in_use_; }
  [[nodiscard]] std::vector<Id> live_streams() const;
  [[nodiscard]] std::vector<Id> live_events() const;

  // Nothing that was launched may still be running.
  [[nodiscard]] bool idle() const { return pending_.empty(); }
  // A launch of `exec`, a launch on `stream`, a launch that touches `buffer` may still be running.
  [[nodiscard]] bool exec_running(Id exec) const;
  // One of `exec` on another stream than this, behind which this one is in no order.
  [[nodiscard]] bool exec_runs_beside(Id exec, Id stream) const;
  [[nodiscard]] bool stream_busy(Id stream) const;
  [[nodiscard]] bool buffer_in_use(Id buffer) const;
  // Memory that a launch of an executable graph that holds `graph` allocated is still there (state_memory.cpp).
  [[nodiscard]] bool unfreed_memory(const GraphState& graph) const;
  // Every buffer of `graph` lives, and the graph has it where it is now.
  [[nodiscard]] bool current(const GraphState& graph) const;
  // A buffer that `graph` has somewhere else than where it is now.
  [[nodiscard]] std::vector<Id> stale_buffers(const GraphState& graph) const;

 private:
  friend struct Checker;
  friend struct Applier;
  friend struct CaptureRules;
  friend struct CaptureChecker;
  friend struct CaptureApplier;
  friend struct PoolApplier;

  // Happens-before among launches: clock[s] = how many launches of stream s are known to be done or ordered before.
  using Clock = std::map<Id, std::uint64_t>;
  struct StreamState {
    bool alive = false;
    bool non_blocking = false;
    Clock clock;
    bool per_thread = false;
    bool busy = false;  // was given something that nobody has waited for
    Id device = 0;
  };
  struct EventState {
    bool alive = false;
    Clock clock;
    bool timing = false;
    bool recorded = false;      // outside of captures, once
    Id recorded_on = 0;         // then: the stream
    std::optional<Id> told_on;  // the stream of the last record, also of one that was refused
    bool external = false;      // last by a node that a capture made of an external record
    bool busy = false;          // and nobody has waited since
    std::uint64_t capture = 0;  // serial of the one that it was last recorded in; 0: it was not
    std::vector<std::uint32_t> captured;
    Id captured_on = 0;  // the stream
    Id device = 0;
  };
  struct Pending {
    Id stream = 0;
    std::uint64_t tick = 0;
    std::vector<ByteRange> ranges;
    std::optional<Id> exec;  // none: eager work
  };

  template <class T>
  static const T* find(const std::map<Id, T>& map, Id id) {
    const auto found = map.find(id);
    return found == map.end() ? nullptr : &found->second;
  }
  [[nodiscard]] Clock launch_clock(Id stream) const;
  // Event nodes (state_events.cpp).
  [[nodiscard]] Clock clock_behind(const Clock& clock, const std::vector<Id>& events) const;
  [[nodiscard]] bool unordered_conflict(const std::vector<ByteRange>& ranges, const Clock& clock) const;
  [[nodiscard]] bool launch_with_events_races(const GraphState& graph, Id stream) const;
  void launch_with_events(Id exec, Id stream);
  [[nodiscard]] bool event_in_use(Id event) const;
  [[nodiscard]] bool stream_alive(Id id) const;
  void give_work(Id stream, std::vector<ByteRange> ranges, std::optional<Id> exec);
  void synchronize_all();
  void synchronize_clock(const Clock& clock);

  std::map<Id, BufferState> buffers_;
  std::map<Id, GraphState> graphs_;
  std::map<Id, ExecState> execs_;
  std::map<Id, StreamState> streams_;
  std::map<Id, EventState> events_;
  std::map<Id, std::uint32_t> objects_;  // user objects, and how many references to each the program holds
  std::vector<Pending> pending_;
  std::vector<CaptureState> captures_;
  std::uint64_t captures_made_ = 0, captures_failed_ = 0;
  bool graph_memory_ = false;          // some graph has memory nodes, or some stream allocates
  std::map<Id, CaptureMode> modes_;    // of threads
  std::set<std::pair<Id, Id>> peers_;  // who may reach whom
  SystemsState systems_;
  std::map<Id, PoolState> pools_;
  std::optional<Id> pool_in_use_;
};

// Why some node's host function may race with another node or launch, conservatively, or nothing. A model knows what
// every other node touches to the byte, but not what a host function does.
[[nodiscard]] std::optional<std::string> host_race(const Program& program);

// For each step of a valid program whether State::may_be_refused() where it stands.
[[nodiscard]] std::vector<bool> refusable_steps(const Program& program);

// How often a repeated command has to be looked at: it means the same each time, except a move, whose places go round.
[[nodiscard]] std::uint32_t repeats_that_matter(const Step& step);

// The first command that may not stand where it stands, or nothing.
struct Invalid {
  std::size_t step = 0;
  std::uint32_t line = 0;
  std::string reason;
};
[[nodiscard]] std::optional<Invalid> validate(const Program& program);

}  // namespace verify
