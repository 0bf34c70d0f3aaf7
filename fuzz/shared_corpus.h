// fuzz::SharedCorpus: a folder in which the tasks of campaigns keep programs for each other while they run.
//
// A task offers the programs that meet something which no entry of the folder meets, as far as it knows. exchange()
// reads the new entries first, and then writes only the programs that still meet something new: tasks seldom write
// twice what one entry shows. An entry is named after its text and is written whole or not at all, so tasks that write
// the same entry do no harm. Nothing is changed or removed.
//
// With `guided`, something new is also a number of a signature, and an entry has the signature of its run in a comment.
// Only numbers that a second run of the program shows as well count: the others depend on times.
//
// Entries that meet nothing new are read once and not returned. A file that is no valid program is a problem, named
// once; hidden files and code objects are left alone.
// Not shared: programs with kernels of other code objects, which the process of a campaign does not know.
#pragma once

#include <cstdint>
#include <functional>
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
  SharedCorpus(std::string folder, bool guided) : folder_(std::move(folder)), guided_(guided) {}

  // Whether the next program is to be a mutant. Guided: what has met more that is new in a second of late, and now and
  // then the other; else the index decides.
  [[nodiscard]] bool wants_mutant(std::uint64_t index);
  // Whether `program`, the one that wants_mutant() was asked about, meets something new; it is then written by the next
  // exchange. `signature`: of its run, or empty; `again`: runs it once more, for the same.
  bool offer(const verify::Program& program, const Signature& signature, const std::function<Signature()>& again);
  struct News {
    std::vector<verify::Program> programs;  // of other tasks, in order of name
    std::vector<std::string> problems;      // each with the name of its file
  };
  [[nodiscard]] News exchange();
  [[nodiscard]] bool due() const;

 private:
  struct Offer {
    verify::Program program;
    Signature signature;
  };
  struct Yield {
    double fresh = 0, seconds = 0;  // of late: both fade
    [[nodiscard]] double rate() const { return seconds > 0 ? fresh / seconds : 0; }
  };
  void read(const std::string& path, News& news);
  [[nodiscard]] Signature repeated(const Signature& signature, const std::function<Signature()>& again);

  const std::string folder_;
  const bool guided_;
  std::uint64_t exchanged_ns_ = 0;  // 0: never
  std::set<std::string> known_;     // names of the files that were read or written
  CoverageSeen met_by_entries_, met_;
  std::vector<Offer> offered_;
  Yield generated_, mutated_;
  bool mutant_ = false;          // the program that is being judged
  std::uint64_t chosen_ns_ = 0;  // when it was chosen
};

}  // namespace fuzz
