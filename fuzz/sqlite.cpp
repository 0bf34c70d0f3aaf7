#include "fuzz/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <cassert>
#include <filesystem>
#include <fstream>

namespace fuzz {

namespace {

constexpr int kMilliseconds = 1000;

struct Finalizer {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Prepared = std::unique_ptr<sqlite3_stmt, Finalizer>;

int bind(sqlite3_stmt* statement, int place, const SqlValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return sqlite3_bind_int64(statement, place, *number);
  if (const auto* real = std::get_if<double>(&value)) return sqlite3_bind_double(statement, place, *real);
  const std::string& text = std::get<std::string>(value);
  return sqlite3_bind_text64(statement, place, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// Whether the file's header says that the database has a write-ahead log.
bool keeps_log(const std::string& path) {
  constexpr std::size_t kWriteVersion = 18;
  std::array<char, kWriteVersion + 1> header{};
  return std::ifstream(path, std::ios::binary).read(header.data(), header.size()) && header[kWriteVersion] == 2;
}

// The name that opens `path` for reading alone. No process uses a database whose log is not there: it is taken as
// unchanging, because otherwise SQLite would make a log, which it cannot in a folder that is read-only.
std::string name_to_read(const std::string& path) {
  std::string name = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    if (c == '%' || c == '?' || c == '#') {
      name += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      name += c;
    }
  }
  std::error_code ignored;
  const bool unused = keeps_log(path) && !std::filesystem::exists(path + "-wal", ignored);
  return name + (unused ? "?immutable=1" : "?mode=ro");
}

const char* why_unreadable(int status) {
  switch (status & 0xff) {  // the part behind the primary code tells details
    case SQLITE_NOTADB:
      return "it is no database (remedy: name a database of 'hgcheck campaign --db')";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process has locked it (remedy: wait until that process ends)";
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return "it cannot be opened (remedy: name a file that you may read, in a folder that you may write if a FILE-wal "
             "lies beside it)";
    default:
      return "it is damaged (remedy: copy it again from where it was made, together with the FILE-wal beside it)";
  }
}

}  // namespace

std::int64_t SqlRow::number(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double SqlRow::real(int column) const {
  return sqlite3_column_double(statement_, column);
}

std::string SqlRow::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  const int bytes = sqlite3_column_bytes(statement_, column);
  return text == nullptr ? std::string()
                         : std::string(reinterpret_cast<const char*>(text), static_cast<std::size_t>(bytes));
}

void SqlDatabase::Closer::operator()(sqlite3* handle) const {
  [[maybe_unused]] const int status = sqlite3_close(handle);
  assert(status == SQLITE_OK);  // every statement is finalized before
}

hip::Error SqlDatabase::error(std::string_view doing) const {
  return {1, fmt::format("{}: {}: {} (remedy: name a database that hgcheck made, on a disk of this machine with space, "
                         "or a new file)",
                         path_, doing, sqlite3_errmsg(handle_.get()))};
}

hip::Result<SqlDatabase> SqlDatabase::open(const std::string& path) {
  sqlite3* handle = nullptr;
  const int status = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  SqlDatabase database(path, handle);
  if (handle == nullptr) return hip::Error{1, fmt::format("{}: no memory to open it", path)};
  if (status != SQLITE_OK) return database.error("it cannot be opened");
  sqlite3_busy_timeout(handle, kBusySeconds * kMilliseconds);
  if (hip::Status full = database.run("PRAGMA synchronous = FULL"); !full) return full.error();
  // Two processes may make one database at once. The pragma does not wait for a lock that has to be upgraded, so it is
  // repeated for as long as a transaction would wait.
  for (int i = 0; i < kBusySeconds; ++i) {
    if (database.run("PRAGMA journal_mode = WAL")) return database;
    if (sqlite3_errcode(handle) != SQLITE_BUSY) break;
    sqlite3_sleep(kMilliseconds);
  }
  return database.error("it has no write-ahead log");
}

// SQLite finds a damaged page only when it reads it.
hip::Status SqlDatabase::check(SqlDatabase& copy) {
  std::string answer;
  if (!copy.each("PRAGMA quick_check(1)", {}, [&](const SqlRow& row) { answer = row.text(0); })) {
    return hip::Error{1, fmt::format("{}: {}", copy.path_, why_unreadable(sqlite3_errcode(copy.handle_.get())))};
  }
  if (answer == "ok") {
    const hip::Status whole =
        copy.each("PRAGMA foreign_key_check", {}, [&](const SqlRow&) { answer = "a row is missing"; });
    if (!whole) answer = "its tables are not whole";
  }
  if (answer == "ok") return {};
  return hip::Error{1, fmt::format("{}: {}: {}", copy.path_, why_unreadable(SQLITE_CORRUPT), answer)};
}

hip::Result<SqlDatabase> SqlDatabase::copy_of(const std::string& path) {
  sqlite3* handle = nullptr;
  const int opened =
      sqlite3_open_v2(name_to_read(path).c_str(), &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  const SqlDatabase source(path, handle);
  sqlite3* memory = nullptr;
  const int made = sqlite3_open_v2(":memory:", &memory, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  SqlDatabase copy(path, memory);
  if (handle == nullptr || made != SQLITE_OK) return hip::Error{1, fmt::format("{}: no memory to read it", path)};
  if (opened != SQLITE_OK) return hip::Error{1, fmt::format("{}: {}", path, why_unreadable(opened))};
  sqlite3_busy_timeout(handle, kBusySecondsOfCopy * kMilliseconds);
  sqlite3_backup* backup = sqlite3_backup_init(memory, "main", handle, "main");
  const int status = backup == nullptr ? sqlite3_errcode(memory) : sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  if (status != SQLITE_DONE) return hip::Error{1, fmt::format("{}: {}", path, why_unreadable(status))};
  if (hip::Status whole = check(copy); !whole) return whole.error();
  return copy;
}

hip::Result<SqlDatabase> SqlDatabase::make(const std::string& path) {
  sqlite3* handle = nullptr;
  const int status = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  SqlDatabase database(path, handle);
  if (handle == nullptr) return hip::Error{1, fmt::format("{}: no memory to open it", path)};
  if (status != SQLITE_OK) return database.error("it cannot be made");
  if (hip::Status off = database.run("PRAGMA journal_mode = OFF"); !off) return off.error();
  return database;
}

hip::Status SqlDatabase::each(std::string_view sql, const std::vector<SqlValue>& values,
                              const std::function<void(const SqlRow&)>& handle) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr) != SQLITE_OK) {
    return error(sql.substr(0, sql.find('\n')));
  }
  const Prepared statement(raw);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (bind(raw, static_cast<int>(i) + 1, values[i]) != SQLITE_OK) return error(sql);
  }
  int status = SQLITE_ROW;
  while ((status = sqlite3_step(raw)) == SQLITE_ROW) handle(SqlRow(raw));
  if (status != SQLITE_DONE) return error(sql.substr(0, sql.find('\n')));
  return {};
}

hip::Status SqlDatabase::run(std::string_view sql, const std::vector<SqlValue>& values) {
  return each(sql, values, [](const SqlRow&) {});
}

hip::Result<std::int64_t> SqlDatabase::number(std::string_view sql, const std::vector<SqlValue>& values) {
  std::int64_t answer = 0;
  bool first = true;
  if (hip::Status done = each(sql, values,
                              [&](const SqlRow& row) {
                                if (first) answer = row.number(0);
                                first = false;
                              });
      !done) {
    return done.error();
  }
  return answer;
}

hip::Status SqlDatabase::transaction(const std::function<hip::Status()>& work) {
  if (hip::Status begun = run("BEGIN IMMEDIATE"); !begun) return begun;
  hip::Status done = work();
  if (done) done = run("COMMIT");
  if (done) return done;
  // SQLite rolls back by itself after some errors: then nothing is left to undo, and the first error is returned.
  if (sqlite3_get_autocommit(handle_.get()) == 0) {
    if (const hip::Status undone = run("ROLLBACK"); !undone) return undone;
  }
  return done;
}

}  // namespace fuzz
