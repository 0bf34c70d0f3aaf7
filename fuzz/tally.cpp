#include "fuzz/tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "fuzz/finding.h"
#include "fuzz/machine.h"
#include "hip/recorder/hash.h"
#include "verify/program/coverage.h"
#include "verify/program/features.h"
#include "verify/properties/property.h"

namespace fuzz {

constexpr std::size_t kMaxMoments = 240;  // of a report's history
constexpr auto kRelaxed = std::memory_order_relaxed;

verify::CampaignResult empty_result(const Setup& setup, const std::string& version) {
  verify::CampaignResult result;
  result.version = version;
  result.subject = setup.options().subject;
  result.baseline = setup.options().baseline;
  result.fault = setup.options().fault;
  result.machine = machine();
  result.release = setup.release();
  for (const verify::Property& property : verify::properties()) {
    result.properties[std::string(property.name)] = {};
    result.property_sentences[std::string(property.name)] = property.sentence;
  }
  return result;
}

static void add_counts(std::span<const std::uint64_t> counts, std::span<Board::Counter> totals) {
  assert(counts.size() <= totals.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) totals[i].fetch_add(counts[i], kRelaxed);
  }
}

ProgramCounter::ProgramCounter() : features_(verify::feature_names().size()), pairs_(verify::coverage_pairs().size()) {
  assert(verify::coverage_triples().size() <= kMaxTriples);
}

void ProgramCounter::add(const verify::Program& program, const verify::Judgement& judgement, Board& board) {
  board.verdicts[static_cast<std::size_t>(judgement.verdict)].fetch_add(1, kRelaxed);
  add_counts(judgement.exercised, board.exercised);
  for (const verify::PropertyId id : judgement.broken) {
    board.violated[static_cast<std::size_t>(id)].fetch_add(1, kRelaxed);
  }
  std::ranges::fill(features_, 0);
  std::ranges::fill(pairs_, 0);
  verify::count_features(program, features_);
  triples_.clear();
  verify::count_pairs(program, pairs_, &triples_);
  add_counts(features_, board.features);
  add_counts(pairs_, board.pairs);
  for (const std::uint32_t triple : triples_) board.triples[triple].fetch_add(1, kRelaxed);
  board.commands.fetch_add(program.steps.size(), kRelaxed);
}

static void sum_pairs(std::span<const Board* const> boards, verify::CampaignResult& result) {
  const std::span<const verify::CoveragePair> pairs = verify::coverage_pairs();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    std::uint64_t count = 0;
    for (const Board* board : boards) count += board->pairs[i];
    if (pairs[i].why_not.empty()) result.states[pairs[i].operation][pairs[i].state] += count;
  }
}

constexpr std::uint64_t kMostOfDigit = 9;

static const std::string& names_of_triples() {
  static const std::string hash = [] {
    std::string names;
    for (const verify::CoverageTriple& triple : verify::coverage_triples()) names += verify::name_of(triple) + "\n";
    return fmt::format("{:016x}", hip::recorder::hash_of(std::as_bytes(std::span(names))));
  }();
  return hash;
}

static bool mean_something(const verify::TripleCoverage& triples) {
  return triples.names == names_of_triples() && triples.digits.size() == verify::coverage_triples().size();
}

void add_triples(verify::TripleCoverage& into, const verify::TripleCoverage& from) {
  if (!mean_something(into)) into = {std::string(verify::coverage_triples().size(), '0'), names_of_triples(), 0, 0, {}};
  if (!mean_something(from)) return;
  for (std::size_t i = 0; i < into.digits.size(); ++i) {
    into.digits[i] = static_cast<char>(std::min<int>(into.digits[i] + from.digits[i] - '0', '0' + kMostOfDigit));
  }
}

static void sum_triples(std::span<const Board* const> boards, verify::TripleCoverage& into) {
  std::string digits(verify::coverage_triples().size(), '0');
  for (std::size_t i = 0; i < digits.size(); ++i) {
    std::uint64_t count = 0;
    for (const Board* board : boards) count += board->triples[i];
    digits[i] = static_cast<char>('0' + std::min(count, kMostOfDigit));
  }
  add_triples(into, {std::move(digits), names_of_triples(), 0, 0, {}});
}

void add_steps(verify::StepCounts& into, const verify::StepCounts& from) {
  constexpr std::ptrdiff_t kMaxReasonsOfRefusal = 50;
  const auto is_reason = [](const auto& one) { return one.first.starts_with("refused: "); };
  std::ptrdiff_t reasons = std::ranges::count_if(into, is_reason);
  for (const auto& [what, count] : from) {
    const bool another = what.starts_with("refused: ") && !into.contains(what);
    const bool fits = !another || reasons < kMaxReasonsOfRefusal;
    if (another && fits) ++reasons;
    into[fits ? what : "refused: other reasons"] += count;
  }
}

void describe_triples(verify::TripleCoverage& triples) {
  constexpr std::size_t kRarest = 10;
  const std::span<const verify::CoverageTriple> all = verify::coverage_triples();
  triples.met = triples.possible = 0;
  triples.rarest.clear();
  if (!mean_something(triples)) return;
  std::vector<std::size_t> met;
  for (std::size_t i = 0; i < all.size(); ++i) {
    triples.possible += all[i].excluded ? 0 : 1;
    if (triples.digits[i] != '0') met.push_back(i);
  }
  triples.met = met.size();
  std::ranges::stable_sort(met, {}, [&](std::size_t i) { return triples.digits[i]; });
  for (std::size_t i = 0; i < met.size() && i < kRarest; ++i) {
    const char digit = triples.digits[met[i]];
    triples.rarest.push_back(
        fmt::format("{} ({}{})", verify::name_of(all[met[i]]), digit, digit == '0' + kMostOfDigit ? " or more" : ""));
  }
}

void sum_boards(std::span<const Board* const> boards, verify::CampaignResult& result) {
  std::uint64_t* const verdicts[kVerdicts] = {&result.verdicts.agree,        &result.verdicts.diverge,
                                              &result.verdicts.known_quirk,  &result.verdicts.poisoned,
                                              &result.verdicts.unsupported,  &result.verdicts.discarded,
                                              &result.verdicts.harness_error};
  for (const std::string& name : verify::feature_names()) result.coverage.try_emplace(name, 0);
  for (const Board* of_worker : boards) {
    const Board& board = *of_worker;
    result.programs += board.programs();
    result.commands += board.commands;
    for (std::size_t i = 0; i < kVerdicts; ++i) *verdicts[i] += board.verdicts[i];
    for (const verify::Property& property : verify::properties()) {
      verify::PropertyCount& count = result.properties[std::string(property.name)];
      count.exercised += board.exercised[static_cast<std::size_t>(property.id)];
      count.violated += board.violated[static_cast<std::size_t>(property.id)];
    }
    for (std::size_t i = 0; i < verify::feature_names().size(); ++i) {
      result.coverage[verify::feature_names()[i]] += board.features[i];
    }
  }
  sum_pairs(boards, result);
  sum_triples(boards, result.triples);
}

void measure_a_program(std::span<const Board* const> boards, verify::CampaignResult& result) {
  std::uint64_t programs = 0, generate_ns = 0, judge_ns = 0;
  for (const Board* board : boards) {
    programs += board->programs();
    generate_ns += board->generate_ns;
    judge_ns += board->judge_ns;
  }
  if (programs == 0) return;
  const auto each = [&](std::uint64_t ns) { return static_cast<double>(ns) / 1e3 / static_cast<double>(programs); };
  result.generate_us = each(generate_ns);
  result.judge_us = each(judge_ns);
}

void add_boards(std::span<const Board* const> boards, Progress& progress) {
  progress.features = verify::feature_names().size();
  std::vector<bool> seen(progress.features, false);
  for (const Board* board : boards) {
    progress.programs += board->programs();
    for (std::size_t i = 0; i < progress.features; ++i) {
      if (board->features[i].load(std::memory_order_relaxed) != 0) seen[i] = true;
    }
  }
  progress.features_seen = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
}

verify::CampaignResult counts_alone(verify::CampaignResult result) {
  result.findings.clear();
  result.unreachable.clear();
  result.triples.met = result.triples.possible = 0;
  result.triples.rarest.clear();
  result.property_sentences.clear();
  result.sampling.clear();
  result.session = {};
  return result;
}

void describe_checks(verify::CampaignResult& result) {
  for (const verify::Property& property : verify::properties()) {
    result.properties.try_emplace(std::string(property.name));
    result.property_sentences[std::string(property.name)] = property.sentence;
  }
  describe_triples(result.triples);
  for (const verify::CoveragePair& pair : verify::coverage_pairs()) {
    if (!pair.why_not.empty()) result.unreachable[pair.operation][pair.state] = pair.why_not;
  }
  result.sampling = {
      {"P2, everything else compared around each exec operation", fmt::format("1 in {} programs", kIsolationEvery)},
      {"P4, every call fails in turn", fmt::format("1 in {} programs", kEveryCallFailsEvery)},
      {"P9, equal variants", fmt::format("1 in {} programs", kHoweverBuiltEvery)},
      {"P5, every legal order", fmt::format("1 in {} programs", kEveryOrderEvery)},
      {"P8, the program's commands again and again", fmt::format("1 in {} programs", kCyclesEvery)},
      {"P8, the program's end again and again", fmt::format("1 in {} programs", kGroupsEvery)}};
}

void History::note(const Progress& now, std::vector<verify::Moment>& history) {
  if (!history.empty() && now.seconds < history.back().seconds + distance_) return;
  history.push_back({now.seconds, now.programs, now.findings, now.features_seen});
  if (history.size() < kMaxMoments) return;
  for (std::size_t i = 0; 2 * i < history.size(); ++i) history[i] = history[2 * i];
  history.resize((history.size() + 1) / 2);
  distance_ *= 2;
}

void check_caps(CampaignOutcome& outcome) {
  verify::CampaignResult& result = outcome.result;
  const auto check = [&](std::uint64_t count, double cap, const char* what) {
    const double share = result.programs == 0 ? 0 : static_cast<double>(count) / static_cast<double>(result.programs);
    if (share <= cap) return;
    outcome.cap_exceeded = true;
    result.messages.push_back(
        fmt::format("{} of {} programs were {}: more than {} %", count, result.programs, what, 100 * cap));
  };
  check(result.verdicts.poisoned, kMaxPoisonedShare, "poisoned");
  check(result.verdicts.discarded, kMaxDiscardedShare, "discarded");
  check(result.verdicts.harness_error, 0, "harness errors");
}

}  // namespace fuzz
