#include "fuzz/memory_tables.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "reports/json.h"
#include "verify/program/coverage.h"
#include "verify/program/features.h"
#include "verify/program/state.h"
#include "verify/program/text.h"

namespace fuzz {

namespace {

constexpr std::int64_t kApplication = 0x68676368;  // "hgch", as `file` shows it

constexpr std::string_view kFirstForm[] = {
    "CREATE TABLE campaigns (id INTEGER PRIMARY KEY, identity TEXT UNIQUE, version TEXT, subject TEXT, "
    "baseline TEXT, fault TEXT, seed INTEGER, size INTEGER, corpus_until INTEGER, begun TEXT)",
    "CREATE TABLE shards (id INTEGER PRIMARY KEY, campaign INTEGER REFERENCES campaigns, shard INTEGER, "
    "shards INTEGER, next INTEGER DEFAULT 0, counts TEXT DEFAULT '', UNIQUE (campaign, shard, shards))",
    "CREATE TABLE sessions (id INTEGER PRIMARY KEY, shard INTEGER REFERENCES shards, begun TEXT, "
    "last TEXT, ended TEXT DEFAULT '', programs INTEGER DEFAULT 0, seconds REAL DEFAULT 0)",
    "CREATE TABLE findings (shard INTEGER REFERENCES shards, cause TEXT, bug TEXT, property TEXT, "
    "program_index INTEGER, seen INTEGER, shrunk INTEGER, accepted INTEGER, death TEXT, finding TEXT, first TEXT, "
    "last TEXT, number INTEGER, PRIMARY KEY (shard, cause))",
    "CREATE TABLE corpus (id INTEGER PRIMARY KEY AUTOINCREMENT, program TEXT UNIQUE, covers TEXT, "
    "session INTEGER REFERENCES sessions, added TEXT)",
};

// The second form is made for databases that are merged. A session has a name that no other session has, its node, and
// the counts with which it began. A finding has the session that saw it first. A shard has the programs that it mutates
// (`base`, ids of the corpus; empty for "not known"), because shards of other databases began from other programs. A
// spare entry of the corpus covers nothing new and is only there for such a shard.
constexpr std::string_view kSecondForm[] = {
    "ALTER TABLE sessions ADD COLUMN name TEXT DEFAULT ''",
    "ALTER TABLE sessions ADD COLUMN node TEXT DEFAULT ''",
    "ALTER TABLE sessions ADD COLUMN programs_before INTEGER DEFAULT 0",
    "ALTER TABLE sessions ADD COLUMN seconds_before REAL DEFAULT 0",
    "UPDATE sessions SET name = begun || '#' || (SELECT count(*) FROM sessions e WHERE e.shard = sessions.shard AND "
    "e.id < sessions.id), programs_before = (SELECT coalesce(max(e.programs), 0) FROM sessions e WHERE e.shard = "
    "sessions.shard AND e.id < sessions.id), seconds_before = (SELECT coalesce(max(e.seconds), 0) FROM sessions e "
    "WHERE e.shard = sessions.shard AND e.id < sessions.id)",
    "ALTER TABLE findings ADD COLUMN session INTEGER REFERENCES sessions",
    "UPDATE findings SET session = (SELECT max(id) FROM sessions e WHERE e.shard = findings.shard AND e.begun <= "
    "findings.first)",
    "ALTER TABLE shards ADD COLUMN base TEXT DEFAULT '[]'",
    "UPDATE shards SET base = (SELECT json_group_array(id) FROM (SELECT id FROM corpus WHERE id <= (SELECT "
    "corpus_until FROM campaigns c WHERE c.id = shards.campaign) ORDER BY id))",
    "ALTER TABLE campaigns DROP COLUMN corpus_until",
    "ALTER TABLE corpus ADD COLUMN spare INTEGER DEFAULT 0",
};

// Each leads from the form before it to the next one.
constexpr std::span<const std::string_view> kForms[] = {kFirstForm, kSecondForm};

}  // namespace

hip::Status make_tables(SqlDatabase& database) {
  const hip::Result<std::int64_t> tables = database.number("SELECT count(*) FROM sqlite_master");
  if (!tables) return tables.error();
  const hip::Result<std::int64_t> application = database.number("PRAGMA application_id");
  if (!application) return application.error();
  const hip::Result<std::int64_t> form = database.number("PRAGMA user_version");
  if (!form) return form.error();
  const std::size_t has = tables.value() == 0 ? 0 : static_cast<std::size_t>(form.value());
  if (tables.value() != 0 && (application.value() != kApplication || has == 0)) {
    return hip::Error{1, fmt::format("{} is a database that hgcheck did not make: name another file", database.path())};
  }
  if (has == std::size(kForms)) return {};
  if (has > std::size(kForms)) {
    return hip::Error{1, fmt::format("{} is a database of a newer hgcheck (form {}, this one knows {}; remedy: use the "
                                     "newer hgcheck)",
                                     database.path(), has, std::size(kForms))};
  }
  for (std::size_t next = has; next < std::size(kForms); ++next) {
    for (const std::string_view step : kForms[next]) {
      if (hip::Status made = database.run(step); !made) return made;
    }
  }
  if (hip::Status set = database.run(fmt::format("PRAGMA application_id = {}", kApplication)); !set) return set;
  return database.run(fmt::format("PRAGMA user_version = {}", std::size(kForms)));
}

hip::Result<SqlDatabase> open_memory(const std::string& path) {
  hip::Result<SqlDatabase> opened = SqlDatabase::open(path);
  if (!opened) return hip::Error{1, "--db: " + opened.error().message};
  SqlDatabase database = std::move(opened).value();
  if (hip::Status made = database.transaction([&] { return make_tables(database); }); !made) {
    return hip::Error{1, "--db: " + made.error().message};
  }
  return database;
}

hip::Result<SqlDatabase> copy_of_memory(const std::string& path) {
  hip::Result<SqlDatabase> copy = SqlDatabase::copy_of(path);
  if (!copy) return copy;
  const hip::Result<std::int64_t> tables = copy.value().number("SELECT count(*) FROM sqlite_master");
  if (tables && tables.value() == 0) {
    return hip::Error{1, fmt::format("{}: it holds no campaign (remedy: name another file)", path)};
  }
  if (hip::Status made = make_tables(copy.value()); !made) return made.error();
  return copy;
}

std::string now() {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::int64_t sql(std::uint64_t number) {
  return static_cast<std::int64_t>(number);
}

std::string text_of(const CampaignIdentity& identity) {
  const std::set<std::string> properties(identity.properties.begin(), identity.properties.end());
  nlohmann::json parts{identity.version, identity.subject, identity.baseline, identity.fault,
                       identity.seed,    identity.size,    identity.quirks,   properties};
  // Campaigns without variables keep the identity that they had before there were any.
  const std::set<std::string> environment(identity.environment.begin(), identity.environment.end());
  if (!environment.empty() || identity.draws_environment) parts.push_back({environment, identity.draws_environment});
  return parts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_of(const verify::Finding& finding) {
  verify::CampaignResult carrier;
  carrier.findings = {finding};
  return reports::to_json(carrier).dump();
}

hip::Result<verify::CampaignResult> parse_result(const std::string& text) {
  return reports::from_json(nlohmann::ordered_json::parse(text, nullptr, false));
}

std::string covers(const verify::Program& program) {
  nlohmann::json names = nlohmann::json::array();
  std::vector<std::uint64_t> features(verify::feature_names().size(), 0), pairs(verify::coverage_pairs().size(), 0);
  verify::count_features(program, features);
  verify::count_pairs(program, pairs);
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (features[i] != 0) names.push_back(verify::feature_names()[i]);
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const verify::CoveragePair& pair = verify::coverage_pairs()[i];
    if (pairs[i] != 0) names.push_back(pair.operation + " with " + pair.state);
  }
  return names.dump();
}

std::optional<verify::Program> parse_valid(const std::string& text) {
  std::variant<verify::Program, verify::ParseError> parsed = verify::parse_program(text);
  auto* program = std::get_if<verify::Program>(&parsed);
  if (program == nullptr || verify::validate(*program)) return std::nullopt;
  return std::move(*program);
}

}  // namespace fuzz
