#include "fuzz/shared_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "fuzz/files.h"

namespace fuzz {

namespace {

namespace fs = std::filesystem;

constexpr double kFade = 0.99;                  // of what a program met, with each further program
constexpr std::uint64_t kEachOnce = 32;         // of so many programs, one is drawn in each way in any case
constexpr std::size_t kMutant = 0;              // the way of mutants
constexpr std::size_t kGenerated = 2;           // the way without a guide
constexpr double kSizes[] = {1, 0.4, 1, 2, 4};  // of the ways, times the campaign's size
constexpr std::string_view kSignature = "# signature ";

// Files on their way to being entries, and code objects of programs that somebody put there.
bool is_no_entry(const fs::path& file) {
  return file.filename().string().starts_with('.') || file.extension() == ".co";
}

// Whether the file has an entry's name, and another text than that name says.
bool is_damaged(const fs::path& file, const verify::Program& program) {
  const std::string name = file.stem().string();
  const bool is_name = name.size() == kEntryName && name.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_name && name != entry_name(program);
}

std::string comment_of(const std::string& guide, const Signature& signature) {
  if (signature.empty()) return {};
  std::string line = fmt::format("{}{}", kSignature, guide);
  for (const std::uint16_t number : signature) line += fmt::format(" {:x}", number);
  return line + "\n";
}

// The signature in the first line, where that is a comment with one of this guide's.
Signature signature_noted_in(const std::string& path, const std::string& guide) {
  std::ifstream file(path);
  std::string line, release;
  Signature signature;
  if (!std::getline(file, line) || !line.starts_with(kSignature)) return signature;
  std::istringstream words(line.substr(kSignature.size()));
  if (!(words >> release) || release != guide) return signature;
  for (unsigned number = 0; words >> std::hex >> number;) signature.push_back(static_cast<std::uint16_t>(number));
  return signature;
}

}  // namespace

bool SharedCorpus::due() const {
  return read_ns_ == 0 || seconds_since(read_ns_) >= kSecondsBetween;
}

std::size_t SharedCorpus::best_way() const {
  const auto best = std::ranges::max_element(yields_, {}, [](const Yield& yield) { return yield.rate(); });
  return static_cast<std::size_t>(best - yields_.begin());
}

SharedCorpus::Draw SharedCorpus::draw(std::uint64_t index) {
  drawn_ns_ = clock_();
  if (guide_.empty()) return {is_mutant(index), size_};
  const std::uint64_t turn = index % kEachOnce;
  way_ = turn < kWays ? turn : best_way();
  if (way_ == kMutant && !has_entries_) way_ = kGenerated;
  return {way_ == kMutant, static_cast<std::uint32_t>(size_ * kSizes[way_])};
}

bool SharedCorpus::offer(const verify::Program& program, const Signature& noted) {
  const Signature signature = guide_.empty() ? Signature() : noted;
  const std::size_t fresh = met_.add(program, signature);
  Yield& yield = yields_[way_];
  yield.fresh = yield.fresh * kFade + static_cast<double>(fresh);
  yield.seconds = yield.seconds * kFade + static_cast<double>(clock_() - drawn_ns_) / 1e9;
  if (fresh == 0 || !verify::code_objects_of(program).empty()) return false;
  has_entries_ = true;
  met_by_entries_.add(program, signature);
  known_.insert(entry_name(program) + ".program");
  if (!keep_entry(folder_, program, comment_of(guide_, signature)))
    problems_.push_back(folder_ + " takes no more programs");
  return true;
}

void SharedCorpus::read(const std::string& path, News& news) {
  if (fs::path(path).extension() != ".program") return news.problems.push_back(path + " is no .program file");
  hip::Result<verify::Program> program = load_program(path);
  if (!program) return news.problems.push_back(program.error().message);
  if (is_damaged(path, program.value())) return news.problems.push_back(path + " is not what its name says");
  if (!verify::code_objects_of(program.value()).empty()) return;
  const Signature signature = guide_.empty() ? Signature() : signature_noted_in(path, guide_);
  met_.add(program.value(), signature);
  if (met_by_entries_.add(program.value(), signature) == 0) return;
  has_entries_ = true;
  news.programs.push_back(std::move(program).value());
}

SharedCorpus::News SharedCorpus::news() {
  News news{{}, std::exchange(problems_, {})};
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& file = entry->path();
    if (!is_no_entry(file) && known_.insert(file.filename().string()).second) files.push_back(file);
  }
  if (error) news.problems.push_back(fmt::format("{} cannot be read: {}", folder_, error.message()));
  std::ranges::sort(files);
  for (const fs::path& file : files) read(file.string(), news);
  read_ns_ = steady_ns();
  return news;
}

}  // namespace fuzz
