#include "verify/shrink/shrinker.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "verify/commands/nodes/node_types.h"
#include "verify/generate/generator.h"
#include "verify/program/blocks.h"
#include "verify/program/state.h"
#include "verify/program/threads.h"

namespace verify {

namespace {

// The steps of `program`, one round of each block, that are valid at their place.
Program drop_invalid_steps(const Program& program) {
  Program valid;
  valid.setting = program.setting;
  State state;
  for (const Step& step : program.steps) {
    const std::uint32_t times = repeats_that_matter(step);
    State before = times > 1 ? state : State{};  // the state to restore when a repetition stops
    bool stands = true;
    for (std::uint32_t k = 0; k < times && stands; ++k) {
      stands = !state.check(step.command);
      if (stands) state.apply(step.command);
    }
    if (stands) {
      valid.steps.push_back(step);
    } else if (times > 1) {
      state = std::move(before);
    }
  }
  return valid;
}

// The written forms in which the threads of one block run one after the other, or one of them does nothing.
std::vector<Program> with_fewer_threads(const Program& written) {
  std::vector<Program> fewer;
  for (std::size_t begin = 0; begin < written.steps.size(); ++begin) {
    if (!starts_threads(written, begin)) continue;
    const auto from = static_cast<std::ptrdiff_t>(begin),
               to = static_cast<std::ptrdiff_t>(end_of_block(written, begin));
    fewer.push_back(written);
    std::for_each(fewer.back().steps.begin() + from, fewer.back().steps.begin() + to, [](Step& step) { step.in = {}; });
    for (Id thread = 1; thread <= kMaxThread; ++thread) {
      Program without = written;
      const auto end = without.steps.begin() + to;
      const auto left = std::remove_if(without.steps.begin() + from, end,
                                       [thread](const Step& step) { return step.in.thread == thread; });
      if (left == end) continue;
      without.steps.erase(left, end);
      fewer.push_back(std::move(without));
    }
  }
  return fewer;
}

// The written forms in which one block has fewer rounds.
std::vector<Program> with_fewer_rounds(const Program& written) {
  std::vector<Program> fewer;
  std::uint32_t last = 0;
  for (const Step& first : written.steps) {
    if (first.in.block == std::exchange(last, first.in.block) || first.in.block == 0) continue;
    for (const std::uint64_t rounds : smaller_values(first.in.rounds, 1)) {
      fewer.push_back(written);
      for (Step& step : fewer.back().steps) {
        if (step.in.block == last) step.in.rounds = static_cast<std::uint32_t>(rounds);
      }
    }
  }
  return fewer;
}

Program with_declared(const Program& program, std::size_t at) {
  const auto allocation = std::get<AddNode>(program.steps[at].command);
  const auto memory = std::get<MemoryAllocParams>(allocation.params);
  Program declared = program;
  for (Step& step : declared.steps) {
    if (auto* node = std::get_if<AddNode>(&step.command)) {
      const auto* freed = std::get_if<MemoryFreeParams>(&node->params);
      if (freed != nullptr && freed->buffer == memory.buffer) node->params = EmptyParams{};
      if (node->graph == allocation.graph) std::erase(node->after, allocation.node);
    } else if (auto* edges = std::get_if<ChangeEdges>(&step.command); edges != nullptr) {
      if (edges->graph == allocation.graph) std::erase(edges->after, allocation.node);
    }
  }
  declared.steps[at].command = DeclareBuffer{memory.buffer, memory.bytes};
  return declared;
}

// The program without the capture that ends at step `at`, and with the captured graph built node by node there. No
// value when that capture makes no graph, or adds to a graph that exists.
std::optional<Program> with_built(const Program& program, std::size_t at) {
  const auto& end = std::get<EndCapture>(program.steps[at].command);
  State state;
  Program built = program;
  built.steps.clear();
  std::size_t begin = 0;  // in `built`
  for (std::size_t i = 0; i < at; ++i) {
    const Command& command = program.steps[i].command;
    const auto* begins = std::get_if<BeginCapture>(&command);
    if (begins != nullptr && begins->stream == end.stream) {
      if (begins->into) return {};
      begin = built.steps.size();
    }
    if (!gives_captured_work(state, command, end.stream)) built.steps.push_back(program.steps[i]);
    for (std::uint32_t k = 0; k < repeats_that_matter(program.steps[i]); ++k) state.apply(command);
  }
  state.apply(program.steps[at].command);
  const GraphState* graph = state.graph(end.graph);
  if (graph == nullptr || !graph->alive) return {};
  built.steps.erase(built.steps.begin() + static_cast<std::ptrdiff_t>(begin));
  const InBlock in = program.steps[at].in;
  built.steps.push_back({DeclareGraph{end.graph}, 1, 0, in});
  for (const NodeState& node : graph->nodes) {
    AddNode add{end.graph, node.id, node.params, {}, node.fan};
    for (const std::uint32_t index : node.after) add.after.push_back(graph->nodes[index].id);
    built.steps.push_back({add, 1, 0, in});
    if (!(node.attributes == NodeAttributes{}))
      built.steps.push_back({SetAttributes{end.graph, node.id, node.attributes}, 1, 0, in});
  }
  built.steps.insert(built.steps.end(), program.steps.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                     program.steps.end());
  return built;
}

// One shrink: holds the best program so far, in its written form, and the budget.
class Descent {
 public:
  Descent(const Program& program, const StillFails& still_fails, std::uint32_t max_runs)
      : best_(written_form(program)), still_fails_(still_fails), max_runs_(max_runs) {}

  ShrinkResult run() {
    bool improved = true;
    while (improved && !spent()) {
      improved = repeat_less();
      improved = overlap_less() || improved;
      improved = drop_commands() || improved;
      improved = simplify_commands() || improved;
      improved = declare_memory() || improved;
      improved = build_captured() || improved;
      improved = declare_captured() || improved;
      improved = use_arena() || improved;
      improved = unset_variables() || improved;
    }
    return {*all_rounds(best_), runs_, spent()};
  }

 private:
  [[nodiscard]] bool spent() const { return runs_ >= max_runs_; }

  bool accept(const Program& candidate) {
    if (spent()) return false;
    Program valid = keep_valid_blocks(drop_invalid_steps(candidate));
    // Dropping commands that became invalid may undo the change's purpose or drop everything; the predicate judges
    // both. But a program with more commands than before must not be taken, or the descent would not end.
    if (valid.steps.size() > best_.steps.size()) return false;
    ++runs_;
    if (!still_fails_(*all_rounds(valid))) return false;
    best_ = std::move(valid);
    return true;
  }

  // Fewer rounds first: every later candidate then runs sooner.
  bool repeat_less() { return while_one_is_accepted(with_fewer_rounds); }
  bool overlap_less() { return while_one_is_accepted(with_fewer_threads); }

  bool while_one_is_accepted(std::vector<Program> (*candidates)(const Program& written)) {
    bool any = false;
    for (bool again = true; again && !spent();) {
      again = std::ranges::any_of(candidates(best_), [this](const Program& fewer) { return accept(fewer); });
      any = any || again;
    }
    return any;
  }

  // Halves, quarters, ... and single commands, from the end (later commands depend on earlier ones).
  bool drop_commands() {
    bool any = false;
    for (std::size_t chunk = std::max<std::size_t>(best_.steps.size() / 2, 1); !spent(); chunk /= 2) {
      std::size_t end = best_.steps.size();
      while (end > 0 && !spent()) {
        const std::size_t begin = end > chunk ? end - chunk : 0;
        Program candidate = best_;
        candidate.steps.erase(candidate.steps.begin() + static_cast<std::ptrdiff_t>(begin),
                              candidate.steps.begin() + static_cast<std::ptrdiff_t>(end));
        any = accept(candidate) || any;
        end = std::min(begin, best_.steps.size());
      }
      if (chunk == 1) break;
    }
    return any;
  }

  bool simplify_commands() {
    bool any = false;
    for (std::size_t i = 0; i < best_.steps.size() && !spent(); ++i) {
      bool again = true;
      while (again && !spent() && i < best_.steps.size()) {
        again = false;
        for (Step& simpler : simpler_steps(best_.steps[i])) {
          Program candidate = best_;
          candidate.steps[i] = std::move(simpler);
          if (accept(candidate)) {
            any = again = true;
            break;
          }
          if (spent()) break;
        }
      }
    }
    return any;
  }

  // Turns memory that a graph, a stream or hipMalloc allocates, and a view of mapped memory, into a buffer of the
  // program, so that no rule of such memory prevents further changes.
  bool declare_memory() {
    bool any = false;
    for (std::size_t i = 0; i < best_.steps.size() && !spent(); ++i) {
      const auto* node = std::get_if<AddNode>(&best_.steps[i].command);
      if (node != nullptr && std::holds_alternative<MemoryAllocParams>(node->params)) {
        any = accept(with_declared(best_, i)) || any;
      }
      const auto declare = [&](const auto* memory) {
        if (memory == nullptr) return;
        Program declared = best_;
        declared.steps[i].command = DeclareBuffer{memory->buffer, memory->bytes};
        any = accept(declared) || any;
      };
      declare(std::get_if<MallocAsync>(&best_.steps[i].command));
      declare(std::get_if<Malloc>(&best_.steps[i].command));
      declare(std::get_if<DeclareView>(&best_.steps[i].command));
    }
    return any;
  }

  // Builds a captured graph by hand: its nodes then have names and can be dropped one by one.
  bool build_captured() {
    bool any = false;
    for (std::size_t i = 0; i < best_.steps.size() && !spent(); ++i) {
      if (!std::holds_alternative<EndCapture>(best_.steps[i].command)) continue;
      if (const std::optional<Program> built = with_built(best_, i)) any = accept(*built) || any;
    }
    return any;
  }

  // Replaces a captured graph by an empty graph, where its nodes do not matter.
  bool declare_captured() {
    bool any = false;
    for (std::size_t i = 0; i < best_.steps.size() && !spent(); ++i) {
      const auto* end = std::get_if<EndCapture>(&best_.steps[i].command);
      if (end == nullptr) continue;
      Program candidate = best_;
      candidate.steps[i].command = DeclareGraph{end->graph};
      std::erase_if(candidate.steps, [stream = end->stream](const Step& step) {
        const auto* begin = std::get_if<BeginCapture>(&step.command);
        return begin != nullptr && begin->stream == stream;
      });
      any = accept(candidate) || any;
    }
    return any;
  }

  bool use_arena() {
    if (best_.setting.placement == Placement::kArena) return false;
    Program candidate = best_;
    candidate.setting.placement = Placement::kArena;
    return accept(candidate);
  }

  bool unset_variables() {
    bool any = false;
    const Environment all = best_.setting.environment;
    for (const auto& [name, value] : all) {
      Program candidate = best_;
      candidate.setting.environment.erase(name);
      any = accept(candidate) || any;
    }
    return any;
  }

  Program best_;
  const StillFails& still_fails_;
  std::uint32_t max_runs_;
  std::uint32_t runs_ = 0;
};

}  // namespace

Program drop_invalid(const Program& program) {
  return drop_invalid_steps(without_blocks(program));
}

ShrinkResult Shrinker::shrink(const Program& program, const StillFails& still_fails) const {
  assert(!validate(program));
  return Descent(program, still_fails, max_runs_).run();
}

// RapidCheck asks for all candidates of one step and takes the first that fails.
static rc::Seq<Program> shrinks_of(const Program& program) {
  const Program written = written_form(program);
  std::vector<Program> candidates;
  const auto add = [&candidates](const Program& candidate) {
    candidates.push_back(*all_rounds(keep_valid_blocks(drop_invalid_steps(candidate))));
  };
  for (const Program& fewer : with_fewer_rounds(written)) add(fewer);
  for (const Program& fewer : with_fewer_threads(written)) add(fewer);
  for (std::size_t i = written.steps.size(); i-- > 0;) {
    Program candidate = written;
    candidate.steps.erase(candidate.steps.begin() + static_cast<std::ptrdiff_t>(i));
    add(candidate);
  }
  for (std::size_t i = 0; i < written.steps.size(); ++i) {
    for (Step& simpler : simpler_steps(written.steps[i])) {
      Program candidate = written;
      candidate.steps[i] = std::move(simpler);
      add(candidate);
    }
  }
  return rc::seq::fromContainer(std::move(candidates));
}

rc::Gen<Program> arbitrary_program(const GeneratorOptions& options) {
  return rc::Gen<Program>([options](const rc::Random& random, int size) {
    GeneratorOptions sized = options;
    sized.size = std::max<std::uint32_t>(6, options.size * static_cast<std::uint32_t>(std::max(size, 10)) / 100);
    RandomChoices choices(random);
    return rc::shrinkable::shrinkRecur(generate_program(choices, sized),
                                       [](const Program& program) { return shrinks_of(program); });
  });
}

}  // namespace verify
