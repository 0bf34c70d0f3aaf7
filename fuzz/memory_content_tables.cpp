#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "fuzz/memory_content.h"
#include "verify/program/coverage.h"
#include "verify/program/features.h"

namespace fuzz {

namespace {

using Base = std::shared_ptr<const std::vector<std::string>>;

std::vector<std::uint16_t> what_it_meets(const std::string& text) {
  std::vector<std::uint16_t> numbers;
  const std::optional<verify::Program> program = parse_valid(text);
  if (!program) return numbers;
  const std::size_t features = verify::feature_names().size();
  std::vector<std::uint64_t> counts(features, 0), pairs(verify::coverage_pairs().size(), 0);
  verify::count_features(*program, counts);
  verify::count_pairs(*program, pairs);
  counts.insert(counts.end(), pairs.begin(), pairs.end());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) numbers.push_back(static_cast<std::uint16_t>(i));
  }
  return numbers;
}

// Reads the tables of one database, in the order in which they refer to each other.
class TableReader {
 public:
  explicit TableReader(SqlDatabase& database) : database_(database) {}

  hip::Result<MemoryContent> read() {
    for (const auto step : {&TableReader::read_campaigns, &TableReader::read_shards, &TableReader::read_sessions,
                            &TableReader::read_findings, &TableReader::read_corpus}) {
      if (hip::Status done = (this->*step)(); !done) return done.error();
      if (!bad_.empty()) {
        return hip::Error{1, fmt::format("{}: it holds {} that cannot be read (remedy: copy it again from where it was "
                                         "made)",
                                         database_.path(), bad_)};
      }
    }
    content_.reduce();
    return std::move(content_);
  }

 private:
  struct Place {
    std::string campaign;
    ShardNumber number;
    ShardContent* shard = nullptr;
  };

  hip::Status read_campaigns() {
    return database_.each("SELECT id, identity, version, subject, baseline, fault, seed, size, begun FROM campaigns",
                          {}, [this](const SqlRow& row) {
                            names_[row.number(0)] = row.text(1);
                            CampaignContent& campaign = content_.campaigns[row.text(1)];
                            campaign = {row.text(2), row.text(3),   row.text(4),   row.text(5),
                                        row.text(8), row.number(6), row.number(7), {}};
                          });
  }

  hip::Status read_shards() {
    std::map<std::int64_t, std::string> bases;
    hip::Status done = database_.each(
        "SELECT id, campaign, shard, shards, next, counts, base FROM shards", {}, [&](const SqlRow& row) {
          const auto campaign = names_.find(row.number(1));
          if (campaign == names_.end()) {
            bad_ = "a shard without a campaign";
            return;
          }
          Place& place = shards_[row.number(0)];
          place.campaign = campaign->second;
          place.number = {row.number(3), row.number(2)};
          place.shard = &content_.campaigns[place.campaign].shards[place.number];
          place.shard->source = database_.path();
          place.shard->next = row.number(4);
          place.shard->counts_text = row.text(5);
          bases[row.number(0)] = row.text(6);
          if (place.shard->counts_text.empty()) return;
          hip::Result<verify::CampaignResult> counts = parse_result(place.shard->counts_text);
          if (!counts) bad_ = "a shard's counts";
          if (counts) place.shard->counts = std::move(counts).value();
        });
    std::map<std::string, Base> known;
    for (auto base = bases.begin(); done && base != bases.end(); ++base) {
      if (base->second.empty()) continue;
      Base& programs = known[base->second];
      if (!programs) done = read_base(base->second, programs);
      shards_[base->first].shard->base = programs;
    }
    return done;
  }

  hip::Status read_base(const std::string& ids, Base& base) {
    std::vector<std::string> programs;
    hip::Status done = database_.each(
        "SELECT program, program IS NULL FROM json_each(?) AS place LEFT JOIN corpus ON corpus.id = place.value ORDER "
        "BY place.key",
        {ids}, [&](const SqlRow& row) {
          if (row.number(1) != 0) bad_ = "a shard's corpus";
          programs.push_back(row.text(0));
        });
    base = std::make_shared<const std::vector<std::string>>(std::move(programs));
    return done;
  }

  hip::Status read_sessions() {
    return database_.each(
        "SELECT id, shard, coalesce(nullif(name, ''), begun), node, begun, last, ended, programs, programs_before, "
        "seconds, seconds_before FROM sessions",
        {}, [this](const SqlRow& row) {
          ShardContent* shard = shard_of(row.number(1));
          if (shard == nullptr) return;
          sessions_[row.number(0)] = {row.number(1), row.text(2)};
          shard->sessions[row.text(2)] = {row.text(3),   row.text(4),   row.text(5), row.text(6),
                                          row.number(7), row.number(8), row.real(9), row.real(10)};
        });
  }

  hip::Status read_findings() {
    return database_.each(
        "SELECT shard, cause, bug, property, death, program_index, seen, shrunk, accepted, finding, last, first, "
        "session FROM findings",
        {}, [this](const SqlRow& row) {
          const hip::Result<verify::CampaignResult> carrier = parse_result(row.text(9));
          if (!carrier || carrier.value().findings.size() != 1) bad_ = "a finding";
          ShardContent* shard = shard_of(row.number(0));
          if (shard == nullptr) return;
          shard->findings[row.text(1)] = {row.text(2),        row.text(3),
                                          row.text(4),        row.number(5),
                                          row.number(6),      row.number(7) != 0,
                                          row.number(8) != 0, row.text(9),
                                          row.text(10),       {row.text(11), session(row.number(12))}};
        });
  }

  hip::Status read_corpus() {
    return database_.each("SELECT program, added, session FROM corpus WHERE NOT spare", {}, [this](const SqlRow& row) {
      EntryContent& entry = content_.corpus[row.text(0)];
      entry.meets = what_it_meets(row.text(0));
      entry.adder.added = row.text(1);
      const auto adder = sessions_.find(row.number(2));
      if (adder == sessions_.end()) return;
      const Place& place = shards_[adder->second.first];
      entry.adder = {row.text(1), place.campaign, place.number, adder->second.second};
    });
  }

  ShardContent* shard_of(std::int64_t id) {
    const auto found = shards_.find(id);
    if (found == shards_.end()) bad_ = "a row without a shard";
    return found == shards_.end() ? nullptr : found->second.shard;
  }

  [[nodiscard]] std::string session(std::int64_t id) const {
    const auto found = sessions_.find(id);
    return found == sessions_.end() ? "" : found->second.second;
  }

  SqlDatabase& database_;
  MemoryContent content_;
  std::string bad_;
  std::map<std::int64_t, std::string> names_;  // campaign -> identity
  std::map<std::int64_t, Place> shards_;
  std::map<std::int64_t, std::pair<std::int64_t, std::string>> sessions_;  // -> shard and name
};

}  // namespace

hip::Result<MemoryContent> MemoryContent::read(SqlDatabase& database) {
  return TableReader(database).read();
}

// ---- writing

namespace {

// Gives the rows numbers that follow from the content alone.
class TableWriter {
 public:
  TableWriter(const MemoryContent& content, SqlDatabase& database) : content_(content), database_(database) {}

  hip::Status write() {
    for (const auto step : {&TableWriter::write_campaigns, &TableWriter::write_sessions, &TableWriter::write_corpus,
                            &TableWriter::write_shards, &TableWriter::write_findings}) {
      if (hip::Status done = (this->*step)(); !done) return done;
    }
    return {};
  }

 private:
  struct Shard {
    const std::string* campaign;
    ShardNumber number;
    const ShardContent* content;
  };

  // Campaigns in the order in which they began.
  hip::Status write_campaigns() {
    std::set<std::pair<std::string, std::string>> order;
    for (const auto& [identity, campaign] : content_.campaigns) order.emplace(campaign.begun, identity);
    for (const auto& [begun, identity] : order) {
      const auto place = content_.campaigns.find(identity);
      const CampaignContent& c = place->second;
      if (hip::Status done = database_.run(
              "INSERT INTO campaigns (identity, version, subject, baseline, fault, seed, size, begun) VALUES (?, ?, ?, "
              "?, ?, ?, ?, ?)",
              {identity, c.version, c.subject, c.baseline, c.fault, c.seed, c.size, begun});
          !done) {
        return done;
      }
      for (const auto& [number, shard] : c.shards) shards_.push_back({&place->first, number, &shard});
      campaigns_[identity] = static_cast<std::int64_t>(campaigns_.size() + 1);
    }
    return {};
  }

  hip::Status write_sessions() {
    std::set<std::tuple<std::string, std::int64_t, std::string>> order;  // when, shard, name
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      for (const auto& [name, session] : shards_[i].content->sessions) {
        order.emplace(session.begun, static_cast<std::int64_t>(i + 1), name);
      }
    }
    for (const auto& [begun, shard, name] : order) {
      const Shard& of = shards_[static_cast<std::size_t>(shard - 1)];
      const SessionContent& s = of.content->sessions.at(name);
      if (hip::Status done = database_.run(
              "INSERT INTO sessions (shard, name, node, begun, last, ended, programs, programs_before, seconds, "
              "seconds_before) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
              {shard, name, s.node, begun, s.last, s.ended, s.programs, s.programs_before, s.seconds,
               s.seconds_before});
          !done) {
        return done;
      }
      sessions_[{*of.campaign, of.number, name}] = static_cast<std::int64_t>(sessions_.size() + 1);
    }
    return {};
  }

  hip::Status write_corpus() {
    for (const auto& [program, entry] : content_.corpus) {
      if (hip::Status done = write_entry(program, entry.adder, false); !done) return done;
    }
    std::set<std::string, ShorterFirst> spare;
    for (const Shard& shard : shards_) {
      if (shard.content->base) spare.insert(shard.content->base->begin(), shard.content->base->end());
    }
    for (const std::string& program : spare) {
      if (entries_.contains(program)) continue;
      if (hip::Status done = write_entry(program, {}, true); !done) return done;
    }
    return {};
  }

  hip::Status write_entry(const std::string& program, const Adder& adder, bool spare) {
    entries_[program] = static_cast<std::int64_t>(entries_.size() + 1);
    const std::optional<verify::Program> parsed = parse_valid(program);
    return database_.run(
        "INSERT INTO corpus (id, program, covers, session, added, spare) VALUES (?, ?, ?, nullif(?, 0), ?, ?)",
        {entries_[program], program, parsed ? covers(*parsed) : "[]",
         session_of(adder.campaign, adder.shard, adder.session), adder.added, std::int64_t{spare}});
  }

  hip::Status write_shards() {
    for (const Shard& shard : shards_) {
      std::string base;
      if (shard.content->base) {
        std::vector<std::int64_t> ids;
        for (const std::string& program : *shard.content->base) ids.push_back(entries_.at(program));
        base = fmt::format("[{}]", fmt::join(ids, ","));
      }
      if (hip::Status done = database_.run(
              "INSERT INTO shards (campaign, shard, shards, next, counts, base) VALUES (?, ?, ?, ?, ?, ?)",
              {campaigns_.at(*shard.campaign), shard.number.second, shard.number.first, shard.content->next,
               shard.content->counts_text, base});
          !done) {
        return done;
      }
    }
    return {};
  }

  hip::Status write_findings() {
    std::set<std::tuple<std::string, std::int64_t, std::int64_t, std::string>> order;  // when, shard, index, cause
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      for (const auto& [cause, finding] : shards_[i].content->findings) {
        order.emplace(finding.first.first, static_cast<std::int64_t>(i + 1), finding.index, cause);
      }
    }
    std::int64_t number = 0;
    for (const auto& [when, shard, index, cause] : order) {
      const Shard& of = shards_[static_cast<std::size_t>(shard - 1)];
      const FindingContent& f = of.content->findings.at(cause);
      if (hip::Status done = database_.run(
              "INSERT INTO findings (shard, cause, bug, property, program_index, seen, shrunk, accepted, death, "
              "finding, first, last, number, session) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0))",
              {shard, cause, f.bug, f.property, index, f.seen, std::int64_t{f.shrunk}, std::int64_t{f.accepted},
               f.death, f.finding, when, f.last, number++, session_of(*of.campaign, of.number, f.first.second)});
          !done) {
        return done;
      }
    }
    return {};
  }

  // 0: none
  [[nodiscard]] std::int64_t session_of(const std::string& campaign, ShardNumber shard, const std::string& name) const {
    const auto found = sessions_.find({campaign, shard, name});
    return found == sessions_.end() ? 0 : found->second;
  }

  const MemoryContent& content_;
  SqlDatabase& database_;
  std::vector<Shard> shards_;  // in the order of their row numbers
  std::map<std::string, std::int64_t> campaigns_, entries_;
  std::map<std::tuple<std::string, ShardNumber, std::string>, std::int64_t> sessions_;
};

}  // namespace

hip::Status MemoryContent::write(SqlDatabase& database) const {
  return database.transaction([&]() -> hip::Status {
    if (hip::Status made = make_tables(database); !made) return made;
    return TableWriter(*this, database).write();
  });
}

}  // namespace fuzz
