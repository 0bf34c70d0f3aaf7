#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "verify/race/race_file.h"

namespace verify::race {
namespace {

constexpr std::size_t kMaxCalls = 40;  // in a plan, because its history is searched
constexpr std::size_t kMaxChoices = 1'000'000;

std::string print_calls(const Scenario& scenario, const std::vector<Call>& calls) {
  std::string text;
  for (const Call& call : calls) text += (text.empty() ? "" : ", ") + print_call(scenario, call);
  return text;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t' || text.front() == '\r')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// Returns the first word of the text and takes it off the text.
std::string_view take_word(std::string_view* text) {
  *text = trim(*text);
  const std::size_t end = std::min(text->find_first_of(" \t"), text->size());
  const std::string_view word = text->substr(0, end);
  *text = trim(text->substr(end));
  return word;
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// Reads the lines after the header; keeps the first error.
class Reader {
 public:
  RaceFile file;
  std::string error;

  void read(std::string_view line) {
    const std::string_view word = take_word(&line);
    if (word == "race") return race(line);
    if (file.scenario == nullptr) return fail("the line 'race SCENARIO' comes first");
    if (word == "before") return calls(line, &file.plan.before);
    if (word == "after") return calls(line, &file.plan.after);
    if (word == "thread") return thread(line);
    if (word == "schedule") return schedule(line);
    if (word == "shows") {
      file.property = take_word(&line);
      file.failure = line;
      return;
    }
    fail(fmt::format("there is no '{}'; there are: race, before, thread, after, schedule, shows", word));
  }

 private:
  void fail(std::string message) {
    if (error.empty()) error = std::move(message);
  }
  void race(std::string_view line) {
    const std::string_view name = take_word(&line);
    file.scenario = find_scenario(name);
    if (file.scenario == nullptr) return fail(fmt::format("there is no scenario '{}'", name));
    if (line.empty()) return;
    if (!line.starts_with("fault=")) return fail(fmt::format("'{}' is not 'fault=ID'", line));
    file.fault = line.substr(6);
    const auto& faults = file.scenario->faults;
    if (std::ranges::find(faults, file.fault) == faults.end()) {
      fail(fmt::format("fault {} does not belong to scenario {}", file.fault, name));
    }
  }
  void thread(std::string_view line) {
    const std::optional<std::int64_t> at = number(take_word(&line));
    if (at != static_cast<std::int64_t>(file.plan.threads.size()) + 1) return fail("threads are numbered 1, 2, ...");
    if (file.plan.threads.size() == kMaxClientThreads)
      return fail(fmt::format("at most {} threads", kMaxClientThreads));
    calls(line, &file.plan.threads.emplace_back());
  }
  void calls(std::string_view line, std::vector<Call>* into) {
    while (!line.empty()) {
      const std::size_t comma = std::min(line.find(','), line.size());
      std::string_view one = line.substr(0, comma);
      line = trim(line.substr(std::min(comma + 1, line.size())));
      const std::string_view name = take_word(&one);
      const auto& verbs = file.scenario->verbs;
      const auto verb = std::ranges::find(verbs, name, &Verb::name);
      if (verb == verbs.end()) return fail(fmt::format("scenario {} has no call '{}'", file.scenario->name, name));
      Call call{static_cast<std::uint8_t>(verb - verbs.begin())};
      if (verb->argument) {
        const std::optional<std::int64_t> value = number(one);
        if (!value || *value < 0 || *value > kMaxArgument) {
          return fail(fmt::format("'{}' takes a number from 0 to {}", name, kMaxArgument));
        }
        call.argument = static_cast<std::int32_t>(*value);
      } else if (!one.empty()) {
        return fail(fmt::format("'{}' takes no argument", name));
      }
      into->push_back(call);
      if (++calls_ > kMaxCalls) return fail(fmt::format("more than {} calls", kMaxCalls));
    }
  }
  // "1*5 2": five steps of thread 1, one of thread 2.
  void schedule(std::string_view line) {
    while (!line.empty()) {
      const std::string_view word = take_word(&line);
      const std::size_t star = std::min(word.find('*'), word.size());
      const std::optional<std::int64_t> who = number(word.substr(0, star));
      const std::optional<std::int64_t> times = star == word.size() ? 1 : number(word.substr(star + 1));
      if (!who || *who < 0 || *who >= static_cast<std::int64_t>(kMaxThreads) || !times || *times < 1 ||
          *times > static_cast<std::int64_t>(kMaxChoices - file.choices.size())) {
        return fail(fmt::format("'{}' is not THREAD*STEPS", word));
      }
      file.choices.insert(file.choices.end(), static_cast<std::size_t>(*times), static_cast<ThreadNumber>(*who));
    }
  }

  std::size_t calls_ = 0;
};

}  // namespace

std::string print_choices(const std::vector<ThreadNumber>& choices) {
  std::string text;
  for (std::size_t i = 0; i < choices.size();) {
    std::size_t end = i;
    while (end < choices.size() && choices[end] == choices[i]) ++end;
    text += text.empty() ? "" : " ";
    text += end - i == 1 ? fmt::format("{}", choices[i]) : fmt::format("{}*{}", choices[i], end - i);
    i = end;
  }
  return text;
}

std::string print_race(const RaceFile& race) {
  const Scenario& scenario = *race.scenario;
  std::string text =
      fmt::format("hgcheck-program 1\nrace {}{}\n", scenario.name, race.fault.empty() ? "" : " fault=" + race.fault);
  if (!race.plan.before.empty()) text += "before " + print_calls(scenario, race.plan.before) + "\n";
  for (std::size_t i = 0; i < race.plan.threads.size(); ++i) {
    text += fmt::format("thread {} {}\n", i + 1, print_calls(scenario, race.plan.threads[i]));
  }
  if (!race.plan.after.empty()) text += "after " + print_calls(scenario, race.plan.after) + "\n";
  text += "schedule " + print_choices(race.choices) + "\n";
  if (!race.property.empty()) text += fmt::format("shows {} {}\n", race.property, race.failure);
  return text;
}

hip::Result<RaceFile> parse_race(std::string_view text) {
  Reader reader;
  bool header = false;
  for (std::size_t at = 0, number = 1; at < text.size() && reader.error.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (!header) {
      if (line != "hgcheck-program 1") return hip::Error{1, fmt::format("line {}: no 'hgcheck-program 1'", number)};
      header = true;
      continue;
    }
    reader.read(line);
    if (!reader.error.empty()) return hip::Error{1, fmt::format("line {}: {}", number, reader.error)};
  }
  if (reader.file.scenario == nullptr) return hip::Error{1, "there is no line 'race SCENARIO'"};
  const Scenario& scenario = *reader.file.scenario;
  if (scenario.valid && !scenario.valid(reader.file.plan)) {
    return hip::Error{1, fmt::format("the calls do not make a plan of scenario {}", scenario.name)};
  }
  return reader.file;
}

}  // namespace verify::race
