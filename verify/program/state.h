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
#include <string>
#include <vector>

#include "verify/program/program.h"

namespace verify {

// Bytes [lo, hi) of a buffer that a node touches. For strided shapes this is the hull.
struct ByteRange {
  Id buffer = 0;
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  bool write = false;
};

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
};

struct GraphState;

struct NodeState {
  Id id = 0;
  NodeParams params;
  std::vector<std::uint32_t> after;  // indices of earlier nodes of the same graph
  std::uint32_t fan = 1;
  std::shared_ptr<const GraphState> child;  // as it was when the child node was added or set
  std::vector<ByteRange> ranges;            // of all instances, children included
};

struct GraphState {
  bool alive = false;
  std::vector<NodeState> nodes;
  std::map<Id, std::uint32_t> addresses;  // buffer -> version at which this graph has it
  std::uint32_t depth = 1;                // graphs within graphs, this one counted
  std::uint64_t instances = 0;            // nodes, fans and children counted

  [[nodiscard]] const NodeState* find(Id node) const;
  [[nodiscard]] int index_of(Id node) const;  // -1 when there is none
};

struct ExecState {
  bool alive = false;
  Id origin = 0;  // the graph whose node handles name its nodes
  GraphState graph;
};

// What hipGraphExecUpdate does with a pair of graphs.
enum class UpdateOutcome : std::uint8_t { kSuccess, kTopologyChanged, kNodeTypeChanged, kUndefinedHere };
[[nodiscard]] UpdateOutcome update_outcome(const GraphState& exec, const GraphState& graph);

class State {
 public:
  // Why `command` may not stand here, or nothing.
  [[nodiscard]] std::optional<std::string> check(const Command& command) const;
  void apply(const Command& command);

  // Conservative: may adding (or, with `replaced`, setting) this node race with an unordered node of the same graph?
  [[nodiscard]] bool node_races(const GraphState& graph, const std::vector<ByteRange>& ranges,
                                const std::vector<std::uint32_t>& after, int replaced = -1) const;
  // Conservative: may launching `exec` on `stream` race with a launch that nothing orders before it?
  [[nodiscard]] bool launch_races(Id exec, Id stream) const;

  [[nodiscard]] const BufferState* buffer(Id id) const { return find(buffers_, id); }
  [[nodiscard]] const GraphState* graph(Id id) const { return find(graphs_, id); }
  [[nodiscard]] const ExecState* exec(Id id) const { return find(execs_, id); }
  [[nodiscard]] const std::map<Id, BufferState>& buffers() const { return buffers_; }
  [[nodiscard]] const std::map<Id, GraphState>& graphs() const { return graphs_; }
  [[nodiscard]] const std::map<Id, ExecState>& execs() const { return execs_; }
  [[nodiscard]] std::vector<Id> live_streams() const;
  [[nodiscard]] std::vector<Id> live_events() const;

  // Nothing that was launched may still be running.
  [[nodiscard]] bool idle() const { return pending_.empty(); }
  // Every buffer of `graph` lives, and the graph has it where it is now.
  [[nodiscard]] bool current(const GraphState& graph) const;
  // A buffer that `graph` has somewhere else than where it is now.
  [[nodiscard]] std::vector<Id> stale_buffers(const GraphState& graph) const;

 private:
  friend struct Checker;
  friend struct Applier;

  // Happens-before among launches: clock[s] = how many launches of stream s are known to be done or ordered before.
  using Clock = std::map<Id, std::uint64_t>;
  struct StreamState {
    bool alive = false;
    bool non_blocking = false;
    Clock clock;
  };
  struct EventState {
    bool alive = false;
    Clock clock;
  };
  struct Pending {
    Id stream = 0;
    std::uint64_t tick = 0;
    std::vector<ByteRange> ranges;
  };

  template <class T>
  static const T* find(const std::map<Id, T>& map, Id id) {
    const auto found = map.find(id);
    return found == map.end() ? nullptr : &found->second;
  }
  [[nodiscard]] Clock launch_clock(Id stream) const;
  [[nodiscard]] bool stream_alive(Id id) const;
  void synchronize_all();
  void synchronize_clock(const Clock& clock);

  std::map<Id, BufferState> buffers_;
  std::map<Id, GraphState> graphs_;
  std::map<Id, ExecState> execs_;
  std::map<Id, StreamState> streams_;
  std::map<Id, EventState> events_;
  std::vector<Pending> pending_;
};

// Why some node's host function may race with another node or launch, conservatively, or nothing. A model knows what
// every other node touches to the byte, but not what a host function does.
[[nodiscard]] std::optional<std::string> host_race(const Program& program);

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
