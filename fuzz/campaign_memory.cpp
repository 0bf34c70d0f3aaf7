#include "fuzz/campaign_memory.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "fuzz/machine.h"
#include "hip/sync/sync.h"
#include "reports/bugs.h"
#include "reports/json.h"

namespace fuzz {

namespace {

constexpr off_t kFirstLock = off_t{1} << 40;  // far behind SQLite's own locks, and any byte of the file
constexpr int kLockTries = 200;               // a killed campaign's workers take a moment to die
constexpr auto kLockPause = std::chrono::milliseconds(50);

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
  return {options.version, setup.subject,  setup.baseline,    setup.fault,
          options.seed,    options.size,   !setup.no_quirks,  options.properties,
          options.shard,   options.shards, setup.environment, setup.draw_environment};
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
          "INSERT OR IGNORE INTO campaigns (identity, version, subject, baseline, fault, seed, size, begun) VALUES (?, "
          "?, ?, ?, ?, ?, ?, ?)",
          {name, identity.version, identity.subject, identity.baseline, identity.fault, sql(identity.seed),
           sql(identity.size), now()});
      !made) {
    return made;
  }
  const hip::Result<std::int64_t> campaign = database_.number("SELECT id FROM campaigns WHERE identity = ?", {name});
  if (!campaign) return campaign.error();
  campaign_ = campaign.value();
  if (hip::Status made = database_.run(
          "INSERT OR IGNORE INTO shards (campaign, shard, shards, base) VALUES (?1, ?2, ?3, coalesce((SELECT base FROM "
          "shards WHERE campaign = ?1 AND base <> '' ORDER BY shards, shard LIMIT 1), (SELECT json_group_array(id) "
          "FROM "
          "(SELECT id FROM corpus WHERE NOT spare ORDER BY id))))",
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

hip::Result<Remembered> CampaignMemory::begin(const CampaignIdentity& identity, const std::string& session) {
  if (hip::Status begun = database_.transaction([&] { return begin_session(identity); }); !begun) {
    return hip::Error{1, "--db: " + begun.error().message};
  }
  if (hip::Status taken = take_shard(); !taken) return hip::Error{1, "--db: " + taken.error().message};
  Remembered remembered;
  std::string counts, bad;
  hip::Status done = database_.transaction([&]() -> hip::Status {
    if (hip::Status made = database_.run(
            "INSERT INTO sessions (shard, begun, last, name, node, programs_before, seconds_before) SELECT id, ?2, ?2, "
            "?3, ?4, coalesce(json_extract(nullif(counts, ''), '$.programs'), 0), "
            "coalesce(json_extract(nullif(counts, ''), '$.seconds'), 0) FROM shards WHERE id = ?1",
            {shard_, now(), session, node()});
        !made) {
      return made;
    }
    const hip::Result<std::int64_t> row = database_.number("SELECT last_insert_rowid()");
    if (!row) return row.error();
    session_ = row.value();
    return database_.each("SELECT next, counts FROM shards WHERE id = ?", {shard_}, [&](const SqlRow& row) {
      remembered.next = static_cast<std::uint64_t>(row.number(0));
      counts = row.text(1);
    });
  });
  if (done) {
    done = database_.each(
        "SELECT finding, program_index, death, shrunk, accepted, seen, first, (SELECT name FROM sessions WHERE id = "
        "session) FROM findings WHERE shard = ? ORDER BY number",
        {shard_}, [&](const SqlRow& row) {
          hip::Result<verify::CampaignResult> carrier = parse_result(row.text(0));
          if (!carrier || carrier.value().findings.size() != 1) {
            bad = "a finding";
            return;
          }
          KeptFinding kept{std::move(carrier).value().findings.front(), static_cast<std::uint64_t>(row.number(1)),
                           row.text(2), row.number(3) != 0, row.number(4) != 0};
          kept.finding.seen = static_cast<std::uint64_t>(row.number(5));
          kept.finding.first = {row.text(6), identity.shard, identity.shards, "", row.text(7)};
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
  const hip::Status read = database_.each(
      "SELECT program, place FROM corpus LEFT JOIN (SELECT key AS place, value AS entry FROM shards, "
      "json_each(iif(base = '', '[]', base)) WHERE shards.id = ?) ON entry = id ORDER BY place, id",
      {shard_}, [&](const SqlRow& row) {
        std::optional<verify::Program> program = parse_valid(row.text(0));
        if (!program) return;
        seen_.add(*program);
        if (!row.text(1).empty()) programs.push_back(std::move(*program));
      });
  if (!read) return hip::Error{1, "--db: " + read.error().message};
  return Corpus::of(std::move(programs), seen_);
}

hip::Status CampaignMemory::keep_program(const std::string& text) {
  const std::optional<verify::Program> program = parse_valid(text);
  // A worker knows the coverage of its own programs only, so another worker may have reported the same coverage.
  if (!program || seen_.add(*program) == 0) return {};
  return database_.run("INSERT OR IGNORE INTO corpus (program, covers, session, added) VALUES (?, ?, ?, ?)",
                       {text, covers(*program), session_, now()});
}

hip::Status CampaignMemory::keep_finding(const KeptFinding& kept) {
  const verify::Finding& finding = kept.finding;
  return database_.run(
      "INSERT INTO findings (shard, cause, bug, property, program_index, seen, shrunk, accepted, death, finding, "
      "first, last, number, session) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?13, ?11, (SELECT count(*) FROM "
      "findings), ?12) "
      "ON CONFLICT (shard, cause) DO UPDATE SET bug = ?3, seen = ?6, shrunk = ?7, accepted = ?8, finding = ?10, "
      "last = ?11",
      {shard_, finding.cause, reports::bug_of(finding).name(), finding.property, sql(kept.index), sql(finding.seen),
       std::int64_t{kept.shrunk}, std::int64_t{kept.accepted}, kept.death, json_of(finding), now(), session_,
       finding.first.time.empty() ? now() : finding.first.time});
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
