#include "verify/generate/generator.h"

#include <algorithm>
#include <array>

#include "verify/errors/error_cases.h"
#include "verify/generate/graph_ops.h"
#include "verify/generate/memory.h"
#include "verify/generate/nodes.h"
#include "verify/generate/scenario.h"
#include "verify/generate/stream_memory.h"
#include "verify/generate/streams.h"
#include "verify/program/state_devices.h"

namespace verify {

namespace {

class ProgramGenerator : private NodesDraft {
 public:
  ProgramGenerator(Choices& choices, const GeneratorOptions& options) : NodesDraft(choices, options) {}

  Program run() {
    program_.placement = choices_.percent(30) ? Placement::kNative : Placement::kArena;
    if (swarm_.only_bad_calls) return bad_calls();
    const std::uint64_t buffers = choices_.between(2, 5);
    for (std::uint64_t i = 0; i < buffers; ++i) declare_buffer();
    // options_.avoid may have rejected every buffer that was drawn.
    if (alive(state_.buffers()).empty() && take(DeclareBuffer{next_.buffer, 256, MemoryKind::kDevice})) ++next_.buffer;
    if (swarm_.event_nodes) declare_events();
    if (swarm_.devices) declare_device();
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

  // Draws a few more actions after the first `at` steps of `base` and returns their steps. No id of `base` is reused.
  std::vector<Step> go_on(const Program& base, std::size_t at) {
    for (std::size_t i = 0; i < at; ++i) {
      const Step& step = base.steps[i];
      for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) {
        if (state_.check(step.command)) return {};
        state_.apply(step.command);
      }
    }
    // New ids are higher than every id that `base` declares anywhere.
    for (const Step& step : base.steps) next_.use(step.command);
    if (alive(state_.buffers()).empty()) declare_buffer();
    if (alive(state_.graphs()).empty()) build_graph();
    for (std::uint64_t turn = choices_.between(1, 3); turn > 0; --turn) act();
    return std::move(program_.steps);
  }

 private:
  void act() {
    if (swarm_.children && choices_.percent(5)) return child_family();
    if (swarm_.graph_memory && choices_.percent(20)) return graph_memory();
    if (swarm_.stream_memory && choices_.percent(30)) return memory_of_streams().act();
    if (swarm_.devices && choices_.percent(8)) return on_streams().peers();
    if ((swarm_.editing || swarm_.toggling || swarm_.queries || swarm_.objects || swarm_.attributes) &&
        choices_.percent(20))
      return graph_op();
    struct Action {
      unsigned weight;
      void (ProgramGenerator::*run)();
    };
    static constexpr std::array<Action, 23> kActions = {{
        {16, &ProgramGenerator::move},
        {14, &ProgramGenerator::patch_stale},
        {16, &ProgramGenerator::launch},
        {10, &ProgramGenerator::set_exec},
        {4, &ProgramGenerator::set_graph},
        {3, &ProgramGenerator::set_exec_child},
        {6, &ProgramGenerator::update},
        {5, &ProgramGenerator::build_graph},
        {5, &ProgramGenerator::extend_graph},
        {5, &ProgramGenerator::instantiate},
        {7, &ProgramGenerator::bytes},
        {3, &ProgramGenerator::declare_buffer},
        {3, &ProgramGenerator::free_buffer},
        {2, &ProgramGenerator::destroy},
        {1, &ProgramGenerator::destroy_stream_or_event},
        {4, &ProgramGenerator::stream_or_event},
        {3, &ProgramGenerator::synchronize},
        {2, &ProgramGenerator::fail},
        {2, &ProgramGenerator::patch_fresh},
        {10, &ProgramGenerator::eager},
        {3, &ProgramGenerator::query},
        {9, &ProgramGenerator::capture},
        {2, &ProgramGenerator::bad_call},
    }};
    unsigned total = 0;
    for (const Action& action : kActions) total += action.weight;
    std::uint64_t draw = choices_.below(total);
    for (const Action& action : kActions) {
      if (draw < action.weight) return (this->*action.run)();
      draw -= action.weight;
    }
  }

  // Declares the objects without which event nodes order nothing: events, and streams that are not ordered already.
  void declare_events() {
    for (std::uint64_t i = choices_.between(1, 3); i > 0; --i) {
      if (take(DeclareEvent{next_.event})) ++next_.event;
    }
    for (std::uint64_t i = choices_.between(1, 2); i > 0; --i) {
      if (take(DeclareStream{next_.stream, choices_.percent(60)})) ++next_.stream;
    }
  }

  // Declares memory and a stream of the second device, and the events that a capture needs to get there and back.
  void declare_device() {
    if (take(DeclareBuffer{next_.buffer, 256, MemoryKind::kDevice, {}, 1})) ++next_.buffer;
    if (take(DeclareStream{next_.stream, choices_.percent(50), 0, false, 1})) ++next_.stream;
    for (const Id device : {0U, 1U}) {
      if (choices_.percent(60) && take(DeclareEvent{next_.event, false, false, EventRelease::kDefault, device}))
        ++next_.event;
    }
    for (const Id device : {0U, 1U}) {
      if (choices_.percent(30)) take(PeerAccess{PeerVerb::kEnable, device, 1 - device});
    }
  }

  // Mostly a stream of the graph's home device.
  Id stream_for(const GraphState& graph) {
    std::vector<Id> streams = state_.live_streams();
    if (swarm_.devices && choices_.percent(80)) {
      const Id home = home_of(graph);
      std::erase_if(streams, [&](Id stream) { return state_.device_of_stream(stream) != home; });
    }
    return streams.empty() ? kNullStream : pick(streams);
  }

  // Makes a graph that holds another as a child, its executable graph, and a setter of the child: rare by chance alone.
  void child_family() {
    const std::vector<Id> graphs = alive(state_.graphs());
    if (graphs.empty() || graphs.size() >= kMaxGraphs || alive(state_.execs()).size() >= kMaxExecs) return;
    const Id inner = pick(graphs);
    if (state_.graph(inner)->nodes.empty() && !choices_.percent(10)) return;
    if (!state_.current(*state_.graph(inner))) take(Patch{Target::kGraph, inner});
    const Id outer = next_.graph++;
    take(DeclareGraph{outer});
    if (choices_.percent(40)) add_node(outer);
    AddNode child;
    child.graph = outer;
    child.node = static_cast<Id>(state_.graph(outer)->nodes.size());
    child.params = ChildParams{inner, choices_.percent(20) ? 2U : 1U};
    if (state_.check(child) || !order(child) || !take(child)) return;
    if (choices_.percent(50)) add_node(outer);
    if (!take(Instantiate{next_.exec, outer})) return;
    const Id exec = next_.exec++;
    for (std::uint64_t turn = choices_.below(3); turn > 0; --turn) act();
    if (state_.exec(exec)->alive && state_.graph(outer)->alive) set_child(exec);
  }

  void extend_graph() {
    const std::vector<Id> graphs = alive(state_.graphs());
    if (!graphs.empty()) add_node(pick(graphs));
  }

  void instantiate() {
    if (alive(state_.execs()).size() >= kMaxExecs) return;
    const std::vector<Id> graphs = alive(state_.graphs());
    if (graphs.empty()) return;
    if (take(GraphOpsGenerator(choices_, swarm_, state_, next_).instantiate(next_.exec, pick(graphs)))) ++next_.exec;
  }

  void graph_op() {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      bool any = false;
      for (const Command& command : GraphOpsGenerator(choices_, swarm_, state_, next_).any()) {
        if (!take(command)) break;
        any = true;
        next_.use(command);
      }
      if (any) return;
    }
  }

  void launch() {
    const std::vector<Id> execs = alive(state_.execs());
    if (!execs.empty()) launch_exec(pick(execs));
  }

  MemoryGenerator memory_of_graphs() {
    return {choices_,
            state_,
            {[this](const Command& command) { return take(command); },
             [this](AddNode node) { return order(node) && take(node); }, [this](Id graph) { add_node(graph); },
             [this](Id exec) { launch_exec(exec); }, next_.graph, next_.exec, next_.buffer}};
  }

  StreamMemoryGenerator memory_of_streams() {
    return {choices_,
            state_,
            {[this](const Command& command) { return take(command); },
             [this](Id stream) { return on_streams().work(stream); }, [this] { on_streams().declare_stream(); },
             [this](Topic topic) { by_fields(topic); }, next_.buffer, next_.event}};
  }

  void graph_memory() {
    const bool room = alive(state_.graphs()).size() < kMaxGraphs && alive(state_.execs()).size() < kMaxExecs;
    if (room && choices_.percent(50)) return memory_of_graphs().family();
    memory_of_graphs().use_what_is_there();
  }

  void launch_exec(Id exec) {
    if (swarm_.graph_memory || swarm_.stream_memory) memory_of_graphs().before_launch(exec);
    patch_exec(exec);
    const bool null_stream = choices_.percent(swarm_.devices ? 10 : 50);
    const Launch command{exec, null_stream ? kNullStream : stream_for(state_.exec(exec)->graph)};
    if (state_.check(command)) return;
    const bool across = swarm_.event_nodes && choices_.percent(40);
    if (across) before_waits(command);
    if (state_.launch_races(exec, command.stream) || !may_stand(command)) take(Synchronize{Target::kDevice, 0});
    const std::uint32_t repeat = choices_.percent(4) ? static_cast<std::uint32_t>(choices_.between(2, 3)) : 1;
    take(command, repeat);
    if (across) behind_records(command);
  }

  // Gives other streams work that event nodes order without a wait of the host: before_waits() adds work that the
  // launch waits for, behind_records() adds work that waits for the launch.
  void before_waits(const Launch& launch) {
    const std::optional<Id> event = event_of<EventWaitParams>(launch), stream = other_stream(launch.stream);
    if (event && stream && on_streams().work(*stream)) take(RecordEvent{*event, *stream});
  }

  void behind_records(const Launch& launch) {
    const std::optional<Id> event = event_of<EventRecordParams>(launch), stream = other_stream(launch.stream);
    if (event && stream && take(WaitEvent{*stream, *event})) on_streams().work(*stream);
  }

  template <class Params>
  std::optional<Id> event_of(const Launch& launch) {
    std::vector<Id> events;
    for (const NodeState& node : state_.exec(launch.exec)->graph.nodes) {
      if (const auto* params = std::get_if<Params>(&node.params)) events.push_back(params->event);
    }
    return events.empty() ? std::nullopt : std::optional<Id>(pick(events));
  }

  std::optional<Id> other_stream(Id stream) {
    std::vector<Id> streams = state_.live_streams();
    std::erase_if(streams, [&](Id each) {
      return each == stream || state_.device_of_stream(each) != state_.device_of_stream(stream);
    });
    return streams.empty() ? std::nullopt : std::optional<Id>(pick(streams));
  }

  void move() {
    std::vector<Id> buffers = alive(state_.buffers());
    std::erase_if(buffers, [this](Id id) { return state_.buffer(id)->symbol.has_value(); });
    if (buffers.empty()) return;
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

  // Moves buffers to each other's places in a ring; in an open chain the last one moves to a new place.
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
    const std::vector<Id> graphs = alive(state_.graphs());
    if (choices_.percent(30) && !graphs.empty()) take(Patch{Target::kGraph, pick(graphs)});
  }

  // Mostly updates from the graph that the executable graph came from, changed by setters or patched; sometimes from
  // any graph, which mostly fails.
  void update() {
    const std::vector<Id> execs = alive(state_.execs());
    if (execs.empty()) return;
    const Id exec = pick(execs);
    const Id origin = state_.exec(exec)->origin;
    if (!state_.graph(origin)->alive) return;
    if (choices_.percent(swarm_.editing ? 40 : 15)) {
      const Id other = pick(alive(state_.graphs()));
      if (choices_.percent(50)) set_node(Target::kGraph, other);
      take(Update{exec, other});
      return;
    }
    if (!state_.current(*state_.graph(origin))) take(Patch{Target::kGraph, origin});
    if (choices_.percent(70)) set_node(Target::kGraph, origin);
    take(Update{exec, origin});
  }
  void bytes() { by_fields(Topic::kBytes); }

  // Frees a buffer, and mostly declares a new one that can get its address. A cache keyed by address confuses the two.
  void free_buffer() {
    const std::vector<Id> buffers = alive(state_.buffers());
    if (buffers.size() < 3) return;
    const Id victim = pick(buffers);
    const std::uint64_t bytes = state_.buffer(victim)->bytes;
    const Id device = state_.buffer(victim)->device;
    for (const auto& [id, exec] : state_.execs()) {
      if (exec.alive && exec.graph.addresses.contains(victim) && !choices_.percent(10)) return;
    }
    if (take(Free{victim}) && choices_.percent(70)) {
      if (take(DeclareBuffer{next_.buffer, bytes, MemoryKind::kDevice, {}, device})) ++next_.buffer;
    }
  }

  void destroy() {
    const std::vector<Id> execs = alive(state_.execs()), graphs = alive(state_.graphs());
    if (choices_.percent(50) && execs.size() > 1) {
      take(Destroy{Target::kExec, pick(execs)});
    } else if (graphs.size() > 1) {
      const Id graph = pick(graphs);
      for (const auto& [id, exec] : state_.execs()) {
        // Executable graphs of a destroyed graph can only be launched, not patched any more.
        if (exec.alive && exec.origin == graph && !choices_.percent(30)) return;
      }
      take(Destroy{Target::kGraph, graph});
      for (const auto& [id, exec] : state_.execs()) {
        if (exec.alive && exec.origin == graph && choices_.percent(20)) return void(take(Destroy{Target::kExec, id}));
      }
    }
  }

  void destroy_stream_or_event() {
    const std::vector<Id> streams = state_.live_streams(), events = state_.live_events();
    if (choices_.percent(50) && streams.size() > 1) {
      take(Destroy{Target::kStream, streams[choices_.between(1, streams.size() - 1)]});
    } else if (!events.empty()) {
      take(Destroy{Target::kEvent, pick(events)});
    }
  }

  void stream_or_event() {
    const std::vector<Id> streams = state_.live_streams(), events = state_.live_events();
    if (streams.size() < 3 && choices_.percent(50)) {
      on_streams().declare_stream();
    } else if (events.empty()) {
      on_streams().declare_event();
    } else {
      const Id event = pick(events);
      // HIP: waiting for an event that was never recorded does not wait.
      if (!choices_.percent(8)) on_streams().record(event);
      if (choices_.percent(15)) on_streams().record(event);
      take(WaitEvent{pick(streams), event});
    }
  }

  StreamGenerator on_streams() {
    return {choices_,
            swarm_,
            state_,
            next_,
            [this](const Command& command) { return take(command); },
            [this](Topic topic) { by_fields(topic); },
            [this](Id stream) { memory_of_streams().in_capture(stream); }};
  }

  void eager() {
    if (swarm_.eager) on_streams().eager_work();
  }

  void query() {
    if (swarm_.eager) on_streams().query();
  }

  void capture() {
    if (swarm_.captures) on_streams().capture();
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

  // A program of bad calls: there are hundreds of them, and each takes microseconds.
  Program bad_calls() {
    for (std::uint32_t i = 0; i < options_.size && !choices_.exhausted(); ++i) bad_call();
    if (program_.steps.empty()) declare_buffer();
    return std::move(program_);
  }

  void bad_call() {
    if (!swarm_.bad_calls && !swarm_.only_bad_calls) return;
    const ErrorCase& drawn = error_cases()[choices_.below(error_cases().size())];
    // The reference cannot resolve the symbols of such a call, so the program would not run at all.
    if (drawn.function.find("Symbol") != std::string_view::npos) return;
    take(BadCall{std::string(drawn.function), std::string(drawn.name)});
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

  // Makes everything that was recorded visible: each executable graph is brought up to date and launched once more.
  void finish() {
    for (const Id exec : alive(state_.execs())) {
      if (program_.steps.size() > options_.size + 4) break;
      launch_exec(exec);
    }
  }
};

}  // namespace

Program generate_program(Choices& choices, const GeneratorOptions& options) {
  return ProgramGenerator(choices, options).run();
}

Program insert_generated(const Program& program, std::size_t at, Choices& choices, const GeneratorOptions& options) {
  std::vector<Step> steps = ProgramGenerator(choices, options).go_on(program, at);
  Program longer = program;
  longer.steps.insert(longer.steps.begin() + static_cast<std::ptrdiff_t>(at), std::make_move_iterator(steps.begin()),
                      std::make_move_iterator(steps.end()));
  return longer;
}

RandomChoices campaign_choices(std::uint64_t seed, std::uint64_t index) {
  // SplitMix64's increment keeps neighbouring indices apart before RapidCheck's own mixing.
  return RandomChoices(rc::Random(seed ^ (index * 0x9e3779b97f4a7c15ULL)));
}

Program scenario_program(Choices& choices, System system, const GeneratorOptions& options) {
  Program program;
  const ScenarioOptions scenario{options.size, options.system_devices, options.failures};
  for (const SystemAction& action : draw_scenario(choices, system, scenario)) program.steps.push_back({action});
  return program;
}

Program campaign_program(std::uint64_t seed, std::uint64_t index, const GeneratorOptions& options) {
  RandomChoices choices = campaign_choices(seed, index);
  if (options.systems_every != 0 && index % options.systems_every == options.systems_every - 1) {
    const auto turn = static_cast<System>(index / options.systems_every % kSystems);
    return scenario_program(choices, options.system.value_or(turn), options);
  }
  return generate_program(choices, options);
}

}  // namespace verify
