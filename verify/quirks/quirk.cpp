#include "verify/quirks/quirk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>

#include "verify/program/state_devices.h"
#include "verify/program/threads.h"

namespace verify {

namespace {

// Calls `take` with each non-empty part of `text` between separators.
template <class Take>
void split(std::string_view text, char separator, const Take& take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end != 0) take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

constexpr std::string_view kStatusIs = "status=";
constexpr std::string_view kLaterIs = "later=";
constexpr std::string_view kCorrupts = "corrupts";
constexpr std::string_view kGrows = "grows";

std::optional<Effect> effect_of(std::string_view word) {
  if (word == "bytes") return Effect::kBytes;
  if (word == "topology") return Effect::kTopology;
  if (word == "host") return Effect::kHost;
  if (word == "crash") return Effect::kCrash;
  if (word == "hang") return Effect::kHang;
  if (word == "teardown") return Effect::kTeardown;
  if (word == kGrows) return Effect::kGrowth;
  for (const std::string_view prefix : {kStatusIs, kLaterIs}) {
    if (word.starts_with(prefix) && number_of(word.substr(prefix.size()))) return Effect::kStatus;
  }
  return {};
}

bool shows_as(const Quirk& quirk, const Divergence& divergence) {
  bool shows = false;
  split(quirk.effects, ' ', [&](std::string_view word) {
    if (effect_of(word) != divergence.effect) return;
    shows = shows || divergence.effect != Effect::kStatus ||
            number_of(word.substr(word.find('=') + 1)) == divergence.status;
  });
  return shows;
}

}  // namespace

// Turns the text of triggers into conditions; remembers the first thing that is wrong.
struct QuirkParser {
  std::string flaw;

  std::optional<QuirkSet::Condition> condition(std::string_view text) {
    struct Sign {
      std::string_view sign;
      QuirkSet::Compare compare;
    };
    using enum QuirkSet::Compare;
    static constexpr Sign kSigns[] = {{"!=", kUnequal}, {"<=", kAtMost}, {">=", kAtLeast},
                                      {"=", kEqual},    {"<", kLess},    {">", kMore}};
    for (const Sign& sign : kSigns) {
      const std::size_t at = text.find(sign.sign);
      if (at == std::string_view::npos) continue;
      const std::optional<Attribute> attribute = find_attribute(text.substr(0, at));
      if (!attribute) return fail(fmt::format("'{}' names no attribute", text));
      const std::string_view value = text.substr(at + sign.sign.size());
      const std::optional<std::int64_t> word = find_word(*attribute, value);
      const std::optional<std::int64_t> number = word ? word : number_of(value);
      if (!number) return fail(fmt::format("'{}' has no value that '{}' can take", text, attribute_name(*attribute)));
      return QuirkSet::Condition{*attribute, sign.compare, *number};
    }
    return fail(fmt::format("'{}' compares nothing", text));
  }
  std::vector<QuirkSet::Trigger> triggers(std::string_view text) {
    std::vector<QuirkSet::Trigger> all;
    split(text, ';', [&](std::string_view alternative) {
      QuirkSet::Trigger trigger;
      split(alternative, ' ', [&](std::string_view part) {
        if (const auto parsed = condition(part)) trigger.push_back(*parsed);
      });
      // The conditions that cost a walk over a graph come last.
      std::ranges::partition(trigger, [](const auto& condition) { return !takes_a_walk(condition.attribute); });
      if (!trigger.empty()) all.push_back(std::move(trigger));
    });
    if (all.empty() && flaw.empty()) flaw = "there is no trigger";
    return all;
  }

 private:
  std::nullopt_t fail(std::string what) {
    if (flaw.empty()) flaw = std::move(what);
    return std::nullopt;
  }
};

std::optional<std::string> flaw_of(const Quirk& quirk) {
  QuirkParser parser;
  static_cast<void>(parser.triggers(quirk.triggers));
  if (!parser.flaw.empty()) return parser.flaw;
  std::optional<std::string> flaw;
  bool any = false;
  split(quirk.effects, ' ', [&](std::string_view word) {
    if (word == kCorrupts) return;
    any = true;
    if (!effect_of(word)) flaw = fmt::format("'{}' is no effect", word);
  });
  if (!any) return "there is no effect";
  split(quirk.environment, ' ', [&](std::string_view variable) {
    if (!parse_variable(variable)) flaw = fmt::format("'{}' is no variable with a value", variable);
  });
  return flaw;
}

bool only_grows(const Quirk& quirk) {
  return quirk.effects == kGrows;
}

bool QuirkSet::Condition::holds(const Event& event) const {
  const std::int64_t is = event[attribute];
  if (is == kUnset) return false;
  switch (compare) {
    case Compare::kEqual:
      return is == value;
    case Compare::kUnequal:
      return is != value;
    case Compare::kLess:
      return is < value;
    case Compare::kAtMost:
      return is <= value;
    case Compare::kMore:
      return is > value;
    case Compare::kAtLeast:
      break;
  }
  return is >= value;
}

bool QuirkSet::Compiled::matches(const Event& event) const {
  return std::ranges::any_of(triggers, [&](const Trigger& trigger) {
    return std::ranges::all_of(trigger, [&](const Condition& c) { return c.holds(event); });
  });
}

QuirkSet::QuirkSet(std::string_view release) : QuirkSet(release, quirks()) {}

QuirkSet::QuirkSet(std::string_view release, std::span<const Quirk> catalogue) {
  for (const Quirk& quirk : catalogue) {
    if (!quirk.releases.has(release)) continue;
    assert(!flaw_of(quirk));
    compiled_.push_back({&quirk,
                         QuirkParser{}.triggers(quirk.triggers),
                         quirk.effects.find(kCorrupts) != std::string_view::npos,
                         quirk.effects.find(kLaterIs) != std::string_view::npos,
                         !only_grows(quirk),
                         {}});
    split(quirk.environment, ' ',
          [&](std::string_view variable) { compiled_.back().environment.insert(*parse_variable(variable)); });
  }
}

bool QuirkSet::Compiled::shows_in(const Environment& of_program) const {
  return std::ranges::all_of(environment, [&](const auto& variable) {
    const auto stated = of_program.find(variable.first);
    return stated != of_program.end() && stated->second == variable.second;
  });
}

const Quirk* QuirkSet::triggered(const State& state, const Command& command, Handling handling, Id thread,
                                 const Environment& environment) const {
  const Quirk* found = nullptr;
  if (empty()) return found;
  any_event(state, command, handling, thread, [&](const Event& event) {
    for (const Compiled& compiled : compiled_) {
      if (!compiled.steered_around || !compiled.may_show(event, handling.strategy) || !compiled.shows_in(environment))
        continue;
      found = compiled.quirk;
      return true;
    }
    return false;
  });
  return found;
}

namespace {

// Whether `visit` is true for one of the first `steps` commands, in the state before it; a repeated command is visited
// after its own repetitions, too.
template <class Visit>
bool any_command(const Program& program, std::size_t steps, const Visit& visit) {
  State state;
  for (std::size_t i = 0; i < std::min(steps, program.steps.size()); ++i) {
    for (std::uint32_t k = 0; k < repeats_that_matter(program.steps[i]); ++k) {
      if (visit(state, i)) return true;
      state.apply(program.steps[i].command);
    }
  }
  return false;
}

// How many of the first commands may have begun when the program diverged at `step`: all commands of a block of
// threads.
std::size_t begun_at(const Program& program, std::size_t step) {
  const bool in_threads = step < program.steps.size() && program.steps[step].in.thread != 0;
  return in_threads ? end_of_block(program, step) : step + 1;
}

bool launches(const Program& program, std::size_t step) {
  return step < program.steps.size() && std::holds_alternative<Launch>(program.steps[step].command);
}

}  // namespace

std::set<const Quirk*> QuirkSet::met_by(const Program& program, Handling handling) const {
  const bool several = devices_needed(program) > 1;
  std::set<const Quirk*> met;
  any_command(program, program.steps.size(), [&](const State& state, std::size_t i) {
    return any_event(state, program.steps[i].command, handling, program.steps[i].in.thread, [&](const Event& event) {
      for (const Compiled& compiled : compiled_) {
        const bool shows =
            compiled.shows_in(program.setting.environment) && compiled.may_show(event, handling.strategy, several);
        if (shows) met.insert(compiled.quirk);
      }
      return false;
    });
  });
  return met;
}

bool QuirkSet::corrupts(const Program& program, Handling handling) const {
  const bool several = devices_needed(program) > 1;
  if (std::ranges::none_of(compiled_, &Compiled::corrupts)) return false;
  return any_command(program, program.steps.size(), [&](const State& state, std::size_t i) {
    return any_event(state, program.steps[i].command, handling, program.steps[i].in.thread, [&](const Event& event) {
      return std::ranges::any_of(compiled_, [&](const Compiled& compiled) {
        return compiled.corrupts && compiled.shows_in(program.setting.environment) &&
               compiled.may_show(event, handling.strategy, several);
      });
    });
  });
}

const Quirk* QuirkSet::explain(const Program& program, Handling handling, const Divergence& divergence) const {
  std::vector<const Compiled*> candidates;
  const bool several = devices_needed(program) > 1;
  for (const Compiled& compiled : compiled_) {
    if (shows_as(*compiled.quirk, divergence) && compiled.shows_in(program.setting.environment))
      candidates.push_back(&compiled);
  }
  if (candidates.empty()) return nullptr;
  const Quirk* found = nullptr;
  const bool of_library = handling.library && launches(program, divergence.step);
  any_command(program, begun_at(program, divergence.step), [&](const State& state, std::size_t i) {
    const bool here = divergence.effect != Effect::kStatus || of_library || i == divergence.step;
    return any_event(state, program.steps[i].command, handling, program.steps[i].in.thread, [&](const Event& event) {
      const auto at = std::ranges::find_if(candidates, [&](const Compiled* compiled) {
        return (here || compiled->later) && compiled->may_show(event, handling.strategy, several);
      });
      if (at != candidates.end()) found = (*at)->quirk;
      return found != nullptr;
    });
  });
  return found;
}

}  // namespace verify
