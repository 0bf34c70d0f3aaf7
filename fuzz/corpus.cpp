#include "fuzz/corpus.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "fuzz/files.h"
#include "fuzz/machine.h"
#include "verify/generate/mutate.h"
#include "verify/program/coverage.h"
#include "verify/program/features.h"
#include "verify/program/state_devices.h"
#include "verify/program/text.h"

namespace fuzz {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMutantEvery = 2;

// FNV-1a: names need to differ, and to be the same on every machine.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

std::size_t note(const std::vector<std::uint64_t>& counts, std::vector<bool>& seen) {
  seen.resize(counts.size(), false);
  std::size_t fresh = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0 || seen[i]) continue;
    seen[i] = true;
    ++fresh;
  }
  return fresh;
}

}  // namespace

std::size_t CoverageSeen::add(const verify::Program& program, const Signature& signature) {
  std::vector<std::uint64_t> features(verify::feature_names().size(), 0), pairs(verify::coverage_pairs().size(), 0);
  verify::count_features(program, features);
  verify::count_pairs(program, pairs);
  std::size_t fresh = note(features, features_) + note(pairs, pairs_);
  for (const std::uint16_t number : signature) {
    if (!numbers_[number]) ++fresh;
    numbers_[number] = true;
  }
  return fresh;
}

hip::Result<Corpus> Corpus::load(const std::string& folder) {
  if (const hip::Status usable = usable_folder("--corpus", folder); !usable) return usable.error();
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".program") files.push_back(entry.path());
  }
  if (error) return hip::Error{1, fmt::format("--corpus: {} cannot be read: {}", folder, error.message())};
  std::ranges::sort(files);
  Corpus corpus;
  corpus.folder_ = folder;
  for (const fs::path& file : files) {
    hip::Result<verify::Program> program = load_program(file.string());
    if (!program) return program.error();
    corpus.seen_.add(program.value());
    corpus.programs_.push_back(std::move(program).value());
  }
  return corpus;
}

Corpus Corpus::of(std::vector<verify::Program> programs, CoverageSeen seen) {
  Corpus corpus;
  corpus.reports_ = true;
  corpus.programs_ = std::move(programs);
  corpus.seen_ = std::move(seen);
  return corpus;
}

std::string entry_name(const verify::Program& program) {
  return fmt::format("{:0{}x}", hash_of(verify::print_program(program)), kEntryName);
}

hip::Status keep_entry(const std::string& folder, const verify::Program& program, const std::string& comment) {
  const std::string text = verify::print_program(program), name = entry_name(program);
  const fs::path path = fs::path(folder) / (name + ".program");
  std::error_code error;
  if (fs::exists(path, error)) return {};
  // Workers of several machines may write the same program at once: each writes a file of its own and renames it.
  const fs::path temporary = fs::path(folder) / fmt::format(".{}.{}.{}", name, node(), getpid());
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << comment << text;
  file.close();
  if (file) fs::rename(temporary, path, error);
  if (!file || error) {
    fs::remove(temporary, error);
    return hip::Error{1, fmt::format("{} cannot be written", path.string())};
  }
  return write_code_objects(path.string(), text);
}

bool is_mutant(std::uint64_t index) {
  return index % kMutantEvery != 0;
}

static verify::Program drawn_program(const Corpus& corpus, std::uint64_t seed, std::uint64_t index,
                                     const verify::GeneratorOptions& options, bool mutant) {
  const std::vector<verify::Program>& programs = corpus.programs();
  if (programs.empty() || !mutant) return verify::campaign_program(seed, index, options);
  verify::RandomChoices choices = verify::campaign_choices(seed, index);
  const verify::Program& base = programs[choices.below(programs.size())];
  const verify::Program& other = programs[choices.below(programs.size())];
  verify::Program mutated = verify::mutate_program(base, other, choices, options);
  if (options.placement) mutated.setting.placement = *options.placement;
  if (!options.several_devices && verify::devices_needed(mutated) > 1)
    return verify::campaign_program(seed, index, options);
  return mutated;
}

verify::Program program_of(const Corpus& corpus, std::uint64_t seed, std::uint64_t index,
                           const verify::GeneratorOptions& options, bool mutant) {
  verify::Program program = drawn_program(corpus, seed, index, options, mutant);
  program.setting.environment = verify::campaign_environment(options.environments, seed, index);
  return program;
}

}  // namespace fuzz
