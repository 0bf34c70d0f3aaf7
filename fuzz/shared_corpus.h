// fuzz::SharedCorpus: a folder in which the tasks of campaigns keep programs for each other while they run.
//
// A task offers the programs that meet something which no entry of the folder meets, as far as it knows. exchange()
// reads the new entries first, and then writes only the programs that still meet something new: tasks seldom write
// twice what one entry shows. An entry is named after its text and is written whole or not at all, so tasks that write
// the same entry do no harm. Nothing is changed or removed.
//
// Entries that meet nothing new are read once and not returned. A file that is no valid program is a problem, named
// once; hidden files and code objects are left alone.
// Not shared: programs with kernels of other code objects, which the process of a campaign does not know.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "fuzz/corpus.h"

namespace fuzz {

class SharedCorpus {
 public:
  // An exchange is due at once, and then every so many seconds.
  static constexpr double kSecondsBetween = 10;

  // The folder exists.
  explicit SharedCorpus(std::string folder) : folder_(std::move(folder)) {}

  // Whether `program` meets something new; it is then written by the next exchange.
  bool offer(const verify::Program& program);
  struct News {
    std::vector<verify::Program> programs;  // of other tasks, in order of name
    std::vector<std::string> problems;      // each with the name of its file
  };
  [[nodiscard]] News exchange();
  [[nodiscard]] bool due() const;

 private:
  void read(const std::string& path, News& news);

  const std::string folder_;
  std::uint64_t exchanged_ns_ = 0;  // 0: never
  std::set<std::string> known_;     // names of the files that were read or written
  CoverageSeen met_by_entries_, met_;
  std::vector<verify::Program> offered_;
};

}  // namespace fuzz
