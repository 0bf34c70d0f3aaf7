#include "reports/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "reports/text.h"

namespace reports {
namespace {

// The text without line breaks and without control sequences of a terminal.
std::string one_line(const std::string& text) {
  std::string line = xml_text(text);
  std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return line;
}

template <class... Arguments>
void add_line(std::string& out, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  out += one_line(fmt::format(format, std::forward<Arguments>(arguments)...)) + "\n";
}

void write_head(std::string& out, const verify::CampaignResult& result, const Ending& ending) {
  const verify::VerdictCounts& v = result.verdicts;
  add_line(out, "{} against {}, seed {}, size {}{}", result.subject, result.baseline, result.seed, result.size,
           result.fault.empty() ? "" : ", fault " + result.fault);
  add_line(out, "{} programs, {} commands in {:.1f} s ({:.0f} programs/s, {} jobs)", result.programs, result.commands,
           result.seconds, result.seconds > 0 ? static_cast<double>(result.programs) / result.seconds : 0, result.jobs);
  if (ending.resumed) add_line(out, "earlier sessions of this campaign are part of it");
  add_line(out, "agree {}, diverge {}, known quirk {}, poisoned {}, unsupported {}, discarded {}, harness error {}",
           v.agree, v.diverge, v.known_quirk, v.poisoned, v.unsupported, v.discarded, v.harness_error);
}

// Messages first, then the steps of command buffers, then why programs neither agreed nor diverged, the most frequent
// reason first.
std::vector<std::string> notes_of(const verify::CampaignResult& result) {
  std::vector<std::string> notes = result.messages;
  if (!result.steps.empty()) notes.push_back(steps_in_words(result.steps));
  std::vector<std::pair<std::string, std::uint64_t>> reasons(result.reasons.begin(), result.reasons.end());
  std::ranges::sort(reasons, [](const auto& left, const auto& right) {
    return left.second != right.second ? left.second > right.second : left.first < right.first;
  });
  for (const auto& [reason, count] : reasons) notes.push_back(fmt::format("{} x{}", reason, count));
  return notes;
}

void write_notes(std::string& out, const verify::CampaignResult& result, bool all) {
  const std::vector<std::string> notes = notes_of(result);
  const bool fit = all || notes.size() <= kTerminalNotes;
  const std::size_t shown = fit ? notes.size() : kTerminalNotes - 1;
  for (std::size_t i = 0; i < shown; ++i) add_line(out, "{}", notes[i]);
  if (!fit) add_line(out, "and {} more notes: --verbose prints them", notes.size() - shown);
}

void write_exercised(std::string& out, const verify::CampaignResult& result) {
  std::string counts;
  for (const auto& [id, count] : result.properties) counts += fmt::format(" {} {}", id, count.exercised);
  add_line(out, "exercised:{}", counts);
}

void write_holes(std::string& out, const verify::CampaignResult& result) {
  for (const auto& [feature, count] : result.coverage) {
    if (count == 0) add_line(out, "never generated: {}", feature);
  }
  if (const verify::TripleCoverage& triples = result.triples; triples.possible != 0) {
    add_line(out, "triples (operation, state, state before it): {} of {}", triples.met, triples.possible);
  }
  for (const auto& [operation, states] : result.states) {
    for (const auto& [state, count] : states) {
      if (count == 0) add_line(out, "never generated: {} with {}", operation, state);
    }
  }
}

// "cost of update: calls ^0.00 of at most 0, bytes ^1.02 of at most 1": exponents of growth with the nodes.
void write_costs(std::string& out, const verify::CampaignResult& result) {
  std::string operation, line;
  const auto flush = [&] {
    if (!line.empty()) add_line(out, "cost of {}:{}", operation, line);
    line.clear();
  };
  for (const verify::CostMeasurement& cost : result.costs) {
    if (cost.operation != operation) flush();
    operation = cost.operation;
    line += fmt::format("{} {} ^{:.2f} of at most {:.0f}", line.empty() ? "" : ",", cost.measure, cost.exponent,
                        cost.bound);
  }
  flush();
}

void write_finding(std::string& out, const verify::Finding& finding, bool all) {
  add_line(out, "{}  {}", finding.id, finding.summary);
  if (all) {
    if (!finding.also.empty()) add_line(out, "  also breaks {}", fmt::join(finding.also, " "));
    add_line(out, "  {} of {} commands, seen in {} programs", finding.commands, finding.original_commands,
             finding.seen);
  }
  if (!finding.replay.empty()) add_line(out, "  replay: {}", finding.replay);
}

void write_findings(std::string& out, const verify::CampaignResult& result, const Ending& ending, bool all) {
  // A finding takes two lines, and so do two that were printed before: what remains shows the others.
  const std::size_t most = all ? result.findings.size() : kTerminalFindings - (ending.printed + 1) / 2;
  const std::size_t shown = std::min(result.findings.size(), most);
  for (std::size_t i = 0; i < shown; ++i) write_finding(out, result.findings[i], all);
  if (shown < result.findings.size()) {
    add_line(out, "and {} more findings: --verbose prints them, --report keeps them", result.findings.size() - shown);
  }
}

// "; refused: WHY (6), WHY (2), and 4 more": the reasons of one kind, the most frequent first.
std::string reasons_in_words(const std::map<std::string, std::uint64_t>& steps, const std::string& kind) {
  constexpr std::size_t kShownReasons = 2;
  std::vector<std::pair<std::uint64_t, std::string>> reasons;
  for (const auto& [what, count] : steps) {
    if (what.starts_with(kind + ": ")) reasons.emplace_back(count, what.substr(kind.size() + 2));
  }
  std::ranges::sort(reasons, [](const auto& one, const auto& other) {
    return one.first != other.first ? one.first > other.first : one.second < other.second;
  });
  std::string text;
  for (std::size_t i = 0; i < reasons.size() && i < kShownReasons; ++i) {
    text += i == 0 ? fmt::format("; {}: ", kind) : ", ";
    text += fmt::format("{} ({})", reasons[i].second, reasons[i].first);
  }
  if (reasons.size() > kShownReasons) text += fmt::format(", and {} more", reasons.size() - kShownReasons);
  return text;
}

const char* verdict_of(const verify::CampaignResult& result, const Ending& ending) {
  if (ending.interrupted) return "interrupted";
  if (!result.findings.empty()) return result.fault.empty() ? "divergences found" : "the fault was found";
  if (ending.cap_exceeded) return "not a valid campaign";
  if (refused_every_step(result.steps)) return "nothing was judged: the library refused every step";
  return result.fault.empty() ? "no divergence" : "the fault was not found";
}

}  // namespace

std::string steps_in_words(const std::map<std::string, std::uint64_t>& steps) {
  std::vector<std::string> ways;
  for (const auto& [what, count] : steps) {
    if (what != "setter calls" && what.find(": ") == std::string::npos)
      ways.push_back(fmt::format("{} {}", count, what));
  }
  std::string text = "steps of command buffers: ";
  text += ways.empty() ? "none came to its end" : fmt::format("{}", fmt::join(ways, ", "));
  if (const auto calls = steps.find("setter calls"); calls != steps.end())
    text += fmt::format("; {} setter calls", calls->second);
  return text + reasons_in_words(steps, "refused") + reasons_in_words(steps, "failed");
}

bool gives_reasons(const std::map<std::string, std::uint64_t>& steps) {
  return std::ranges::any_of(steps, [](const auto& step) { return step.first.find(": ") != std::string::npos; });
}

bool refused_every_step(const std::map<std::string, std::uint64_t>& steps) {
  constexpr std::array<const char*, 4> kTaken{"launched", "set", "updated", "recorded"};
  return steps.contains("refused") &&
         std::ranges::none_of(kTaken, [&steps](const char* way) { return steps.contains(way); });
}

std::string to_terminal(const verify::CampaignResult& result, const Ending& ending, Detail detail) {
  const bool all = detail == Detail::kLong;
  std::string out;
  if (detail != Detail::kFindings) write_head(out, result, ending);
  if (all) {
    write_exercised(out, result);
    write_holes(out, result);
    write_costs(out, result);
    if (result.judge_us > 0) {
      add_line(out, "{:.0f} us a program to generate, {:.0f} us to run and judge (one worker)", result.generate_us,
               result.judge_us);
    }
  }
  if (detail != Detail::kFindings) write_notes(out, result, all);
  write_findings(out, result, ending, all);
  add_line(out, "{}", verdict_of(result, ending));
  return out;
}

}  // namespace reports
