#include "verify/generate/mutate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "verify/generate/graph_ops.h"
#include "verify/language/foreign_kernels.h"
#include "verify/program/blocks.h"
#include "verify/program/state.h"
#include "verify/program/text.h"

namespace verify {

namespace {

// Takes commands one by one and makes each stand or leaves it out.
class Repair {
 public:
  explicit Repair(const GeneratorOptions& options) : options_(options) {}

  void take(const Step& step) {
    in_ = step.in;
    Command command = step.command;
    if (auto* node = std::get_if<AddNode>(&command)) node->fan = std::min(node->fan, kMaxMutantFan);
    if (!prepare(command)) return;
    std::uint32_t times = 0;
    for (; times < std::min(step.repeat, kMaxMutantRepeat) && may_stand(command); ++times) state_.apply(command);
    if (times != 0) program_.steps.push_back({std::move(command), times, 0, in_});
  }
  Program done() { return std::move(program_); }
  void set(const Setting& setting) { program_.setting = setting; }

 private:
  [[nodiscard]] bool may_stand(const Command& command) const {
    return !state_.check(command) && !(options_.avoid && options_.avoid(state_, command, in_.thread));
  }

  // Orders the command behind work that it would race with. Returns false when the command is invalid or races anyway.
  bool prepare(Command& command) {
    if (state_.check(command)) return false;
    if (auto* add = std::get_if<AddNode>(&command)) {
      order(*add);
    } else if (const auto* set = std::get_if<SetNode>(&command)) {
      return !state_.set_races(*set);
    } else if (const auto* work = std::get_if<Enqueue>(&command)) {
      const std::vector<ByteRange> ranges = state_.ranges_of(work->params, 1);
      if (const CaptureState* capture = state_.capture_of(work->stream))
        return !state_.node_races(capture->graph, ranges, capture->behind.at(work->stream));
      if (state_.captures().empty() && state_.work_races(ranges, work->stream))
        take({Synchronize{Target::kDevice, 0}, 1, 0, in_});
      return !state_.work_races(ranges, work->stream);
    } else if (const auto* freed = std::get_if<FreeAsync>(&command)) {
      if (state_.work_races({{freed->buffer, 0, kToTheEnd, true}}, freed->stream))
        take({Synchronize{Target::kDevice, 0}, 1, 0, in_});
    } else if (const auto* launch = std::get_if<Launch>(&command)) {
      if (const CaptureState* capture = state_.capture_of(launch->stream)) {
        const std::vector<ByteRange> ranges = state_.exec(launch->exec)->graph.ranges();
        return !state_.node_races(capture->graph, ranges, capture->behind.at(launch->stream));
      }
      if (state_.launch_races(launch->exec, launch->stream)) take({Synchronize{Target::kDevice, 0}, 1, 0, in_});
      // A graph that waits for nothing of its own may still race with itself when it is launched again.
      return !state_.launch_races(launch->exec, launch->stream);
    }
    return !takes_order(command) || !races_after(state_, command);
  }

  void order(AddNode& command) const {
    const GraphState& graph = *state_.graph(command.graph);
    const std::vector<ByteRange> ranges = state_.ranges_of(command.params, command.fan);
    std::vector<std::uint32_t> after;
    for (const Id id : command.after) after.push_back(static_cast<std::uint32_t>(graph.index_of(id)));
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
      if (!state_.node_races(graph, ranges, after)) return;
      if (!conflict(ranges, graph.nodes[i].ranges)) continue;
      const Id id = graph.nodes[i].id;
      if (std::ranges::find(command.after, id) != command.after.end()) continue;
      command.after.push_back(id);
      after.push_back(static_cast<std::uint32_t>(i));
    }
  }

  const GeneratorOptions& options_;
  State state_;
  Program program_;
  InBlock in_;  // of the step that is taken
};

// ---- changes

using Steps = std::vector<Step>;

std::ptrdiff_t place_in(const Steps& steps, Choices& choices) {
  return static_cast<std::ptrdiff_t>(choices.below(steps.size() + 1));
}

void drop(Steps& steps, Choices& choices) {
  const std::ptrdiff_t at = place_in(steps, choices);
  const auto length = std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(choices.between(1, 4)),
                                               static_cast<std::ptrdiff_t>(steps.size()) - at);
  steps.erase(steps.begin() + at, steps.begin() + at + length);
}

void swap(Steps& steps, Choices& choices) {
  if (steps.size() < 2) return;
  std::swap(steps[choices.below(steps.size())], steps[choices.below(steps.size())]);
}

// Some commands of another program, or of this one a second time.
void splice(Steps& steps, const Steps& from, Choices& choices) {
  if (from.empty()) return;
  const std::size_t begin = choices.below(from.size());
  const std::size_t length = std::min<std::size_t>(choices.between(1, 12), from.size() - begin);
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(begin);
  const Steps taken(first, first + static_cast<std::ptrdiff_t>(length));  // `from` may be `steps`
  steps.insert(steps.begin() + place_in(steps, choices), taken.begin(), taken.end());
}

// This program's beginning and the other one's end.
void cross(Steps& steps, const Steps& from, Choices& choices) {
  const std::ptrdiff_t keep = place_in(steps, choices), skip = place_in(from, choices);
  steps.resize(static_cast<std::size_t>(keep));
  steps.insert(steps.end(), from.begin() + skip, from.end());
}

std::uint64_t another_number(std::uint64_t number, Choices& choices) {
  switch (choices.below(6)) {
    case 0:
      return number + 1;
    case 1:
      return number == 0 ? 1 : number - 1;
    case 2:
      return number * 2;
    case 3:
      return number / 2;
    case 4:
      return choices.below(4);
    default:
      return choices.below(256);
  }
}

// Changes a number somewhere in a command's text: an id, an offset, a size, a value. Every command has a text.
void change_argument(Program& program, Choices& choices) {
  Steps& steps = program.steps;
  if (steps.empty()) return;
  Step& step = steps[choices.below(steps.size())];
  // The bytes that foreign kernels touch are unknown: not even a buffer may become smaller.
  if (!foreign_kernels_of(step.command).empty()) return;
  if (std::holds_alternative<DeclareBuffer>(step.command) && !code_objects_of(program).empty()) return;
  std::string text = print_command(step.command);
  std::vector<std::pair<std::size_t, std::size_t>> numbers;  // offset, length
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (end != i && end - i < 10) numbers.emplace_back(i, end - i);
    i = std::max(end, i + 1);
  }
  if (numbers.empty()) return;
  const auto [offset, length] = numbers[choices.below(numbers.size())];
  const std::uint64_t number = another_number(std::stoull(text.substr(offset, length)), choices);
  text.replace(offset, length, std::to_string(number));
  std::variant<Program, ParseError> parsed = parse_program(fmt::format("hgcheck-program {}\n{}\n", kTextVersion, text));
  const auto* changed = std::get_if<Program>(&parsed);
  if (changed == nullptr || changed->steps.size() != 1) return;
  step.command = changed->steps[0].command;
}

// How often a command, or the block that it stands in, repeats.
void change_repeat(Steps& steps, Choices& choices) {
  if (steps.empty()) return;
  Step& drawn = steps[choices.below(steps.size())];
  const auto repeat = static_cast<std::uint32_t>(choices.between(1, kMaxMutantRepeat));
  if (drawn.in.block == 0) {
    drawn.repeat = repeat;
    return;
  }
  for (Step& step : steps) {
    if (step.in.block == drawn.in.block) step.in.rounds = repeat;
  }
}

// A splice brings blocks with the numbers of other blocks, and long ones. A block of many rounds takes a second to
// judge, so a few of them in a corpus would slow a campaign down.
void tidy_blocks(Steps& steps) {
  const auto block_of = [](const Step& step) { return std::pair(step.in.block, step.in.thread != 0); };
  std::uint32_t number = 0;
  for (auto first = steps.begin(); first != steps.end();) {
    const auto [block, threads] = block_of(*first);
    const auto end = std::find_if(first, steps.end(), [&](const Step& s) { return block_of(s) != block_of(*first); });
    if (block != 0) {
      const std::size_t most = std::max<std::size_t>(kMaxMutantBlock / static_cast<std::size_t>(end - first), 1);
      const auto rounds = static_cast<std::uint32_t>(std::min<std::size_t>({first->in.rounds, kMaxMutantRounds, most}));
      ++number;
      std::for_each(first, end, [&](Step& step) { step.in = {number, threads ? 1 : rounds, 0, step.in.thread}; });
    }
    first = end;
  }
}

void mutate_once(Program& program, const Program& other, Choices& choices, const GeneratorOptions& options) {
  switch (choices.below(8)) {
    case 0:
      return drop(program.steps, choices);
    case 1:
      return swap(program.steps, choices);
    case 2:
      return splice(program.steps, other.steps, choices);
    case 3:
      return splice(program.steps, program.steps, choices);
    case 4:
      return cross(program.steps, other.steps, choices);
    case 5:
      return change_repeat(program.steps, choices);
    case 6:
      program = insert_generated(program, choices.below(program.steps.size() + 1), choices, options);
      return;
    default:
      return change_argument(program, choices);
  }
}

}  // namespace

Program repair_program(const Program& program, const GeneratorOptions& options) {
  Repair repair(options);
  repair.set(program.setting);
  for (const Step& step : program.steps) repair.take(step);
  return repair.done();
}

Program with_fit_blocks(const Program& written, const GeneratorOptions& options) {
  const std::optional<Program> all = all_rounds(written);
  const bool fit = all && !validate(*all) && (!has_blocks(*all) || repair_program(*all, options) == *all);
  return fit ? *all : without_blocks(written);
}

Program mutate_program(const Program& base, const Program& other, Choices& choices, const GeneratorOptions& options) {
  Program mutant = written_form(base);
  const Program written_other = written_form(other);
  for (std::uint64_t i = choices.between(1, kMaxMutations); i > 0; --i)
    mutate_once(mutant, written_other, choices, options);
  if (mutant.steps.size() > kMaxMutantSteps) mutant.steps.resize(kMaxMutantSteps);
  tidy_blocks(mutant.steps);
  return with_fit_blocks(repair_program(mutant, options), options);
}

}  // namespace verify
