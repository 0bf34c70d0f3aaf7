#include "fuzz/memory_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "fuzz/files.h"
#include "fuzz/finding.h"
#include "fuzz/found.h"
#include "fuzz/setup.h"
#include "fuzz/tally.h"
#include "reports/report.h"

namespace fuzz {

namespace {

constexpr std::size_t kMaxShownShards = 10;  // in one message

using Shards = std::map<std::int64_t, const ShardContent*>;  // by number

std::uint64_t unsign(std::int64_t number) {
  return static_cast<std::uint64_t>(std::max(number, std::int64_t{0}));
}

// "3, 7-9 and 2 more"
std::string list_of(const std::vector<std::int64_t>& numbers) {
  std::string text;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (shown++ == kMaxShownShards) return text + fmt::format(" and {} more", numbers.size() - i);
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (end - i > 1) text += fmt::format("-{}", numbers[end - 1]);
    i = end;
  }
  return text;
}

// ---- counts

template <class Counts>
void add_counts(Counts& into, const Counts& from) {
  for (const auto& [key, count] : from) {
    if constexpr (requires { count.exercised; }) {
      into[key].exercised += count.exercised;
      into[key].violated += count.violated;
    } else if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(count)>>) {
      into[key] += count;
    } else {
      add_counts(into[key], count);
    }
  }
}

void add_shard(verify::CampaignResult& sum, const verify::CampaignResult& shard) {
  using Verdicts = verify::VerdictCounts;
  for (const auto count : {&Verdicts::agree, &Verdicts::diverge, &Verdicts::known_quirk, &Verdicts::poisoned,
                           &Verdicts::unsupported, &Verdicts::discarded, &Verdicts::harness_error}) {
    sum.verdicts.*count += shard.verdicts.*count;
  }
  // Times of one program are means, weighted by the programs.
  const double programs = static_cast<double>(sum.programs + shard.programs);
  for (const auto mean : {&verify::CampaignResult::generate_us, &verify::CampaignResult::judge_us}) {
    if (programs == 0) continue;
    sum.*mean =
        (sum.*mean * static_cast<double>(sum.programs) + shard.*mean * static_cast<double>(shard.programs)) / programs;
  }
  sum.programs += shard.programs;
  sum.commands += shard.commands;
  sum.jobs += shard.jobs;
  sum.interrupted |= shard.interrupted;
  add_counts(sum.properties, shard.properties);
  add_counts(sum.coverage, shard.coverage);
  add_counts(sum.states, shard.states);
  add_triples(sum.triples, shard.triples);
  add_counts(sum.quirks, shard.quirks);
  add_counts(sum.reasons, shard.reasons);
  add_steps(sum.steps, shard.steps);
  if (sum.costs.empty()) sum.costs = shard.costs;
  if (sum.release.empty()) sum.release = shard.release;
}

// ---- sessions

double seconds_of(const std::string& time) {
  std::tm parts{};
  return strptime(time.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) == nullptr ? 0 : static_cast<double>(timegm(&parts));
}

using Spans = std::vector<std::pair<double, double>>;

// The time that at least one of the spans covers.
double covered(Spans spans) {
  std::ranges::sort(spans);
  double seconds = 0, until = 0;
  for (const auto& [begin, end] : spans) {
    seconds += std::max(0.0, end - std::max(begin, until));
    until = std::max(until, end);
  }
  return seconds;
}

// The last session is the one that began last.
const SessionContent* last_of(const ShardContent& shard) {
  const auto last = std::ranges::max_element(
      shard.sessions, {}, [](const auto& item) { return std::make_pair(item.second.begun, item.first); });
  return last == shard.sessions.end() ? nullptr : &last->second;
}

std::string node_of(const ShardContent& shard, const SessionContent& session) {
  if (!session.node.empty()) return session.node;
  return shard.counts.machine.empty() ? "an unnamed node" : shard.counts.machine;
}

verify::ShardState state_of(std::int64_t number, const ShardContent& shard) {
  verify::ShardState state;
  state.shard = unsign(number);
  state.programs = shard.counts.programs;
  state.findings =
      unsign(std::ranges::count_if(shard.findings, [](const auto& item) { return !item.second.accepted; }));
  state.state = "cut off";
  const SessionContent* last = last_of(shard);
  if (last == nullptr) return state;
  if (!last->ended.empty()) state.state = last->ended;
  state.node = node_of(shard, *last);
  state.begun = last->begun;
  for (const auto& [name, session] : shard.sessions) {
    state.begun = std::min(state.begun, session.begun);
    state.last = std::max(state.last, session.last);
  }
  return state;
}

void add_nodes(verify::CampaignResult& result, const Shards& shards) {
  std::map<std::string, verify::NodeWork> nodes;
  std::map<std::string, Spans> spans;
  Spans all;
  for (const auto& [number, shard] : shards) {
    for (const auto& [name, session] : shard->sessions) {
      const std::string node = node_of(*shard, session);
      verify::NodeWork& work = nodes[node];
      work.node = node;
      ++work.sessions;
      work.programs += unsign(session.programs - session.programs_before);
      const double begin = seconds_of(session.begun);
      all.emplace_back(begin, begin + std::max(0.0, session.seconds - session.seconds_before));
      spans[node].push_back(all.back());
    }
  }
  for (auto& [node, work] : nodes) {
    work.seconds = covered(spans[node]);
    result.nodes.push_back(work);
  }
  result.seconds = covered(all);
}

// ---- findings

struct Joined {
  FindingContent content;
  std::uint64_t seen = 0;
  std::tuple<std::string, std::int64_t, std::string> first;  // time, shard, session
};

hip::Result<verify::Finding> finding_of(const std::string& cause, const Joined& joined, std::int64_t of,
                                        const Shards& shards) {
  hip::Result<verify::CampaignResult> carrier = parse_result(joined.content.finding);
  if (!carrier) return carrier.error();
  verify::Finding finding = std::move(carrier).value().findings.front();
  const auto& [time, number, session] = joined.first;
  const ShardContent& shard = *shards.at(number);
  const auto by = shard.sessions.find(session);
  finding.cause = cause;
  finding.seen = joined.seen;
  finding.first = {time, unsign(number), unsign(of), by == shard.sessions.end() ? "" : node_of(shard, by->second),
                   session};
  finding.program_path.clear();
  finding.replay.clear();
  return finding;
}

void add_findings(verify::CampaignResult& result, std::int64_t of, const Shards& shards) {
  std::map<std::string, Joined> causes;
  bool any_shrunk = false;
  for (const auto& [number, shard] : shards) {
    for (const auto& [cause, finding] : shard->findings) {
      if (finding.accepted) continue;
      any_shrunk |= finding.shrunk;
      const auto [place, fresh] = causes.try_emplace(cause, Joined{finding, 0, {}});
      const std::tuple first{finding.first.first, number, finding.first.second};
      if (!fresh) place->second.content.join(finding);
      if (fresh || first < place->second.first) place->second.first = first;
      place->second.seen += unsign(finding.seen);
    }
  }
  std::vector<std::map<std::string, Joined>::const_iterator> order;
  for (auto cause = causes.cbegin(); cause != causes.cend(); ++cause) {
    // A fault that was found needs no findings that were not shrunk (fuzz/found.h).
    if (result.fault.empty() || !any_shrunk || cause->second.content.shrunk) order.push_back(cause);
  }
  std::ranges::sort(order, {}, [](const auto& cause) {
    return std::make_tuple(cause->second.first, cause->second.content.index, cause->first);
  });
  std::map<std::string, std::size_t> ids;
  for (const auto& cause : order) {
    hip::Result<verify::Finding> finding = finding_of(cause->first, cause->second, of, shards);
    if (!finding) continue;  // MemoryContent::read has parsed it
    // Programs that measure costs have the same index in all shards.
    const std::size_t same = ++ids[finding.value().id];
    if (same > 1) finding.value().id += fmt::format("-{}", same);
    result.findings.push_back(std::move(finding).value());
  }
  result.findings = fold_equal(std::move(result.findings), [](const verify::Finding&, const verify::Finding&) {});
}

// ---- messages

void add_messages(verify::CampaignResult& result, std::int64_t of, const Shards& shards) {
  if (const std::int64_t missing = of - static_cast<std::int64_t>(shards.size()); missing > 0) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = 1; i <= std::min(of, kMaxListedShards); ++i) {
      if (!shards.contains(i)) numbers.push_back(i);
    }
    result.messages.push_back(fmt::format("{} of {} shards are missing: {}", missing, of, list_of(numbers)));
  }
  std::vector<std::int64_t> cut_off;
  std::map<std::string, std::vector<std::int64_t>> said;
  for (const auto& [number, shard] : shards) {
    if (state_of(number, *shard).state == "cut off") cut_off.push_back(number);
    for (const std::string& message : shard->counts.messages) said[message].push_back(number);
  }
  if (!cut_off.empty()) {
    result.messages.push_back(
        fmt::format("shards that were cut off, because their process died or still works: {}", list_of(cut_off)));
  }
  for (const auto& [message, numbers] : said) {
    result.messages.push_back(of == 1 ? message : fmt::format("{} (shards {})", message, list_of(numbers)));
  }
}

verify::CampaignResult result_of(const CampaignContent& campaign, std::int64_t of, const Shards& shards) {
  CampaignOutcome outcome;
  verify::CampaignResult& result = outcome.result;
  result.version = campaign.version;
  result.subject = campaign.subject;
  result.baseline = campaign.baseline;
  result.fault = campaign.fault;
  result.seed = unsign(campaign.seed);
  result.size = unsign(campaign.size);
  result.jobs = 0;
  std::set<std::string> machines;
  for (const auto& [number, shard] : shards) {
    add_shard(result, shard->counts);
    machines.insert(shard->counts.machine);
    if (shards.size() == 1) result.history = shard->counts.history;
  }
  result.machine = machines.size() == 1 ? *machines.begin() : fmt::format("{} kinds of machine", machines.size());
  describe_checks(result);
  for (std::int64_t i = 1; i <= std::min(of, kMaxListedShards); ++i) {
    const auto shard = shards.find(i);
    result.shards.push_back(shard == shards.end() ? verify::ShardState{unsign(i), "missing", 0, 0, "", "", ""}
                                                  : state_of(i, *shard->second));
    result.interrupted |= result.shards.back().state == "interrupted";
  }
  add_nodes(result, shards);
  add_findings(result, of, shards);
  add_messages(result, of, shards);
  check_caps(outcome);
  return std::move(outcome.result);
}

// " --no-quirks" is told by the identity alone.
SetupOptions setup_of(const verify::CampaignResult& result) {
  SetupOptions setup;
  setup.subject = result.subject;
  setup.baseline = result.baseline;
  setup.fault = result.fault;
  setup.no_quirks = !result.session.quirks;
  return setup;
}

}  // namespace

std::vector<verify::CampaignResult> results_of(const MemoryContent& content) {
  std::vector<verify::CampaignResult> results;
  std::vector<std::map<std::string, CampaignContent>::const_iterator> order;
  for (auto campaign = content.campaigns.begin(); campaign != content.campaigns.end(); ++campaign) {
    order.push_back(campaign);
  }
  std::ranges::sort(order, {}, [](const auto& campaign) { return std::tie(campaign->second.begun, campaign->first); });
  for (const auto& campaign : order) {
    const nlohmann::json identity = nlohmann::json::parse(campaign->first, nullptr, false);
    std::map<std::int64_t, Shards> cuts;
    for (const auto& [number, shard] : campaign->second.shards) cuts[number.first][number.second] = &shard;
    for (const auto& [of, shards] : cuts) {
      results.push_back(result_of(campaign->second, of, shards));
      results.back().session.shards = unsign(of);
      results.back().session.quirks = !(identity.is_array() && identity.size() > 6 && identity[6] == false);
    }
  }
  return results;
}

hip::Status write_reports(std::vector<verify::CampaignResult>& results, const std::string& folder,
                          const verify::CampaignResult* earlier) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    verify::CampaignResult& result = results[i];
    const std::filesystem::path place =
        results.size() == 1 ? std::filesystem::path(folder) : std::filesystem::path(folder) / fmt::format("{}", i + 1);
    if (hip::Status usable = usable_folder("--report", place.string()); !usable) return usable;
    for (verify::Finding& finding : result.findings) {
      name_files(finding, place.string(), setup_of(result));
      if (hip::Status written = write_program(finding); !written) return written;
    }
    if (hip::Status written = reports::write_report(result, place, earlier); !written) return written;
    std::cout << "report: " << (place / "index.html").string() << "\n";
  }
  return {};
}

bool is_database(const std::string& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::string begin(kMagic.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  return file.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == kMagic;
}

}  // namespace fuzz
