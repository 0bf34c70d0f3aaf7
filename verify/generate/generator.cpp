#include "verify/generate/generator.h"

#include <algorithm>
#include <array>

#include "verify/generate/params.h"
#include "verify/program/state.h"

namespace verify {

namespace {

constexpr int kAttempts = 6;  // draws before an action is given up
constexpr std::size_t kMaxBuffers = 8;
constexpr std::size_t kMaxGraphs = 5;
constexpr std::size_t kMaxExecs = 4;
constexpr std::uint64_t kMaxInstances = 400;  // nodes of a graph, fans and children counted

class ProgramGenerator {
 public:
  ProgramGenerator(Choices& choices, const GeneratorOptions& options)
      : choices_(choices), options_(options), swarm_(draw_swarm(choices)) {}

  Program run() {
    program_.placement = choices_.percent(30) ? Placement::kNative : Placement::kArena;
    const std::uint64_t buffers = choices_.between(2, 5);
    for (std::uint64_t i = 0; i < buffers; ++i) declare_buffer();
    build_graph();
    instantiate();
    // Bounded: every turn either takes a command or counts towards giving up.
    for (std::uint32_t turn = 0; program_.steps.size() + 4 < options_.size && turn < 4 * options_.size; ++turn) {
      if (choices_.exhausted()) break;
      act();
    }
    finish();
    return std::move(program_);
  }

 private:
  // Takes a command as often as it may stand there, `repeat` times at most.
  bool take(const Command& command, std::uint32_t repeat = 1) {
    std::uint32_t times = 0;
    for (; times < repeat && may_stand(command); ++times) state_.apply(command);
    if (times != 0) program_.steps.push_back({command, times, 0});
    return times != 0;
  }

  [[nodiscard]] bool may_stand(const Command& command) const {
    return !state_.check(command) && !(options_.avoid && options_.avoid(state_, command));
  }

  template <class Map>
  [[nodiscard]] std::vector<Id> alive(const Map& map) const {
    std::vector<Id> ids;
    for (const auto& [id, object] : map) {
      if (object.alive) ids.push_back(id);
    }
    return ids;
  }
  [[nodiscard]] Id pick(const std::vector<Id>& ids) { return ids[choices_.below(ids.size())]; }

  // ---- actions

  void act() {
    struct Action {
      unsigned weight;
      void (ProgramGenerator::*run)();
    };
    static constexpr std::array<Action, 18> kActions = {{
        {16, &ProgramGenerator::move},
        {14, &ProgramGenerator::patch_stale},
        {16, &ProgramGenerator::launch},
        {10, &ProgramGenerator::set_exec},
        {4, &ProgramGenerator::set_graph},
        {6, &ProgramGenerator::update},
        {5, &ProgramGenerator::build_graph},
        {5, &ProgramGenerator::extend_graph},
        {5, &ProgramGenerator::instantiate},
        {4, &ProgramGenerator::read},
        {3, &ProgramGenerator::write},
        {3, &ProgramGenerator::declare_buffer},
        {3, &ProgramGenerator::free_buffer},
        {2, &ProgramGenerator::destroy},
        {4, &ProgramGenerator::stream_or_event},
        {3, &ProgramGenerator::synchronize},
        {2, &ProgramGenerator::fail},
        {2, &ProgramGenerator::patch_fresh},
    }};
    unsigned total = 0;
    for (const Action& action : kActions) total += action.weight;
    std::uint64_t draw = choices_.below(total);
    for (const Action& action : kActions) {
      if (draw < action.weight) return (this->*action.run)();
      draw -= action.weight;
    }
  }

  void declare_buffer() {
    if (alive(state_.buffers()).size() >= kMaxBuffers) return;
    static constexpr std::array<std::uint64_t, 7> kSizes = {64, 256, 256, 512, 1024, 1000, 4096};
    DeclareBuffer command{next_buffer_, std::min(kSizes[choices_.below(kSizes.size())], options_.max_buffer_bytes),
                          MemoryKind::kDevice};
    if (choices_.percent(18)) command.memory = choices_.percent(50) ? MemoryKind::kPinned : MemoryKind::kPageable;
    if (take(command)) ++next_buffer_;
  }

  // Buffers that a node of `graph` may use: alive, and not known to the graph at an old address.
  [[nodiscard]] std::vector<Id> usable_buffers(const GraphState& graph) const {
    std::vector<Id> ids;
    for (const auto& [id, buffer] : state_.buffers()) {
      const auto known = graph.addresses.find(id);
      if (buffer.alive && (known == graph.addresses.end() || known->second == buffer.version)) ids.push_back(id);
    }
    return ids;
  }

  void build_graph() {
    if (alive(state_.graphs()).size() >= kMaxGraphs) return;
    const Id graph = next_graph_++;
    take(DeclareGraph{graph});
    if (choices_.percent(7)) return;  // an empty graph
    const std::uint64_t nodes = choices_.between(1, std::max<std::uint32_t>(2, options_.size / 5));
    for (std::uint64_t i = 0; i < nodes; ++i) add_node(graph);
  }

  void extend_graph() {
    const std::vector<Id> graphs = alive(state_.graphs());
    if (!graphs.empty()) add_node(pick(graphs));
  }

  void add_node(Id graph) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      AddNode command;
      command.graph = graph;
      command.node = static_cast<Id>(state_.graph(graph)->nodes.size());
      if (draw_params(command) && order(command) && take(command)) return;
    }
  }

  bool draw_params(AddNode& command) {
    const GraphState& graph = *state_.graph(command.graph);
    if (swarm_.children && choices_.percent(22) && draw_child(command)) return true;
    ParamsGenerator generator(choices_, swarm_, state_, usable_buffers(graph));
    std::optional<NodeParams> params = generator.any();
    if (!params) return false;
    command.params = std::move(*params);
    if (swarm_.fans && choices_.percent(30)) command.fan = static_cast<std::uint32_t>(choices_.between(2, 24));
    return graph.instances + command.fan <= kMaxInstances;
  }

  bool draw_child(AddNode& command) {
    const std::vector<Id> graphs = alive(state_.graphs());
    const Id child = pick(graphs);
    if (child == command.graph) return false;
    ChildParams params{child, 1};
    if (choices_.percent(25))
      params.nest = static_cast<std::uint32_t>(choices_.between(2, choices_.percent(15) ? 24 : 4));
    command.params = params;
    return state_.graph(command.graph)->instances + state_.graph(child)->instances + params.nest <= kMaxInstances;
  }

  // Draws dependencies, then adds one on every earlier node that the new one would race with.
  bool order(AddNode& command) {
    const GraphState& graph = *state_.graph(command.graph);
    std::vector<ByteRange> ranges = ranges_of(command.params, command.fan);
    std::vector<std::uint32_t> after;
    for (std::uint64_t i = choices_.below(3); i > 0 && !graph.nodes.empty(); --i) {
      after.push_back(static_cast<std::uint32_t>(choices_.below(graph.nodes.size())));
    }
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
      if (!state_.node_races(graph, ranges, after)) break;
      if (conflict(ranges, graph.nodes[i].ranges)) after.push_back(static_cast<std::uint32_t>(i));
    }
    std::sort(after.begin(), after.end());
    after.erase(std::unique(after.begin(), after.end()), after.end());
    command.after.clear();
    for (const std::uint32_t index : after) command.after.push_back(graph.nodes[index].id);
    return true;
  }

  [[nodiscard]] std::vector<ByteRange> ranges_of(const NodeParams& params, std::uint32_t fan) const {
    std::vector<ByteRange> ranges;
    append_ranges(params, fan, ranges);
    if (const auto* child = std::get_if<ChildParams>(&params)) {
      for (const NodeState& node : state_.graph(child->graph)->nodes) {
        ranges.insert(ranges.end(), node.ranges.begin(), node.ranges.end());
      }
    }
    return ranges;
  }

  void instantiate() {
    if (alive(state_.execs()).size() >= kMaxExecs) return;
    const std::vector<Id> graphs = alive(state_.graphs());
    if (!graphs.empty() && take(Instantiate{next_exec_, pick(graphs)})) ++next_exec_;
  }

  void launch() {
    const std::vector<Id> execs = alive(state_.execs());
    if (!execs.empty()) launch_exec(pick(execs));
  }

  void launch_exec(Id exec) {
    patch_exec(exec);
    const Launch command{exec, choices_.percent(50) ? kNullStream : pick(state_.live_streams())};
    if (state_.check(command)) return;
    if (state_.launch_races(exec, command.stream) || !may_stand(command)) take(Synchronize{Target::kDevice, 0});
    const std::uint32_t repeat = choices_.percent(4) ? static_cast<std::uint32_t>(choices_.between(2, 3)) : 1;
    take(command, repeat);
  }

  void move() {
    const std::vector<Id> buffers = alive(state_.buffers());
    MoveBuffers command;
    const std::uint64_t draw = choices_.below(100);
    if (draw < 40) {
      command.moves = {{pick(buffers), {}}};
    } else if (draw < 60) {
      for (const Id id : buffers) {
        if (choices_.percent(50)) command.moves.push_back({id, {}});
      }
    } else {
      rotate(buffers, command, draw < 85 ? 2 : choices_.between(2, 4), draw >= 95);
    }
    if (!command.moves.empty()) take(command, choices_.percent(5) ? 2 : 1);
  }

  // Buffers take each other's places in a circle; an open chain lets the last one go somewhere new.
  void rotate(std::vector<Id> buffers, MoveBuffers& command, std::uint64_t length, bool open) {
    std::vector<Id> ring;
    while (ring.size() < length && !buffers.empty()) {
      const std::size_t at = choices_.below(buffers.size());
      ring.push_back(buffers[at]);
      buffers.erase(buffers.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (ring.size() < 2) return;
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const bool last = i + 1 == ring.size();
      BufferMove move{ring[i], ring[(i + 1) % ring.size()]};
      if (last && open) move.onto.reset();
      command.moves.push_back(move);
    }
  }

  void patch_exec(Id exec) {
    if (!state_.current(state_.exec(exec)->graph)) take(Patch{Target::kExec, exec});
  }
  void patch_stale() {
    for (const Id exec : alive(state_.execs())) {
      if (choices_.percent(70)) patch_exec(exec);
    }
    for (const Id graph : alive(state_.graphs())) {
      if (!state_.current(*state_.graph(graph)) && choices_.percent(40)) take(Patch{Target::kGraph, graph});
    }
  }
  // A patch that has nothing to do must do nothing (A6).
  void patch_fresh() {
    const std::vector<Id> execs = alive(state_.execs());
    if (!execs.empty()) take(Patch{Target::kExec, pick(execs)});
  }

  bool set_node(Target target, Id id) {
    const GraphState& graph = target == Target::kExec ? state_.exec(id)->graph : *state_.graph(id);
    if (graph.nodes.empty()) return false;
    const std::size_t index = choices_.below(graph.nodes.size());
    const NodeState& node = graph.nodes[index];
    std::optional<NodeParams> params;
    if (const auto* child = std::get_if<ChildParams>(&node.params)) {
      params = ChildParams{pick(alive(state_.graphs())), child->nest};
    } else {
      ParamsGenerator generator(choices_, swarm_, state_, usable_buffers(graph));
      params = choices_.percent(25) ? another_of_its_type(generator, node.params) : generator.vary(node.params);
    }
    if (!params) return false;
    const SetNode command{target, id, node.id, std::move(*params)};
    if (state_.check(command)) return false;
    if (state_.node_races(graph, ranges_of(command.params, node.fan), node.after, static_cast<int>(index)))
      return false;
    return take(command);
  }
  // Other shapes and other kernels, which setters of graphs take, and those of executable graphs mostly do not.
  static std::optional<NodeParams> another_of_its_type(ParamsGenerator& generator, const NodeParams& params) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      std::optional<NodeParams> other = generator.any();
      if (other && other->index() == params.index()) return other;
    }
    return {};
  }
  void set_exec() {
    const std::vector<Id> execs = alive(state_.execs());
    for (int attempt = 0; attempt < kAttempts && !execs.empty(); ++attempt) {
      const Id exec = pick(execs);
      if (attempt == 0) patch_exec(exec);
      if (set_node(Target::kExec, exec)) return;
    }
  }
  void set_graph() {
    const std::vector<Id> graphs = alive(state_.graphs());
    for (int attempt = 0; attempt < kAttempts && !graphs.empty(); ++attempt) {
      if (set_node(Target::kGraph, pick(graphs))) return;
    }
  }

  // Mostly the graph an executable came from, changed by setters or patched; sometimes any graph, which mostly fails.
  void update() {
    const std::vector<Id> execs = alive(state_.execs());
    if (execs.empty()) return;
    const Id exec = pick(execs);
    const Id origin = state_.exec(exec)->origin;
    if (!state_.graph(origin)->alive) return;
    if (choices_.percent(15)) {
      take(Update{exec, pick(alive(state_.graphs()))});
      return;
    }
    if (!state_.current(*state_.graph(origin))) take(Patch{Target::kGraph, origin});
    if (choices_.percent(70)) set_node(Target::kGraph, origin);
    take(Update{exec, origin});
  }

  void read() { take(Read{pick(alive(state_.buffers()))}); }
  void write() { take(Write{pick(alive(state_.buffers())), choices_.below(1000)}); }

  // Freed at once or replaced by a newcomer that gets its address: what a cache keyed by address confuses.
  void free_buffer() {
    const std::vector<Id> buffers = alive(state_.buffers());
    if (buffers.size() < 3) return;
    const Id victim = pick(buffers);
    const std::uint64_t bytes = state_.buffer(victim)->bytes;
    for (const auto& [id, exec] : state_.execs()) {
      if (exec.alive && exec.graph.addresses.contains(victim) && !choices_.percent(10)) return;
    }
    if (take(Free{victim}) && choices_.percent(70)) {
      if (take(DeclareBuffer{next_buffer_, bytes, MemoryKind::kDevice})) ++next_buffer_;
    }
  }

  void destroy() {
    const std::vector<Id> execs = alive(state_.execs()), graphs = alive(state_.graphs());
    if (choices_.percent(50) && execs.size() > 1) {
      take(Destroy{Target::kExec, pick(execs)});
    } else if (graphs.size() > 1) {
      const Id graph = pick(graphs);
      for (const auto& [id, exec] : state_.execs()) {
        if (exec.alive && exec.origin == graph) return;  // its executables could not be patched any more
      }
      take(Destroy{Target::kGraph, graph});
    }
  }

  void stream_or_event() {
    const std::vector<Id> streams = state_.live_streams(), events = state_.live_events();
    if (streams.size() < 3 && choices_.percent(50)) {
      if (take(DeclareStream{next_stream_, choices_.percent(40)})) ++next_stream_;
    } else if (events.empty()) {
      if (take(DeclareEvent{next_event_})) ++next_event_;
    } else {
      const Id event = pick(events);
      take(RecordEvent{event, pick(streams)});
      take(WaitEvent{pick(streams), event});
    }
  }

  void synchronize() {
    const std::vector<Id> events = state_.live_events();
    if (!events.empty() && choices_.percent(30)) {
      take(Synchronize{Target::kEvent, pick(events)});
    } else if (choices_.percent(50)) {
      take(Synchronize{Target::kStream, pick(state_.live_streams())});
    } else {
      take(Synchronize{Target::kDevice, 0});
    }
  }

  void fail() {
    if (!options_.failures) return;
    static constexpr std::array<const char*, 12> kFunctions = {"hipGraphExecKernelNodeSetParams",
                                                               "hipGraphExecKernelNodeSetParams",
                                                               "hipGraphExecMemcpyNodeSetParams1D",
                                                               "hipGraphExecMemcpyNodeSetParams",
                                                               "hipGraphExecMemsetNodeSetParams",
                                                               "hipGraphExecChildGraphNodeSetParams",
                                                               "hipGraphKernelNodeSetParams",
                                                               "hipGraphLaunch",
                                                               "hipGraphInstantiate",
                                                               "hipGraphAddKernelNode",
                                                               "hipGraphExecUpdate",
                                                               "hipGraphAddChildGraphNode"};
    const auto nth = static_cast<std::uint32_t>(choices_.between(1, 4));
    take(Fail{nth, kFunctions[choices_.below(kFunctions.size())]});
    move();
    patch_stale();
  }

  // Everything that was recorded is seen: each executable graph is brought up to date and launched once more.
  void finish() {
    for (const Id exec : alive(state_.execs())) {
      if (program_.steps.size() > options_.size + 4) break;
      launch_exec(exec);
    }
  }

  Choices& choices_;
  const GeneratorOptions& options_;
  Swarm swarm_;
  State state_;
  Program program_;
  Id next_buffer_ = 0, next_graph_ = 0, next_exec_ = 0, next_stream_ = 1, next_event_ = 0;
};

}  // namespace

Program generate_program(Choices& choices, const GeneratorOptions& options) {
  return ProgramGenerator(choices, options).run();
}

Program campaign_program(std::uint64_t seed, std::uint64_t index, const GeneratorOptions& options) {
  // SplitMix64's increment keeps neighbouring indices apart before RapidCheck's own mixing.
  RandomChoices choices(rc::Random(seed ^ (index * 0x9e3779b97f4a7c15ULL)));
  return generate_program(choices, options);
}

}  // namespace verify
