#include "fuzz/shared_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "fuzz/files.h"
#include "fuzz/worker.h"

namespace fuzz {

namespace {

namespace fs = std::filesystem;

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

}  // namespace

bool SharedCorpus::due() const {
  return exchanged_ns_ == 0 || seconds_since(exchanged_ns_) >= kSecondsBetween;
}

bool SharedCorpus::offer(const verify::Program& program) {
  if (!met_.add(program) || !verify::foreign_kernels_of(program).empty()) return false;
  offered_.push_back(program);
  return true;
}

void SharedCorpus::read(const std::string& path, News& news) {
  if (fs::path(path).extension() != ".program") return news.problems.push_back(path + " is no .program file");
  hip::Result<verify::Program> program = load_program(path);
  if (!program) return news.problems.push_back(program.error().message);
  if (is_damaged(path, program.value())) return news.problems.push_back(path + " is not what its name says");
  if (!verify::foreign_kernels_of(program.value()).empty()) return;
  met_.add(program.value());
  if (met_by_entries_.add(program.value())) news.programs.push_back(std::move(program).value());
}

SharedCorpus::News SharedCorpus::exchange() {
  News news;
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& file = entry->path();
    if (!is_no_entry(file) && known_.insert(file.filename().string()).second) files.push_back(file);
  }
  if (error) news.problems.push_back(fmt::format("{} cannot be read: {}", folder_, error.message()));
  std::ranges::sort(files);
  for (const fs::path& file : files) read(file.string(), news);
  for (const verify::Program& program : std::exchange(offered_, {})) {
    if (!met_by_entries_.add(program)) continue;
    known_.insert(entry_name(program) + ".program");
    if (!keep_entry(folder_, program)) news.problems.push_back(folder_ + " takes no more programs");
  }
  exchanged_ns_ = steady_ns();
  return news;
}

}  // namespace fuzz
