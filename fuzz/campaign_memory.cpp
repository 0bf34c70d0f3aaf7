#include "fuzz/campaign_memory.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "hip/sync/sync.h"
#include "reports/bugs.h"
#include "reports/json.h"
#include "verify/program/coverage.h"
#include "verify/program/features.h"
#include "verify/program/state.h"
#include "verify/program/text.h"

namespace fuzz {

namespace {

constexpr std::int64_t kApplication = 0x68676368;  // "hgch", as `file` shows it
constexpr std::int64_t kForm = 1;                  // version of the tables
constexpr off_t kFirstLock = off_t{1} << 40;       // far behind SQLite's own locks, and any byte of the file
constexpr int kLockTries = 200;                    // a killed campaign's workers take a moment to die
constexpr auto kLockPause = std::chrono::milliseconds(50);

constexpr std::string_view kTables[] = {
    "CREATE TABLE IF NOT EXISTS campaigns (id INTEGER PRIMARY KEY, identity TEXT UNIQUE, version TEXT, subject TEXT, "
    "baseline TEXT, fault TEXT, seed INTEGER, size INTEGER, corpus_until INTEGER, begun TEXT)",
    "CREATE TABLE IF NOT EXISTS shards (id INTEGER PRIMARY KEY, campaign INTEGER REFERENCES campaigns, shard INTEGER, "
    "shards INTEGER, next INTEGER DEFAULT 0, counts TEXT DEFAULT '', UNIQUE (campaign, shard, shards))",
    "CREATE TABLE IF NOT EXISTS sessions (id INTEGER PRIMARY KEY, shard INTEGER REFERENCES shards, begun TEXT, "
    "last TEXT, ended TEXT DEFAULT '', programs INTEGER DEFAULT 0, seconds REAL DEFAULT 0)",
    "CREATE TABLE IF NOT EXISTS findings (shard INTEGER REFERENCES shards, cause TEXT, bug TEXT, property TEXT, "
    "program_index INTEGER, seen INTEGER, shrunk INTEGER, accepted INTEGER, death TEXT, finding TEXT, first TEXT, "
    "last TEXT, number INTEGER, PRIMARY KEY (shard, cause))",
    "CREATE TABLE IF NOT EXISTS corpus (id INTEGER PRIMARY KEY AUTOINCREMENT, program TEXT UNIQUE, covers TEXT, "
    "session INTEGER REFERENCES sessions, added TEXT)",
};

hip::Status make_tables(SqlDatabase& database) {
  const hip::Result<std::int64_t> tables = database.number("SELECT count(*) FROM sqlite_master");
  if (!tables) return tables.error();
  const hip::Result<std::int64_t> application = database.number("PRAGMA application_id");
  if (!application) return application.error();
  const hip::Result<std::int64_t> form = database.number("PRAGMA user_version");
  if (!form) return form.error();
  if (tables.value() != 0) {
    if (application.value() == kApplication && form.value() == kForm) return {};
    return hip::Error{1, fmt::format("{} is a database that hgcheck did not make: name another file", database.path())};
  }
  for (const std::string_view table : kTables) {
    if (hip::Status made = database.run(table); !made) return made;
  }
  if (hip::Status set = database.run(fmt::format("PRAGMA application_id = {}", kApplication)); !set) return set;
  return database.run(fmt::format("PRAGMA user_version = {}", kForm));
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

// A finding is stored as a report with one finding.
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

hip::Status lock_byte(int fd, off_t place) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = place;
  lock.l_len = 1;
  for (int i = 0; i < kLockTries; ++i) {
    if (fcntl(fd, F_OFD_SETLK, &lock) == 0) return {};
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) break;
    hip::sync::sleep_for(kLockPause);
  }
  return hip::Error{1, std::strerror(errno)};
}

}  // namespace

CampaignIdentity identity_of(const CampaignOptions& options) {
  const SetupOptions& setup = options.setup;
  return {options.version, setup.subject,    setup.baseline,     setup.fault,   options.seed,
          options.size,    !setup.no_quirks, options.properties, options.shard, options.shards};
}

std::string text_of(const CampaignIdentity& identity) {
  const std::set<std::string> properties(identity.properties.begin(), identity.properties.end());
  return nlohmann::json{identity.version, identity.subject, identity.baseline, identity.fault,
                        identity.seed,    identity.size,    identity.quirks,   properties}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
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

hip::Result<std::unique_ptr<CampaignMemory>> CampaignMemory::open(const std::string& path) {
  hip::Result<SqlDatabase> database = open_memory(path);
  if (!database) return database.error();
  return std::unique_ptr<CampaignMemory>(new CampaignMemory(std::move(database).value()));
}

void CampaignMemory::leave_to_parent() const {
  if (lock_.fd >= 0) close(lock_.fd);
}

hip::Status CampaignMemory::begin_session(const CampaignIdentity& identity) {
  const std::string name = text_of(identity);
  if (hip::Status made = database_.run(
          "INSERT OR IGNORE INTO campaigns (identity, version, subject, baseline, fault, seed, size, corpus_until, "
          "begun) VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(id), 0) FROM corpus), ?)",
          {name, identity.version, identity.subject, identity.baseline, identity.fault, sql(identity.seed),
           sql(identity.size), now()});
      !made) {
    return made;
  }
  const hip::Result<std::int64_t> campaign = database_.number("SELECT id FROM campaigns WHERE identity = ?", {name});
  if (!campaign) return campaign.error();
  campaign_ = campaign.value();
  if (hip::Status made = database_.run("INSERT OR IGNORE INTO shards (campaign, shard, shards) VALUES (?, ?, ?)",
                                       {campaign_, sql(identity.shard), sql(identity.shards)});
      !made) {
    return made;
  }
  const hip::Result<std::int64_t> shard =
      database_.number("SELECT id FROM shards WHERE campaign = ? AND shard = ? AND shards = ?",
                       {campaign_, sql(identity.shard), sql(identity.shards)});
  if (!shard) return shard.error();
  shard_ = shard.value();
  return {};
}

// The lock tells other processes that this one works on the shard. It ends with the process, however that ends.
hip::Status CampaignMemory::take_shard() {
  lock_.fd = ::open(database_.path().c_str(), O_RDWR | O_CLOEXEC);
  if (lock_.fd < 0) return hip::Error{1, fmt::format("{}: {}", database_.path(), std::strerror(errno))};
  if (!lock_byte(lock_.fd, kFirstLock + shard_)) {
    return hip::Error{1, fmt::format("{}: another process is at this campaign: wait for it, or give this one a --shard "
                                     "or a --seed of its own",
                                     database_.path())};
  }
  return {};
}

hip::Result<Remembered> CampaignMemory::begin(const CampaignIdentity& identity) {
  if (hip::Status begun = database_.transaction([&] { return begin_session(identity); }); !begun) {
    return hip::Error{1, "--db: " + begun.error().message};
  }
  if (hip::Status taken = take_shard(); !taken) return hip::Error{1, "--db: " + taken.error().message};
  Remembered remembered;
  std::string counts, bad;
  hip::Status done = database_.transaction([&]() -> hip::Status {
    if (hip::Status made =
            database_.run("INSERT INTO sessions (shard, begun, last) VALUES (?, ?, ?)", {shard_, now(), now()});
        !made) {
      return made;
    }
    const hip::Result<std::int64_t> session = database_.number("SELECT last_insert_rowid()");
    if (!session) return session.error();
    session_ = session.value();
    return database_.each("SELECT next, counts FROM shards WHERE id = ?", {shard_}, [&](const SqlRow& row) {
      remembered.next = static_cast<std::uint64_t>(row.number(0));
      counts = row.text(1);
    });
  });
  if (done) {
    done = database_.each(
        "SELECT finding, program_index, death, shrunk, accepted, seen FROM findings WHERE shard = ? ORDER BY number",
        {shard_}, [&](const SqlRow& row) {
          hip::Result<verify::CampaignResult> carrier = parse_result(row.text(0));
          if (!carrier || carrier.value().findings.size() != 1) {
            bad = "a finding";
            return;
          }
          KeptFinding kept{std::move(carrier).value().findings.front(), static_cast<std::uint64_t>(row.number(1)),
                           row.text(2), row.number(3) != 0, row.number(4) != 0};
          kept.finding.seen = static_cast<std::uint64_t>(row.number(5));
          remembered.found.push_back(std::move(kept));
        });
  }
  if (!done) return hip::Error{1, "--db: " + done.error().message};
  if (!counts.empty()) {
    hip::Result<verify::CampaignResult> result = parse_result(counts);
    if (!result) bad = "a campaign's counts";
    if (result) remembered.counts = std::move(result).value();
    remembered.begun_before = true;
  }
  if (!bad.empty()) {
    return hip::Error{1,
                      fmt::format("--db: {} holds {} that cannot be read: name another file", database_.path(), bad)};
  }
  return remembered;
}

hip::Result<Corpus> CampaignMemory::corpus() {
  std::vector<verify::Program> programs;
  const hip::Result<std::int64_t> until =
      database_.number("SELECT corpus_until FROM campaigns WHERE id = ?", {campaign_});
  if (!until) return until.error();
  const hip::Status read = database_.each("SELECT id, program FROM corpus ORDER BY id", {}, [&](const SqlRow& row) {
    std::optional<verify::Program> program = parse_valid(row.text(1));
    if (!program) return;
    seen_.add(*program);
    if (row.number(0) <= until.value()) programs.push_back(std::move(*program));
  });
  if (!read) return hip::Error{1, "--db: " + read.error().message};
  return Corpus::of(std::move(programs), seen_);
}

hip::Status CampaignMemory::keep_program(const std::string& text) {
  const std::optional<verify::Program> program = parse_valid(text);
  // A worker knows the coverage of its own programs only, so another worker may have reported the same coverage.
  if (!program || !seen_.add(*program)) return {};
  return database_.run("INSERT OR IGNORE INTO corpus (program, covers, session, added) VALUES (?, ?, ?, ?)",
                       {text, covers(*program), session_, now()});
}

hip::Status CampaignMemory::keep_finding(const KeptFinding& kept) {
  const verify::Finding& finding = kept.finding;
  return database_.run(
      "INSERT INTO findings (shard, cause, bug, property, program_index, seen, shrunk, accepted, death, finding, "
      "first, "
      "last, number) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11, (SELECT count(*) FROM findings)) "
      "ON CONFLICT (shard, cause) DO UPDATE SET bug = ?3, seen = ?6, shrunk = ?7, accepted = ?8, finding = ?10, "
      "last = ?11",
      {shard_, finding.cause, reports::bug_of(finding).name(), finding.property, sql(kept.index), sql(finding.seen),
       std::int64_t{kept.shrunk}, std::int64_t{kept.accepted}, kept.death, json_of(finding), now()});
}

hip::Status CampaignMemory::keep_progress(std::uint64_t next, const verify::CampaignResult& counts,
                                          const std::vector<KeptFinding>& found) {
  return database_.transaction([&]() -> hip::Status {
    if (hip::Status kept = database_.run("UPDATE shards SET next = ?, counts = ? WHERE id = ?",
                                         {sql(next), reports::to_json(counts).dump(), shard_});
        !kept) {
      return kept;
    }
    for (const KeptFinding& kept : found) {
      if (hip::Status done =
              database_.run("UPDATE findings SET last = CASE WHEN seen < ?1 THEN ?2 ELSE last END, seen = ?1 WHERE "
                            "shard = ?3 AND cause = ?4",
                            {sql(kept.finding.seen), now(), shard_, kept.finding.cause});
          !done) {
        return done;
      }
    }
    return database_.run("UPDATE sessions SET last = ?, programs = ?, seconds = ? WHERE id = ?",
                         {now(), sql(counts.programs), counts.seconds, session_});
  });
}

hip::Status CampaignMemory::end(const char* how) {
  return database_.run("UPDATE sessions SET last = ?, ended = ? WHERE id = ?", {now(), std::string(how), session_});
}

hip::Status CampaignMemory::copy_to(const std::string& path) {
  return database_.run("VACUUM INTO ?", {path});
}

}  // namespace fuzz
