// verify::State: the symbolic state of a program so far: the objects that exist, the contents of every graph and
// executable graph, and the addresses ("versions" of a buffer's place) at which each was recorded.
//
// The validator asks State whether a command may stand where it stands, the generator asks the same question before it
// writes a command, and the executor and the quirks ask about the objects of a program. The rules themselves are not
// here: each family of commands has its own (verify/commands/<family>/rules.cpp), and State calls them.
//
// Promised: preconditions are total and free of side effects. check(), answer(), seen() and may_be_refused() may be
// asked of any command in any state and change nothing; apply() may only be called where check() found nothing. A
// program is valid when every command is.
//
// Not decided here: data races between unordered nodes or launches. They need byte-exact knowledge and belong to the
// model, which reports them. node_races(), set_races(), launch_races() and work_races() are conservative questions, for
// generators that stay clear of races.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "verify/program/capture_state.h"
#include "verify/program/graph_state.h"
#include "verify/program/memory_state.h"
#include "verify/program/program.h"
#include "verify/program/stream_state.h"

namespace verify {

// Why something is not allowed, in words for a person; nothing when it is allowed.
using Reason = std::optional<std::string>;

// Why a program may not name that device, or nothing.
[[nodiscard]] Reason unknown_device(Id device);

// Why an executable graph is not there, in words for a person.
inline constexpr const char* kNeverCameToBe = "was destroyed or never came to be";

struct StateParts {
  MemoryState memory;
  GraphsState graphs;
  StreamsState streams;
  EventsState events;
  CapturesState captures;
  std::set<std::pair<Id, Id>> peers;  // (device, peer): the device may reach the peer's memory
  std::map<Id, bool> modules;         // whether each is loaded
  SystemsState systems;
  // The call below the runtime that a `fail_below` made fail since the program last synchronised.
  std::optional<Below> failing_below = {};

  // Notes that somebody has waited for all work that was launched.
  void finish_all();
  // Ends a capture that becomes no graph.
  void drop_capture(std::uint64_t serial);
};

class State {
 public:
  // Why `command` may not stand here, or nothing.
  [[nodiscard]] Reason check(const Command& command) const;
  void apply(const Command& command);
  // The runtime may refuse `command` here, and whether it does is an observation.
  [[nodiscard]] bool may_be_refused(const Command& command) const;
  // Whether `command`, which was applied here already, may follow itself any number of times with no new effect (P8).
  [[nodiscard]] bool may_stand_again(const Command& command) const;
  // Stream capture: HIP's answer to `command` by the rules of capture_state.h, and the captures that it makes invalid.
  [[nodiscard]] CaptureAnswer answer(const Command& command) const;
  // The command's answer besides its status (StepStatus::seen), where that is determined.
  [[nodiscard]] std::string seen(const Command& command) const;

  // All parts of the state. Only the effects of commands (apply() in verify/commands/<family>/rules.cpp) change it.
  [[nodiscard]] const StateParts& parts() const { return parts_; }
  [[nodiscard]] StateParts& change() { return parts_; }

  // Why the program may not make a buffer of that name and size here, or nothing.
  [[nodiscard]] Reason flaw_of_buffer(Id id, std::uint64_t bytes) const;
  // The same for memory that no stream allocates, where the program left little memory free.
  [[nodiscard]] Reason flaw_of_other_memory(std::uint64_t bytes) const;
  // Why the program may not name such an object here, or nothing. `gone` is the reason for an executable graph that no
  // longer exists.
  [[nodiscard]] Reason missing_buffer(Id id) const;
  [[nodiscard]] Reason missing_graph(Id id) const;
  [[nodiscard]] Reason missing_node(Id graph, Id node) const;
  [[nodiscard]] Reason missing_exec(Id id, const char* gone = "was destroyed") const;
  [[nodiscard]] Reason missing_stream(Id id) const;
  [[nodiscard]] Reason missing_event(Id id) const;
  [[nodiscard]] Reason missing_module(Id id) const;
  // Why a view of a reserved range may not be named here, or nothing: no memory is mapped at a page of it. Nothing for
  // a buffer that is no view.
  [[nodiscard]] Reason unmapped(Id buffer) const;
  // The same for the views that a graph names, children included.
  [[nodiscard]] Reason unmapped(const GraphState& graph) const;
  // Why a device may not read (or write) the view here, or nothing.
  [[nodiscard]] Reason without_right(Id buffer, Id device, bool write) const;
  // Why work with these parameters may not touch its views here, or nothing.
  [[nodiscard]] Reason views_out_of_reach(const NodeParams& params) const;
  // Whether work that nothing has waited for touches a view of these pages.
  [[nodiscard]] bool range_in_use(Id range, std::uint32_t page, std::uint32_t pages) const;
  // Why the nodes of `exec` cannot be named, or nothing: its origin, the graph with their handles, was destroyed.
  [[nodiscard]] Reason missing_origin(Id exec) const;

  // The bytes that a node with these parameters touches. A child touches the bytes of its graph.
  [[nodiscard]] std::vector<ByteRange> ranges_of(const NodeParams& params, std::uint32_t fan) const;
  // Gives a node its parameters, and the state that follows from them: child, ranges, devices.
  void fill(NodeState& node, const NodeParams& params) const;
  // Conservative: may adding (or, with `replaced`, setting) this node race with an unordered node of the same graph?
  [[nodiscard]] bool node_races(const GraphState& graph, const std::vector<ByteRange>& ranges,
                                const std::vector<std::uint32_t>& after, int replaced = -1) const;
  // The same question about the node that a valid command sets.
  [[nodiscard]] bool set_races(const SetNode& command) const;
  // Conservative: may launching `exec` on `stream` race with work that nothing orders before it?
  [[nodiscard]] bool launch_races(Id exec, Id stream) const;
  [[nodiscard]] bool work_races(const std::vector<ByteRange>& ranges, Id stream) const;

  [[nodiscard]] const std::vector<CaptureState>& captures() const { return parts_.captures.open; }
  [[nodiscard]] const CaptureState* capture_of(Id stream) const { return parts_.captures.of_stream(stream); }
  [[nodiscard]] std::uint64_t captures_failed() const { return parts_.captures.failed; }
  [[nodiscard]] std::uint64_t captures_begun() const { return parts_.captures.begun; }
  [[nodiscard]] bool chose_mode(Id thread) const { return parts_.captures.modes.contains(thread); }
  // Whether the event was recorded last in a capture, which is open or over.
  [[nodiscard]] bool event_captured(Id event) const;
  // Whether the event was recorded last in a capture, on that stream.
  [[nodiscard]] bool event_captured_on(Id event, Id stream) const;
  // Whether the event was recorded last in a capture, behind no node, and in a capture behind nodes before that.
  [[nodiscard]] bool event_had_nodes(Id event) const;
  // Whether the event was recorded last by an external record in a capture, that is by a node that has not run.
  [[nodiscard]] bool event_external(Id event) const;
  // Whether nothing is left of the event's last record outside of captures: the host has waited for it.
  [[nodiscard]] bool event_over(Id event) const;
  // Whether the event was recorded outside of captures, last on a stream that has been destroyed since.
  [[nodiscard]] bool event_stream_gone(Id event) const;
  // Whether the event was recorded last outside of captures, on a stream that captures now.
  [[nodiscard]] bool event_stream_captures(Id event) const;
  // Whether a node of a graph, of an executable graph or of a capture names the event.
  [[nodiscard]] bool event_in_use(Id event) const;
  // The same for a kernel of the module; children included.
  [[nodiscard]] bool module_in_use(Id module) const;
  [[nodiscard]] bool per_thread(Id stream) const;
  // Whether a node of a graph, of an executable graph or of an open capture frees the buffer.
  [[nodiscard]] bool has_free_node(Id buffer) const { return frees_in_another({}, buffer); }
  // The same, of another graph than the one that allocates the buffer.
  [[nodiscard]] bool has_free_node_elsewhere(Id buffer) const;

  // The device of a stream and of an event that are declared.
  [[nodiscard]] Id device_of_stream(Id stream) const { return parts_.streams.device_of(stream); }
  [[nodiscard]] Id device_of_event(Id event) const { return parts_.events.device_of(event); }
  // The device of a kernel, of a memset's memory, and of each end of a copy. A setter and an update keep the devices.
  [[nodiscard]] std::vector<Id> devices_of(const NodeParams& params) const;
  [[nodiscard]] bool peer_enabled(Id device, Id peer) const { return parts_.peers.contains({device, peer}); }
  // Why `device` may not reach all memory that a kernel touches, or nothing.
  [[nodiscard]] Reason unreachable(const KernelParams& kernel) const;
  // The same for all kernels of a graph, children included.
  [[nodiscard]] Reason unreachable(const GraphState& graph) const;

  [[nodiscard]] const BufferState* buffer(Id id) const { return parts_.memory.find(id); }
  [[nodiscard]] const GraphState* graph(Id id) const;
  [[nodiscard]] const ExecState* exec(Id id) const;
  [[nodiscard]] const std::map<Id, BufferState>& buffers() const { return parts_.memory.buffers; }
  [[nodiscard]] const std::map<Id, GraphState>& graphs() const { return parts_.graphs.graphs; }
  [[nodiscard]] const std::map<Id, ExecState>& execs() const { return parts_.graphs.execs; }
  [[nodiscard]] const std::map<Id, std::uint32_t>& user_objects() const { return parts_.graphs.objects; }
  [[nodiscard]] const std::map<Id, RangeState>& ranges() const { return parts_.memory.mapped.ranges; }
  [[nodiscard]] const std::map<Id, PhysicalState>& memories() const { return parts_.memory.mapped.memories; }
  [[nodiscard]] const std::map<Id, PoolState>& pools() const { return parts_.memory.pools; }
  // The pool that hipMallocAsync takes from; none: the device's default pool.
  [[nodiscard]] std::optional<Id> pool_in_use() const { return parts_.memory.pool_in_use; }
  [[nodiscard]] std::vector<Id> live_streams() const;
  [[nodiscard]] std::vector<Id> live_events() const;
  [[nodiscard]] std::vector<Id> live_modules() const;

  // Whether all work that was launched is over.
  [[nodiscard]] bool idle() const { return parts_.streams.pending.empty(); }
  // Whether a launch of `exec`, work on `stream`, work that touches `buffer` may still be running.
  [[nodiscard]] bool exec_running(Id exec) const;
  // Whether a launch of `exec` may still be running on another stream, unordered with a launch on this stream.
  [[nodiscard]] bool exec_runs_beside(Id exec, Id stream) const;
  [[nodiscard]] bool stream_busy(Id stream) const;
  [[nodiscard]] bool buffer_in_use(Id buffer) const;
  // Whether memory that a launch of `graph` (as an executable graph) allocated has not been freed yet.
  [[nodiscard]] bool unfreed_memory(const GraphState& graph) const;
  // Whether every buffer of `graph` lives, and the graph has it at its present address.
  [[nodiscard]] bool current(const GraphState& graph) const;
  // The buffers that were freed, or that `graph` has at another address than their present one.
  [[nodiscard]] std::vector<Id> stale_buffers(const GraphState& graph) const;

 private:
  // Whether something else than `graph` and its executable graphs has a node that frees the buffer.
  [[nodiscard]] bool frees_in_another(std::optional<Id> graph, Id buffer) const;

  StateParts parts_;
};

// Whether `command` gives work to a capture: to the one that began on `origin`, if that is given.
[[nodiscard]] bool gives_captured_work(const State& state, const Command& command, std::optional<Id> origin = {});

// Why some host function may race with another node or launch (conservative), or nothing. The model knows to the byte
// which memory every other node touches, but not which memory a host function touches.
[[nodiscard]] Reason host_race(const Program& program);

// For each step of a valid program: whether State::may_be_refused() holds where the step stands.
[[nodiscard]] std::vector<bool> refusable_steps(const Program& program);

// How many repetitions of a step have to be applied one by one: most commands have the same effect from the second on.
[[nodiscard]] std::uint32_t repeats_that_matter(const Step& step);

// The first command that may not stand where it stands, or nothing.
struct Invalid {
  std::size_t step = 0;
  std::uint32_t line = 0;
  std::string reason;
};
[[nodiscard]] std::optional<Invalid> validate(const Program& program);

}  // namespace verify
