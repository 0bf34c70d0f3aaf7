// A corpus: programs in a folder that campaigns begin from and add to.
//
// With a corpus every second program of a campaign is a mutant of two of its entries (verify/generate/mutate.h), the
// others are generated as without a corpus. Only the entries that exist when the campaign begins are used, in order of
// name, so the same seed, size, version and corpus give the same programs. Programs that meet something which
// no entry meets (a feature, or an operation in a state) are added under a name made from their text.
//
// Not done: entries are never removed, and the coverage of the runtime's own code is not measured.
// fuzz/shared_corpus.h is a folder whose entries are used while a campaign runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hip/result/result.h"
#include "verify/generate/generator.h"
#include "verify/program/program.h"

namespace fuzz {

// The signature of a program's run (verify::Observation::signature), where it was noted.
using Signature = std::vector<std::uint16_t>;

// The features and pairs that programs have met so far, and the signatures of their runs.
class CoverageSeen {
 public:
  // How much of what `program` meets is new; from then on it is known.
  std::size_t add(const verify::Program& program, const Signature& signature = {});

 private:
  std::vector<bool> features_, pairs_;
  std::vector<bool> numbers_ = std::vector<bool>(std::size_t{1} << 16);  // of signatures
};

class Corpus {
 public:
  // A corpus without a folder: it is empty and keeps nothing.
  Corpus() = default;
  // Makes the folder when it is missing. An error names the file that is no valid program.
  [[nodiscard]] static hip::Result<Corpus> load(const std::string& folder);

  // A corpus of programs that another process keeps: a worker reports new entries to it, see worker.h.
  [[nodiscard]] static Corpus of(std::vector<verify::Program> programs, CoverageSeen seen);

  [[nodiscard]] const std::vector<verify::Program>& programs() const { return programs_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }
  // Whether programs that meet something new are reported rather than written.
  [[nodiscard]] bool reports() const { return reports_; }
  [[nodiscard]] const CoverageSeen& seen() const { return seen_; }
  // Uses `program` from here on, as one that was there from the beginning.
  void add(verify::Program program) { programs_.push_back(std::move(program)); }

 private:
  std::string folder_;
  bool reports_ = false;
  std::vector<verify::Program> programs_;
  CoverageSeen seen_;
};

// The name of a program's file, without its extension: so many hexadecimal digits.
inline constexpr std::size_t kEntryName = 16;
[[nodiscard]] std::string entry_name(const verify::Program& program);
// Writes `program` into the folder, after the comment, whole or not at all; an existing file is left alone.
[[nodiscard]] hip::Status keep_entry(const std::string& folder, const verify::Program& program,
                                     const std::string& comment = "");

// Whether the campaign's `index`-th program is a mutant, where the index alone decides.
[[nodiscard]] bool is_mutant(std::uint64_t index);
// The campaign's `index`-th program; generated where the corpus has nothing to mutate. Its variables are the
// campaign's, not those of the corpus.
[[nodiscard]] verify::Program program_of(const Corpus& corpus, std::uint64_t seed, std::uint64_t index,
                                         const verify::GeneratorOptions& options, bool mutant);

}  // namespace fuzz
