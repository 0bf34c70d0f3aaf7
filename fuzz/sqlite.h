// A SQLite database, with only the functions that campaigns need: errors are values, and statements are not reused.
//
// Promises: write-ahead log, so that readers and a writer do not wait for each other; every commit is on the disk when
// it returns; a call that finds the database busy waits for kBusySeconds (copy_of: kBusySecondsOfCopy). A process that
// is killed at any moment leaves a database that the next process opens as of the last commit. Only one side of a fork
// may use a database: children leave it alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hip/result/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace fuzz {

inline constexpr int kBusySeconds = 120;
inline constexpr int kBusySecondsOfCopy = 5;

using SqlValue = std::variant<std::int64_t, double, std::string>;

// One row of an answer; a NULL reads as 0 and as an empty text.
class SqlRow {
 public:
  explicit SqlRow(sqlite3_stmt* statement) : statement_(statement) {}
  [[nodiscard]] std::int64_t number(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;

 private:
  sqlite3_stmt* statement_;
};

class SqlDatabase {
 public:
  // Opens the database, or makes it when it is missing. An error names the file and the reason.
  [[nodiscard]] static hip::Result<SqlDatabase> open(const std::string& path);

  // A copy in memory of the database at `path`, as of its last commit; the file is only read, and may be in use. The
  // copy has the same path(). An error names the file, the reason and the remedy.
  [[nodiscard]] static hip::Result<SqlDatabase> copy_of(const std::string& path);
  // Makes a new file, which is of use only when all of the one transaction that fills it is done.
  [[nodiscard]] static hip::Result<SqlDatabase> make(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] hip::Status run(std::string_view sql, const std::vector<SqlValue>& values = {});
  [[nodiscard]] hip::Status each(std::string_view sql, const std::vector<SqlValue>& values,
                                 const std::function<void(const SqlRow&)>& handle);
  // The first column of the first row, 0 without one.
  [[nodiscard]] hip::Result<std::int64_t> number(std::string_view sql, const std::vector<SqlValue>& values = {});
  // Commits all of `work` or nothing; no other process writes meanwhile.
  [[nodiscard]] hip::Status transaction(const std::function<hip::Status()>& work);

 private:
  [[nodiscard]] static hip::Status check(SqlDatabase& copy);
  struct Closer {
    void operator()(sqlite3* handle) const;
  };
  SqlDatabase(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
  [[nodiscard]] hip::Error error(std::string_view doing) const;

  std::string path_;
  std::unique_ptr<sqlite3, Closer> handle_;
};

}  // namespace fuzz
