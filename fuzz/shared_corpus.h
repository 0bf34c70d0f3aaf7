// fuzz::SharedCorpus: a folder in which the tasks of campaigns keep programs for each other while they run.
//
// A task writes a program at once when it meets something that no entry meets, as far as the task knows, and reads the
// entries of the others every ten seconds. An entry is named after its text and is written whole or not at all, so
// tasks that write the same entry do no harm. Nothing is changed or removed.
//
// With a guide, something new is also a number of a signature, and an entry has the signature of its run in a comment,
// with the guide: numbers of another release are not read. A few numbers depend on times: such a number is new once,
// like any other.
//
// Entries that meet nothing new are read once and not returned. A file that is no valid program is a problem, named
// once; hidden files and code objects are left alone.
// Not shared: programs with kernels of other code objects, which the process of a campaign does not know.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "fuzz/corpus.h"
#include "fuzz/worker.h"

namespace fuzz {

class SharedCorpus {
 public:
  // News is due at once, and then every so many seconds.
  static constexpr double kSecondsBetween = 10;
  // How a program is drawn: a mutant of entries, or generated with about `size` commands.
  struct Draw {
    bool mutant = false;
    std::uint32_t size = 0;
  };

  using Clock = std::uint64_t (*)();  // nanoseconds
  // The folder exists. `guide`: the release whose signatures guide, or empty; without a guide programs have `size`
  // commands. `clock`: by which programs take time.
  SharedCorpus(std::string folder, std::string guide, std::uint32_t size, Clock clock = steady_ns)
      : folder_(std::move(folder)), guide_(std::move(guide)), size_(size), clock_(clock) {}

  // How the next program is drawn. Guided: in the way that has met most that is new in a second of late, and in each of
  // the others now and then. Else the index decides.
  [[nodiscard]] Draw draw(std::uint64_t index);
  // Whether `program`, the one that draw() was asked about, meets something new; it is then an entry. `noted`: the
  // signature of its run, which counts with a guide alone.
  bool offer(const verify::Program& program, const Signature& noted);
  struct News {
    std::vector<verify::Program> programs;  // of other tasks, in order of name
    std::vector<std::string> problems;      // each with the name of its file
  };
  // The entries that other tasks have written since the last call.
  [[nodiscard]] News news();
  [[nodiscard]] bool due() const;

 private:
  struct Yield {
    double fresh = 0, seconds = 0;  // of late: both fade
    [[nodiscard]] double rate() const { return seconds > 0 ? fresh / seconds : 0; }
  };
  static constexpr std::size_t kWays = 5;
  void read(const std::string& path, News& news);
  [[nodiscard]] std::size_t best_way() const;

  const std::string folder_, guide_;
  const std::uint32_t size_;
  const Clock clock_;
  std::uint64_t read_ns_ = 0;          // 0: never
  std::set<std::string> known_;        // names of the files that were read or written
  std::vector<std::string> problems_;  // of writing
  CoverageSeen met_by_entries_, met_;
  bool has_entries_ = false;
  std::array<Yield, kWays> yields_;
  std::size_t way_ = 0;         // in which the program that is being judged was drawn
  std::uint64_t drawn_ns_ = 0;  // when
};

}  // namespace fuzz
