// `hgcheck history`: shows the contents of a database of campaigns, as text and as JSON.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "fuzz/campaign_memory.h"
#include "fuzz/commands.h"
#include "fuzz/files.h"

namespace fuzz {

namespace {

using nlohmann::ordered_json;

// Groups the findings of all campaigns on one subject that count as one bug, in the order in which bugs were found.
constexpr std::string_view kBugs = R"(
SELECT c.subject, c.baseline, c.fault, f.bug, f.property, group_concat(DISTINCT f.cause), min(f.first), max(f.last),
       sum(f.seen), count(DISTINCT c.id), min(f.accepted), max(f.shrunk)
FROM findings f JOIN shards s ON f.shard = s.id JOIN campaigns c ON s.campaign = c.id
GROUP BY c.subject, c.baseline, c.fault, CASE WHEN f.shrunk THEN f.bug ELSE f.cause END ORDER BY min(f.number))";
// The shortest program that shows a bug.
constexpr std::string_view kShortest = R"(
SELECT f.finding FROM findings f JOIN shards s ON f.shard = s.id JOIN campaigns c ON s.campaign = c.id
WHERE c.subject = ? AND c.baseline = ? AND c.fault = ? AND f.bug = ?
ORDER BY f.shrunk DESC, length(f.finding) LIMIT 1)";
constexpr std::string_view kSessions = R"(
SELECT e.begun, e.last, e.ended, c.version, c.subject, c.baseline, c.fault, c.seed, c.size, s.shard, s.shards,
       e.programs, s.next, e.node, (SELECT count(*) FROM findings f WHERE f.shard = s.id AND NOT f.accepted)
FROM sessions e JOIN shards s ON e.shard = s.id JOIN campaigns c ON s.campaign = c.id ORDER BY e.id)";
constexpr std::string_view kCovered =
    "SELECT count(DISTINCT covered.value) FROM corpus, json_each(corpus.covers) AS covered WHERE NOT spare";

ordered_json bug_json(const SqlRow& row) {
  return {{"subject", row.text(0)},
          {"baseline", row.text(1)},
          {"fault", row.text(2)},
          {"bug", row.text(3)},
          {"property", row.text(4)},
          {"causes", row.text(5)},
          {"first", row.text(6)},
          {"last", row.text(7)},
          {"seen", row.number(8)},
          {"campaigns", row.number(9)},
          {"accepted", row.number(10) != 0},
          {"shrunk", row.number(11) != 0}};
}

ordered_json session_json(const SqlRow& row) {
  return {
      {"begun", row.text(0)},      {"last", row.text(1)},      {"ended", row.text(2).empty() ? "cut off" : row.text(2)},
      {"version", row.text(3)},    {"subject", row.text(4)},   {"baseline", row.text(5)},
      {"fault", row.text(6)},      {"seed", row.number(7)},    {"size", row.number(8)},
      {"shard", row.number(9)},    {"shards", row.number(10)}, {"programs", row.number(11)},
      {"settled", row.number(12)}, {"node", row.text(13)},     {"findings", row.number(14)}};
}

hip::Status add_shortest(SqlDatabase& database, ordered_json& bugs) {
  for (ordered_json& bug : bugs) {
    const hip::Status done = database.each(kShortest,
                                           {bug["subject"].get<std::string>(), bug["baseline"].get<std::string>(),
                                            bug["fault"].get<std::string>(), bug["bug"].get<std::string>()},
                                           [&](const SqlRow& row) {
                                             const ordered_json carrier =
                                                 ordered_json::parse(row.text(0), nullptr, false);
                                             if (carrier.is_discarded()) return;
                                             const ordered_json& finding = carrier["findings"][0];
                                             for (const char* key : {"id", "summary", "program_text"})
                                               bug[key] = finding[key];
                                           });
    if (!done) return done;
  }
  return {};
}

hip::Result<ordered_json> read_history(SqlDatabase& database) {
  ordered_json history = {{"sessions", ordered_json::array()}, {"findings", ordered_json::array()}};
  hip::Status done =
      database.each(kSessions, {}, [&](const SqlRow& row) { history["sessions"].push_back(session_json(row)); });
  if (done) done = database.each(kBugs, {}, [&](const SqlRow& row) { history["findings"].push_back(bug_json(row)); });
  if (done) done = add_shortest(database, history["findings"]);
  if (!done) return done.error();
  ordered_json corpus = ordered_json::array();
  done = database.each("SELECT id, added, program, covers FROM corpus WHERE NOT spare ORDER BY id", {},
                       [&](const SqlRow& row) {
                         corpus.push_back({{"id", row.number(0)},
                                           {"added", row.text(1)},
                                           {"program", row.text(2)},
                                           {"covers", ordered_json::parse(row.text(3), nullptr, false)}});
                       });
  if (!done) return done.error();
  const hip::Result<std::int64_t> covered = database.number(kCovered);
  if (!covered) return covered.error();
  history["covered"] = covered.value();
  history["corpus"] = std::move(corpus);
  return history;
}

std::string word(const ordered_json& object, const char* key) {
  return object[key].get<std::string>();
}

void print_history(const ordered_json& history) {
  for (const ordered_json& session : history["sessions"]) {
    std::cout << fmt::format(
        "{}  {} on {}, seed {}{}{}: {} programs, {} causes, {}\n", word(session, "begun"), word(session, "version"),
        word(session, "subject"), session["seed"].get<std::int64_t>(),
        session["shards"] == 1
            ? ""
            : fmt::format(", shard {}/{}", session["shard"].get<std::int64_t>(), session["shards"].get<std::int64_t>()),
        word(session, "fault").empty() ? "" : ", fault " + word(session, "fault"),
        session["programs"].get<std::int64_t>(), session["findings"].get<std::int64_t>(), word(session, "ended"));
  }
  for (const ordered_json& bug : history["findings"]) {
    std::cout << fmt::format("\n{}\n  on {}{}, first {}, last {}, seen in {} programs of {} campaigns{}{}\n",
                             word(bug, "bug"), word(bug, "subject"),
                             word(bug, "fault").empty() ? "" : " with fault " + word(bug, "fault"), word(bug, "first"),
                             word(bug, "last"), bug["seen"].get<std::int64_t>(), bug["campaigns"].get<std::int64_t>(),
                             bug["accepted"] == true ? ", accepted" : "", bug["shrunk"] == true ? "" : ", not shrunk");
    if (bug.contains("summary") && bug["accepted"] == false) {
      std::cout << fmt::format("  {}: {}\n", word(bug, "id"), word(bug, "summary"));
    }
  }
  std::cout << fmt::format("\ncorpus: {} programs that cover {} features and pairs of operation and state\n",
                           history["corpus"].size(), history["covered"].get<std::int64_t>());
}

}  // namespace

int run(const HistoryCommand& command) {
  const auto complain = [](const std::string& message) {
    std::cerr << "hgcheck: " << message << "\n";
    return kUsage;
  };
  std::error_code error;
  if (!std::filesystem::is_regular_file(command.db, error)) {
    return complain(
        fmt::format("--db: there is no file {}: 'hgcheck campaign --db {}' makes one", command.db, command.db));
  }
  hip::Result<SqlDatabase> database = open_memory(command.db);
  if (!database) return complain(database.error().message);
  const hip::Result<ordered_json> history = read_history(database.value());
  if (!history) return complain("--db: " + history.error().message);
  if (command.json != "-") print_history(history.value());
  if (command.json.empty()) return kAgreed;
  const hip::Status written = write_text(command.json, history.value().dump(2) + "\n");
  return written ? static_cast<int>(kAgreed) : complain(written.error().message);
}

}  // namespace fuzz
