#include "fuzz/memory_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "fuzz/tally.h"
#include "reports/bugs.h"
#include "reports/json.h"
#include "verify/program/coverage.h"
#include "verify/program/features.h"

namespace fuzz {

namespace {

void raise_to(auto& value, const auto& other) {
  value = std::max(value, other);
}

void lower(std::string& value, const std::string& other) {
  if (value.empty() || (!other.empty() && other < value)) value = other;
}

bool conflict(const ShardContent& left, const ShardContent& right) {
  return left.base && right.base && left.base != right.base && *left.base != *right.base;
}

}  // namespace

void SessionContent::join(const SessionContent& other) {
  lower(begun, other.begun);
  for (const auto text : {&SessionContent::node, &SessionContent::last, &SessionContent::ended}) {
    raise_to(this->*text, other.*text);
  }
  raise_to(programs, other.programs);
  raise_to(programs_before, other.programs_before);
  raise_to(seconds, other.seconds);
  raise_to(seconds_before, other.seconds_before);
}

// The finding that says more wins: one that --accept does not name, that is shrunk, that is shorter.
void FindingContent::join(const FindingContent& other) {
  const auto order = [](const FindingContent& f) {
    return std::make_tuple(f.accepted, !f.shrunk, f.finding.size(), f.finding, f.index, f.death, f.bug);
  };
  FindingContent joined = order(other) < order(*this) ? other : *this;
  joined.seen = std::max(seen, other.seen);
  joined.last = std::max(last, other.last);
  joined.first = std::min(first, other.first);
  *this = std::move(joined);
}

void ShardContent::join(ShardContent&& other) {
  const auto order = [](const ShardContent& s) {
    return std::make_tuple(s.next, s.counts.programs, s.counts.seconds, s.counts_text);
  };
  if (order(*this) < order(other)) {
    next = other.next;
    counts = std::move(other.counts);
    counts_text = std::move(other.counts_text);
  }
  source = std::min(source, other.source);
  if (!base) base = other.base;
  for (const auto& [name, session] : other.sessions) {
    if (const auto [place, fresh] = sessions.try_emplace(name, session); !fresh) place->second.join(session);
  }
  for (const auto& [cause, finding] : other.findings) {
    if (const auto [place, fresh] = findings.try_emplace(cause, finding); !fresh) place->second.join(finding);
  }
}

hip::Status MemoryContent::join(MemoryContent&& other) {
  for (const auto& [identity, campaign] : other.campaigns) {
    const auto known = campaigns.find(identity);
    if (known == campaigns.end()) continue;
    for (const auto& [number, shard] : campaign.shards) {
      const auto same = known->second.shards.find(number);
      if (same == known->second.shards.end() || !conflict(same->second, shard)) continue;
      return hip::Error{1,
                        fmt::format("{}: shard {}/{} of its campaign began from another corpus than in {}, so it has "
                                    "other programs (remedy: merge the two into different files)",
                                    shard.source, number.second, number.first, same->second.source)};
    }
  }
  for (auto& [identity, campaign] : other.campaigns) {
    const auto [known, fresh] = campaigns.try_emplace(identity, std::move(campaign));
    if (fresh) continue;
    lower(known->second.begun, campaign.begun);
    std::map<ShardNumber, ShardContent>& shards = known->second.shards;
    for (auto& [number, shard] : campaign.shards) {
      // Shards of one campaign mostly have one base: they share its memory.
      if (!shards.empty() && shard.base && !conflict(shards.begin()->second, shard)) {
        if (shards.begin()->second.base) shard.base = shards.begin()->second.base;
      }
      if (const auto place = shards.find(number); place != shards.end()) {
        place->second.join(std::move(shard));
      } else {
        shards.emplace(number, std::move(shard));
      }
    }
  }
  for (auto& [program, entry] : other.corpus) {
    const auto [place, added] = corpus.try_emplace(program, entry);
    if (!added) place->second.adder = std::min(place->second.adder, entry.adder);
  }
  reduce();
  return {};
}

// Everything that a program meets is met by the entries before it that are kept, if it is met by any before it. So an
// entry that one reduction leaves out is left out of every larger corpus too.
void MemoryContent::reduce() {
  std::vector<bool> met(verify::feature_names().size() + verify::coverage_pairs().size());
  std::erase_if(corpus, [&](const auto& item) {
    bool fresh = false;
    for (const std::uint16_t number : item.second.meets) {
      fresh |= !met[number];
      met[number] = true;
    }
    return !fresh;
  });
}

hip::Result<MemoryContent> MemoryContent::of(const verify::CampaignResult& report, const std::string& path) {
  const verify::Session& session = report.session;
  if (session.name.empty()) {
    return hip::Error{1, fmt::format("{}: it does not say which shard it is of: a merge or an earlier hgcheck wrote it "
                                     "(remedy: merge the databases)",
                                     path)};
  }
  MemoryContent content;
  CampaignContent& campaign =
      content.campaigns[text_of({report.version, report.subject, report.baseline, report.fault, report.seed,
                                 report.size, session.quirks, session.properties})];
  campaign = {report.version, report.subject,   report.baseline,  report.fault,
              session.begun,  sql(report.seed), sql(report.size), {}};
  ShardContent& shard = campaign.shards[{sql(session.shards), sql(session.shard)}];
  shard.source = path;
  shard.next = sql(session.settled);
  shard.counts = counts_alone(report);
  shard.counts_text = reports::to_json(shard.counts).dump();
  shard.sessions[session.name] = {"",
                                  session.begun,
                                  session.last,
                                  report.interrupted ? "interrupted" : "done",
                                  sql(report.programs),
                                  sql(session.programs_before),
                                  report.seconds,
                                  session.seconds_before};
  for (const verify::Session::Cause& cause : session.causes) {
    const auto found = std::ranges::find(report.findings, cause.finding, &verify::Finding::id);
    if (found == report.findings.end()) continue;
    verify::Finding finding = *found;
    finding.cause = cause.cause;
    finding.seen = cause.seen;
    shard.findings[cause.cause] = {reports::bug_of(finding).name(),
                                   finding.property,
                                   cause.death,
                                   sql(cause.index),
                                   sql(cause.seen),
                                   cause.shrunk,
                                   false,
                                   json_of(finding),
                                   session.last,
                                   {cause.first.time, cause.first.session}};
  }
  return content;
}

}  // namespace fuzz
