#include "verify/program/blocks.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "verify/program/names.h"
#include "verify/program/state.h"

namespace verify {

namespace {

using Name = std::pair<char, Id>;

// Writes the steps of a written form one by one, and blocks round by round.
class Rounds {
 public:
  explicit Rounds(const Program& written) {
    all_.setting = written.setting;
    for (const Step& step : written.steps) next_.use(step.command);
  }

  // False where a bound is exceeded.
  bool add(std::span<const Step> steps) {
    const InBlock mark = steps.front().in;
    const std::uint32_t rounds = mark.block == 0 ? 1 : mark.rounds;
    if (rounds * std::uint64_t{steps.size()} > kMaxCommands - std::min(kMaxCommands, all_.steps.size())) return false;
    blocks_ += rounds > 1 || mark.thread != 0 ? 1 : 0;
    const std::set<Name> made = made_by(steps);
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const std::map<Name, Id> names = round == 0 ? std::map<Name, Id>{} : new_names(made);
      for (const Step& step : steps) {
        all_.steps.push_back(step);
        if (step.in.thread != 0) {
          all_.steps.back().in = {blocks_, 1, 0, step.in.thread};
        } else {
          all_.steps.back().in = rounds > 1 ? InBlock{blocks_, rounds, round} : InBlock{};
        }
        if (!names.empty()) rename(all_.steps.back().command, names);
      }
    }
    return std::ranges::all_of(made, [this](const Name& name) { return next_.of(name.first) <= kMaxId + 1; });
  }

  Program done() { return std::move(all_); }

 private:
  // The names that the steps make and that no step before them made.
  std::set<Name> made_by(std::span<const Step> steps) {
    std::set<Name> made;
    for (const Step& step : steps) {
      Command command = step.command;
      for_each_name(command, [&](char letter, const Id& id, bool is_made) {
        if (is_made && there_.emplace(letter, id).second) made.emplace(letter, id);
      });
    }
    return made;
  }
  std::map<Name, Id> new_names(const std::set<Name>& made) {
    std::map<Name, Id> names;
    for (const Name& name : made) names[name] = next_.of(name.first)++;
    return names;
  }
  static void rename(Command& command, const std::map<Name, Id>& names) {
    for_each_name(command, [&names](char letter, Id& id, bool) {
      const auto found = names.find({letter, id});
      if (found != names.end()) id = found->second;
    });
  }

  Program all_;
  NextNames next_;
  std::set<Name> there_;
  std::uint32_t blocks_ = 0;
};

}  // namespace

bool has_blocks(const Program& program) {
  return std::ranges::any_of(program.steps, [](const Step& step) { return step.in.block != 0; });
}

std::size_t in_first_round(const Program& program, std::size_t step) {
  const InBlock in = program.steps[step].in;
  if (in.round == 0) return step;
  const auto follows_its_block = [&](std::size_t i) { return i > 0 && program.steps[i - 1].in.block == in.block; };
  std::size_t end = step;  // of the block's first round
  while (follows_its_block(end) && program.steps[end - 1].in.round != 0) --end;
  std::size_t begin = end;
  while (follows_its_block(begin)) --begin;
  return begin == end ? step : begin + (step - begin) % (end - begin);
}

std::optional<Program> all_rounds(const Program& written, std::size_t* too_many) {
  if (!has_blocks(written)) return written;
  Rounds rounds(written);
  const std::span<const Step> steps(written.steps);
  for (std::size_t begin = 0, end = 0; begin < steps.size(); begin = end) {
    end = begin + 1;
    while (steps[begin].in.block != 0 && end < steps.size() && steps[end].in.block == steps[begin].in.block) ++end;
    if (rounds.add(steps.subspan(begin, end - begin))) continue;
    if (too_many != nullptr) *too_many = begin;
    return {};
  }
  return rounds.done();
}

Program written_form(const Program& program) {
  if (!has_blocks(program)) return program;
  Program written = program;
  std::erase_if(written.steps, [](const Step& step) { return step.in.round != 0; });
  if (all_rounds(written) == program) return written;
  return without_blocks(program);
}

Program without_blocks(Program program) {
  for (Step& step : program.steps) step.in = {};
  return program;
}

Program keep_valid_blocks(Program written) {
  if (!has_blocks(written)) return written;
  const std::optional<Program> all = all_rounds(written);
  return all && !validate(*all) ? std::move(written) : without_blocks(std::move(written));
}

}  // namespace verify
