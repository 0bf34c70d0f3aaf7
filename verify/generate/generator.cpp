#include "verify/generate/generator.h"

#include <algorithm>
#include <array>

#include "verify/errors/error_cases.h"
#include "verify/generate/blocks.h"
#include "verify/generate/graph_ops.h"
#include "verify/generate/scenario.h"

namespace verify {

namespace {

// Chooses the next action until the program has its size, then launches every executable graph once more.
class ProgramGenerator final : private BlocksDraft {
 public:
  ProgramGenerator(Choices& choices, const GeneratorOptions& options) : BlocksDraft(choices, options) {}

  Program run() {
    const Placement drawn = choices_.percent(30) ? Placement::kNative : Placement::kArena;
    program_.setting.placement = options_.placement.value_or(drawn);
    if (swarm_.only_bad_calls) return bad_calls();
    const std::uint64_t buffers = choices_.between(2, 5);
    for (std::uint64_t i = 0; i < buffers; ++i) declare_buffer();
    // options_.avoid may have rejected every buffer that was drawn.
    if (alive(state_.buffers()).empty() && take(DeclareBuffer{next_.buffer, 256, MemoryKind::kDevice})) ++next_.buffer;
    if (swarm_.event_nodes) declare_events();
    if (swarm_.devices) declare_device();
    if (swarm_.mapped_memory) declare_mapped_memory();
    build_graph();
    instantiate();
    // Bounded: every turn either takes a command or counts towards giving up.
    for (std::uint32_t turn = 0; program_.steps.size() + 4 < options_.size && turn < 4 * options_.size; ++turn) {
      if (choices_.exhausted()) break;
      act();
    }
    finish();
    add_block();
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
    if (swarm_.stream_memory && choices_.percent(30)) return stream_memory();
    if (swarm_.mapped_memory && choices_.percent(35)) return mapped_memory();
    if (swarm_.devices && choices_.percent(8)) return peers();
    if ((swarm_.editing || swarm_.toggling || swarm_.queries || swarm_.objects || swarm_.attributes) &&
        choices_.percent(20))
      return graph_op();
    struct Action {
      unsigned weight;
      void (ProgramGenerator::*run)();
    };
    static constexpr std::array<Action, 24> kActions = {{
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
        {10, &ProgramGenerator::eager_work},
        {3, &ProgramGenerator::query},
        {9, &ProgramGenerator::capture},
        {2, &ProgramGenerator::bad_call},
        {3, &ProgramGenerator::modules},
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

  // Makes a graph that holds another as a child, its executable graph, and a setter of the child: rare by chance alone.
  void child_family() {
    const std::vector<Id> graphs = alive(state_.graphs());
    if (graphs.empty() || graphs.size() >= kMaxGraphs || alive(state_.execs()).size() >= kMaxExecs) return;
    const Id inner = pick(graphs);
    if (state_.graph(inner)->nodes.empty() && !choices_.percent(10)) return;
    if (!state_.current(*state_.graph(inner))) take(Patch{Target::kGraph, inner});
    const Id outer = next_.graph++;
    if (!take(DeclareGraph{outer})) return;
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
    StreamsDraft::instantiate(GraphOpsGenerator(choices_, swarm_, state_, next_).instantiate(next_.exec, pick(graphs)));
  }

  void update() {
    if (swarm_.anew && choices_.percent(70)) return update_anew();
    NodesDraft::update();
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

  void graph_memory() {
    const bool room = alive(state_.graphs()).size() < kMaxGraphs && alive(state_.execs()).size() < kMaxExecs;
    if (room && choices_.percent(50)) return memory_family();
    if (choices_.percent(20)) return by_fields(Topic::kGraphMemory);
    use_what_is_there();
  }

  void bytes() { by_fields(Topic::kBytes); }

  void destroy() {
    const std::vector<Id> execs = alive(state_.execs()), graphs = alive(state_.graphs());
    if (choices_.percent(50) && execs.size() > 1) {
      take(Destroy{Target::kExec, pick(execs)});
    } else if (graphs.size() > 1) {
      const Id graph = pick(graphs);
      for (const auto& [id, exec] : state_.execs()) {
        // The nodes of executable graphs of a destroyed graph have no names any more: no setter takes them.
        if (exec.alive && exec.origin == graph && !choices_.percent(30)) return;
      }
      take(Destroy{Target::kGraph, graph});
      for (const auto& [id, exec] : state_.execs()) {
        if (exec.alive && exec.origin == graph && choices_.percent(20)) return void(take(Destroy{Target::kExec, id}));
      }
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
    if (swarm_.mapped_memory && choices_.percent(50)) return fail_to_map();
    const auto nth = static_cast<std::uint32_t>(choices_.between(1, 4));
    if (choices_.percent(15)) {
      take(FailBelow{nth, static_cast<Below>(choices_.below(kBelowWords.size()))});
    } else {
      take(Fail{nth, kFunctions[choices_.below(kFunctions.size())]});
    }
    move();
    patch_stale();
  }

  void fail_to_map() {
    static constexpr std::array<const char*, 4> kFunctions = {"hipMemAddressReserve", "hipMemCreate", "hipMemMap",
                                                              "hipMemSetAccess"};
    take(Fail{static_cast<std::uint32_t>(choices_.between(1, 2)), kFunctions[choices_.below(kFunctions.size())]});
    mapped_memory();
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
